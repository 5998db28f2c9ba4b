// JSON of a syntax tree, written and read.
load("acorn.js");
const rounds = 12;
let text = JSON.stringify(acorn.parse(read("acorn.js"), { ecmaVersion: "latest", locations: true }));
let total = 0;
for (let round = 0; round < rounds; ++round) {
  const tree = JSON.parse(text);
  tree.round = round;
  text = JSON.stringify(tree);
  total += text.length;
}
print(total);
