// Searches and rewrites licences and C++ headers: other patterns than those that are measured.
const [licences, headers] = [read("licences.txt"), read("headers.h")];
let found = 0;
for (let round = 0; round < 12; ++round) {
  found += (licences.match(/copyright\s+(?:\(c\)\s+)?(\d{4})(?:-(\d{4}))?/gi) || []).length;
  found += licences.replace(/\b([a-z])(\w*)/g, (_, first, rest) => first.toUpperCase() + rest + round).length;
  found += (headers.match(/^#(?:include|define)\s+[<"]?([\w./-]+)/gm) || []).length;
  for (const { index } of headers.matchAll(/(?:class|struct)\s+(?:V8_EXPORT\s+)?(\w+)(?:\s+final)?\s*(?::[^{;]*)?\{/g)) found += index % 7;
  const words = headers.toLowerCase().split(/\W+/).filter((word) => word.length > 3);
  const counts = Object.create(null);
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
  found += Object.keys(counts).sort((one, other) => counts[other] - counts[one] || one.localeCompare(other)).indexOf("return");
  found += encodeURIComponent(licences.slice(0, 20000)).length + licences.lastIndexOf("software");
}
print(found);
