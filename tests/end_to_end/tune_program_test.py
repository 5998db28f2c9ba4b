"""//mlgo:tune --program: from a description to a smaller image. Arguments: clang, ld.lld, the sysroot's usr."""

import json
import pathlib
import sys
import tempfile
import unittest

from mlgo.run.exit_codes import ExitCode
from tests.end_to_end import command, real_modules

_CLANG, _LINKER, _USR = (pathlib.Path(path).absolute() for path in sys.argv[1:4])
del sys.argv[1:4]

_MAIN = """#include <stdio.h>
int data[64];
static int one(int x) { return data[x & 63] * 3 + data[(x + 1) & 63]; }
static int two(int x) { return one(x) + one(x + 7); }
static int big(int x) {
  int s = 0;
  for (int i = 0; i < x; i++) { s += data[i & 63] ^ two(i); if (s & 1) s += data[(i + 3) & 63] * 5; }
  return s;
}
int f(int x) { return big(x) + two(x); }
int g(int x);
int main(void) {
  for (int i = 0; i < 64; i++) data[i] = i * i;
  return !printf("%d %d\\n", f(10), g(20));
}
"""
_OTHER = """extern int data[];
static int three(int x) { return data[x & 63] * 7 - data[(x + 9) & 63]; }
static int four(int x) { return three(x) * three(x + 2) + three(x + 3); }
int g(int x) { return four(x) + four(x + 1) - three(5); }
"""


class TuneProgramTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        (self.folder / "src").mkdir()
        (self.folder / "src" / "main.c").write_text(_MAIN, encoding="utf-8")
        (self.folder / "src" / "other.c").write_text(_OTHER, encoding="utf-8")
        description = {"name": "small", "sources": ["src/*.c"], "runs": [{"name": "run", "arguments": []}]}
        (self.folder / "small.json").write_text(json.dumps(description), encoding="utf-8")

    def tune(self, *more):
        return command.run(
            f"--clang={real_modules.development_clang()}",
            f"--packaged_clang={_CLANG}",
            f"--linker={_LINKER}",
            f"--sysroot={_USR.resolve().parent}",
            f"--program={self.folder / 'small.json'}",
            f"--output_dir={self.folder / 'out'}",
            "--compiles=10",
            "--cache_dir=",
            *more,
            program="tune",
        )

    def test_from_a_description_to_a_smaller_image(self):
        code, said = self.tune("--replay")
        self.assertEqual(code, ExitCode.DONE, said)
        self.assertIn("--gc-sections --icf=all", said)
        sizes = json.loads((self.folder / "out" / "program.json").read_text(encoding="utf-8"))
        for measure in ("code_bytes", "code_bytes_icf"):
            self.assertLess(sizes["tuned"]["sizes"][measure], sizes["default"]["sizes"][measure])
        self.assertEqual(sizes["tuned"]["outputs"], sizes["default"]["outputs"])
        self.assertIn("module\tsrc/main.c\n", (self.folder / "out" / "tuned.decisions").read_text(encoding="ascii"))
        # The second time, everything is there.
        code, again = self.tune("--replay")
        self.assertEqual(code, ExitCode.DONE, again)
        self.assertIn("CPU seconds of the compiles of this run: 0.0", again)

    def test_a_program_that_does_not_compile(self):
        (self.folder / "src" / "other.c").write_text("int g(int x) { return y; }\n", encoding="utf-8")
        code, said = self.tune()
        self.assertEqual(code, ExitCode.USER_ERROR, said)
        self.assertIn("program small: default: src/other.c: exit code 1", said)

    def test_a_corpus_and_a_program(self):
        code, said = self.tune("--corpus=x")
        self.assertEqual(code, ExitCode.USER_ERROR, said)
        self.assertIn("--corpus and --program: are both given", said)


if __name__ == "__main__":
    unittest.main()
