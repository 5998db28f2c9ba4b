// diff_match_patch compares two documents character by character, and applies the difference.
load("diff_match_patch.js");
const rounds = 3;
const [one, other] = ["one.md", "other.md"].map((name) => read(name).slice(0, 5000));
const differ = new diff_match_patch();
differ.Diff_Timeout = 0;
for (let round = 0; round < rounds; ++round) {
  const patches = differ.patch_make(one + round, other);
  const [made, applied] = differ.patch_apply(patches, one + round);
  print(patches.length, applied.every(Boolean), made === other);
}
