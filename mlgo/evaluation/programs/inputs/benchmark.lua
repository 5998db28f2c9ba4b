-- Fixed work for the interpreter: calls, tables, strings, patterns, closures, coroutines, floating point. It prints what it found.
local function fibonacci(n)
  if n < 2 then return n end
  return fibonacci(n - 1) + fibonacci(n - 2)
end
print("fibonacci", fibonacci(23))

local numbers = {}
for index = 1, 20000 do numbers[index] = index * 7919 % 10007 end
table.sort(numbers)
print("sorted", numbers[1], numbers[10000], numbers[#numbers])

local lines = {}
for index = 1, 4000 do lines[#lines + 1] = string.format("%d:%s;%g", index, ("x"):rep(index % 7), index / 8) end
local text = table.concat(lines, ",")
local _, replaced = text:gsub("x+", function(found) return #found end)
print("text", #text, replaced, text:find("3999:"))

local count, words = 0, {}
for word in text:gmatch("%d+") do words[word] = (words[word] or 0) + 1 end
for _, times in pairs(words) do count = count + times end
print("words", count)

local bodies = {}
for index = 1, 30 do bodies[index] = { x = index * 1.5, y = index / 3, vx = 0, vy = 0 } end
for _ = 1, 40 do
  for first = 1, 30 do
    for second = first + 1, 30 do
      local a, b = bodies[first], bodies[second]
      local dx, dy = a.x - b.x, a.y - b.y
      local square = dx * dx + dy * dy + 0.01
      local force = 1 / (square * math.sqrt(square))
      a.vx, a.vy, b.vx, b.vy = a.vx - dx * force, a.vy - dy * force, b.vx + dx * force, b.vy + dy * force
    end
  end
  for _, body in ipairs(bodies) do body.x, body.y = body.x + body.vx * 0.01, body.y + body.vy * 0.01 end
end
print(string.format("bodies %.9f %.9f", bodies[7].x, bodies[23].y))

local Account = {}
Account.__index = Account
function Account.new(sum) return setmetatable({ sum = sum }, Account) end
function Account:add(more) self.sum = self.sum + more return self end
local account = Account.new(0)
for index = 1, 50000 do account:add(index & 0xff) end
print("account", account.sum)

local generate = coroutine.wrap(function()
  for index = 1, 5000 do coroutine.yield(index * index) end
  return false
end)
local sum = 0
for value in generate do
  if not value then break end
  sum = sum + value
end
print("squares", sum)
