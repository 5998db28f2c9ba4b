// Lists, weak maps and large arrays that live for different times: work for the garbage collector.
let list = null;
const weak = new WeakMap();
const arrays = [];
let total = 0;
for (let round = 0; round < 3000000; ++round) {
  list = { next: round % 1000 ? list : null, value: [round, `${round}`] };
  if (round % 50 === 0) weak.set(list, round);
  if (round % 4000 === 0) arrays[(round / 4000) % 9] = new Array(20000).fill(list);
  total += weak.get(list) || 0;
}
print(total, arrays.length, arrays.reduce((sum, array) => sum + array[7].value[0], 0));
