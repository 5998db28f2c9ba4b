// acorn parses a library several times; prints what it found.
load("acorn.js");
const source = read("source.js");
const rounds = 3;
const kinds = new Map();
for (let round = 0; round < rounds; ++round) {
  const waiting = [acorn.parse(source, { ecmaVersion: "latest", locations: true })];
  while (waiting.length) {
    const node = waiting.pop();
    if (typeof node.type === "string") kinds.set(node.type, (kinds.get(node.type) || 0) + 1);
    for (const value of Object.values(node)) {
      if (Array.isArray(value)) waiting.push(...value.filter((one) => one && typeof one === "object"));
      else if (value && typeof value === "object") waiting.push(value);
    }
  }
}
for (const [kind, count] of [...kinds].sort()) print(kind, count);
