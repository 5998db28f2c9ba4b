// acorn parses scripts of V8's tools, and V8 compiles them; the names of their tokens are counted.
load("acorn.js");
const names = new Map();
let length = 0;
for (let round = 0; round < 6; ++round) {
  for (const file of ["profview.js", "windbg.js", "fuzzer.js"]) {
    const source = read(file);
    for (const token of acorn.tokenizer(source, { ecmaVersion: "latest" })) {
      if (token.type.label === "name") names.set(token.value, (names.get(token.value) || 0) + 1);
    }
    length += JSON.stringify(acorn.parse(source, { ecmaVersion: "latest", sourceType: "script" })).length;
    length += (0, eval)(`(function tools${round}() {\n${source}\n})`).toString().length;
  }
}
print(length, names.size, [...names].sort((one, other) => other[1] - one[1])[0].join());
