// Sorting, maps, sets, typed arrays, large integers and string building.
let seed = 1;
const next = () => (seed = (seed * 16807) % 2147483647);
const numbers = Array.from({ length: 60000 }, next);
const words = numbers.map((number) => `word ${number % 5000}`);
const groups = new Map();
for (const word of words) groups.set(word, (groups.get(word) || 0) + 1);
print(groups.size, [...groups.keys()].sort().slice(0, 5).join());
print(numbers.slice().sort((a, b) => a - b)[30000], numbers.slice().sort()[30000]);
print(new Set(words.map((word) => word.toUpperCase().split(" ").reverse().join("-"))).size);
print(Float64Array.from(numbers).sort()[100], Int32Array.from(numbers).reverse().indexOf(numbers[10]));
let product = 1n;
for (let factor = 1n; factor < 2500n; ++factor) product *= factor;
print(product.toString().length, (product % 1000003n).toString());
print(words.join(" ").replace(/word (\d)(\d*)/g, (_, first, rest) => rest + first).length);
