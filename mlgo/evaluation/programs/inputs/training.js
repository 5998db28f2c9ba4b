// Other work than that of benchmark.js, for a profile.
function gcd(a, b) { while (b) { var rest = a % b; a = b; b = rest; } return a; }
var coprime = 0;
for (var a = 1; a < 90; ++a) for (var b = 1; b < 90; ++b) if (gcd(a, b) === 1) ++coprime;
print(coprime);

function Stack() { this.items = []; }
Stack.prototype.push = function (item) { this.items.push(item); return this; };
Stack.prototype.pop = function () { return this.items.pop(); };
var stack = new Stack(), sum = 0;
for (var turn = 0; turn < 3000; ++turn) { stack.push({ value: turn % 13 }); if (turn % 2) sum += stack.pop().value; }
print(sum);

var words = "a profile tells which code is hot and which code is cold".split(" "), seen = {};
for (var round = 0; round < 200; ++round)
  words.forEach(function (word) { seen[word] = (seen[word] || 0) + word.length; });
print(Object.keys(seen).sort().map(function (word) { return word + ":" + seen[word]; }).join(" "));

var text = "";
for (var line = 0; line < 300; ++line) text += "name" + line + " = " + (line * 7 % 31) / 4 + ";\n";
var pattern = /(\w+) = ([\d.]+);/g, match, total = 0;
while ((match = pattern.exec(text))) total += parseFloat(match[2]);
print(total.toFixed(2), text.replace(/name(\d)/g, "n$1").length);

var copy = JSON.parse(JSON.stringify({ list: [1, 2.5, "three", null, true], inner: { deep: { deeper: [[]] } } }));
print(JSON.stringify(copy));
var caught = 0;
for (var attempt = 0; attempt < 200; ++attempt) { try { if (attempt % 3 === 0) throw new Error("x" + attempt); } catch (error) { caught += error.message.length; } }
print(caught, [5, 3, 9, 1].sort(function (x, y) { return x - y; }).concat(["end"]).slice(1).join());
