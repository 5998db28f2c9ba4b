// marked turns V8's documentation into HTML: regular expressions and strings.
load("marked.js");
const rounds = 4;
const text = read("docs.md");
let total = 0;
for (let round = 0; round < rounds; ++round) total += marked.parse(`${text}\n${round}\n`).length;
print(total);
