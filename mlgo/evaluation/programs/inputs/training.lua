-- Other work than that of benchmark.lua, for a profile.
local function primes(limit)
  local composite, found = {}, {}
  for number = 2, limit do
    if not composite[number] then
      found[#found + 1] = number
      for multiple = number * number, limit, number do composite[multiple] = true end
    end
  end
  return found
end
print("primes", #primes(20000))

local Queue = {}
Queue.__index = Queue
function Queue.new() return setmetatable({ first = 1, last = 0 }, Queue) end
function Queue:push(value) self.last = self.last + 1; self[self.last] = value end
function Queue:pop()
  local value = self[self.first]
  self[self.first] = nil
  self.first = self.first + 1
  return value
end
local queue, sum = Queue.new(), 0
for turn = 1, 6000 do queue:push(turn % 17); if turn % 3 == 0 then sum = sum + queue:pop() end end
print("queue", sum)

local function row(y, width)
  local cells = {}
  for x = 1, width do
    local a, b, steps = 0.0, 0.0, 0
    local u, v = x / width * 3 - 2, y / 20 - 1
    while a * a + b * b < 4 and steps < 30 do a, b, steps = a * a - b * b + u, 2 * a * b + v, steps + 1 end
    cells[x] = steps < 30 and "." or "#"
  end
  return table.concat(cells)
end
for y = 1, 40, 13 do print(row(y, 60)) end

local text = {}
for line = 1, 800 do text[line] = ("key%d = value %s"):format(line, string.char(97 + line % 26)) end
local values, keys = {}, 0
for key, value in table.concat(text, "\n"):gmatch("(%w+) = value (%a)") do values[key], keys = value:upper(), keys + 1 end
print("keys", keys, values.key26)

local numbers = coroutine.wrap(function() for step = 1, 3000 do coroutine.yield(step * step % 1009) end end)
local list = {}
for step = 1, 3000 do list[step] = numbers() end
table.sort(list, function(a, b) return a > b end)
print("list", list[1], list[1500], pcall(error, "expected"))
