// Classes, closures, generators, promises, exceptions, matrices, JSON, dates and large integers.
class Point {
  #x;
  constructor(x, y) { this.#x = x; this.y = y; }
  get x() { return this.#x; }
  plus({ x, y }) { return new Point(this.#x + x, this.y + y); }
}
function* primes(limit) {
  const composite = new Uint8Array(limit);
  for (let one = 2; one < limit; ++one) {
    if (composite[one]) continue;
    yield one;
    for (let many = one * one; many < limit; many += one) composite[many] = 1;
  }
}
function inverse(size) {
  const rows = Array.from({ length: size }, (_, row) => Float64Array.from({ length: size }, (_, column) => 1 / (1 + Math.abs(row - column))));
  let trace = 0;
  for (let pivot = 0; pivot < size; ++pivot) {
    for (let row = pivot + 1; row < size; ++row) {
      const factor = rows[row][pivot] / rows[pivot][pivot];
      for (let column = pivot; column < size; ++column) rows[row][column] -= factor * rows[pivot][column];
    }
    trace += rows[pivot][pivot];
  }
  return trace;
}
let point = new Point(0, 0);
let caught = 0;
for (const prime of primes(900000)) {
  point = point.plus({ x: prime, y: prime % 10 });
  try {
    if (prime % 17 === 3) throw new RangeError(`prime ${prime}`);
  } catch (error) {
    caught += error.message.length;
  }
}
print(point.x, point.y, caught, inverse(160).toFixed(6));
const rows = Array.from({ length: 20000 }, (_, row) => ({ row, name: `row ${row * 7919 % 20000}`, tags: [row % 3, row % 5], at: new Date(row * 86400000).toISOString() }));
const copied = JSON.parse(JSON.stringify(rows, null, 1), (key, value) => (key === "tags" ? new Set(value) : value));
copied.sort((one, other) => (one.name < other.name ? -1 : 1));
print(copied[9999].row, new Map(copied.map((row) => [row.name, row.tags.size])).get("row 1"));
print((3n ** 9000n / 7n ** 2700n).toString(16).length, Reflect.ownKeys(new Proxy({ a: 1, b: 2 }, {})).join());
(async () => {
  let total = 0;
  for (let round = 0; round < 200000; ++round) total += await (round % 2 ? round : Promise.resolve(1));
  print(total);
})();
