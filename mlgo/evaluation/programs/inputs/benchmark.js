// Exercises the parts of an interpreter: calls, objects, arrays, strings, regular expressions, numbers, exceptions, JSON.
function fibonacci(n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

function sieve(limit) {
  var composite = [], count = 0;
  for (var i = 2; i < limit; ++i) {
    if (composite[i]) continue;
    ++count;
    for (var j = i * i; j < limit; j += i) composite[j] = true;
  }
  return count;
}

function Point(x, y) { this.x = x; this.y = y; }
Point.prototype.plus = function (other) { return new Point(this.x + other.x, this.y + other.y); };

function walk(steps) {
  var at = new Point(0, 0), east = new Point(1, 0.5), north = new Point(-0.25, 1);
  for (var i = 0; i < steps; ++i) at = at.plus(i % 3 ? east : north);
  return at.x + "," + at.y;
}

function words(text) {
  var count = {}, names = [], pattern = /[a-z]+/g, match;
  while ((match = pattern.exec(text))) count[match[0]] = (count[match[0]] || 0) + 1;
  for (var name in count) names.push(name);
  names.sort(function (a, b) { return count[b] - count[a] || (a < b ? -1 : 1); });
  return names.map(function (name) { return name + "=" + count[name]; }).join(" ");
}

function failures(times) {
  var caught = 0;
  for (var i = 0; i < times; ++i) {
    try { if (i % 7 === 0) throw new Error("seven"); null.field; } catch (error) { caught += error.message.length; }
  }
  return caught;
}

var text = "";
for (var i = 0; i < 300; ++i) text += "the quick fox number " + i + " jumps over the lazy dog; ";
print(fibonacci(20));
print(sieve(20000));
print(walk(10000));
print(words(text));
print(failures(300));
print(text.replace(/o(\w)/g, "$1o").split(" ").reverse().slice(0, 20).join("-"));
print(JSON.stringify(JSON.parse('{"a":[1,2.5e3,"\\u00e9",null,true],"b":{"c":"d"}}')));
print(Math.sqrt(2).toFixed(6), (1e21 + 7).toString(), parseFloat("0.1") + 0.2, (255).toString(2));
print(new Date(86400000).toISOString());
