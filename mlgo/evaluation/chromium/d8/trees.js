// Trees that live for a while and then die: work for the garbage collector.
function tree(depth) {
  return depth ? { left: tree(depth - 1), right: tree(depth - 1), text: `depth ${depth}` } : null;
}
function count(node) {
  return node ? 1 + count(node.left) + count(node.right) : 0;
}
const kept = [];
let total = 0;
for (let round = 0; round < 60; ++round) {
  kept[round % 7] = tree(14);
  total += count(kept[(round * 3) % 7] || null);
}
print(total);
