"""//mlgo:evaluate_programs --target on a small program, with the real packaged compiler, linker, sysroot and QEMU.

Arguments: the target, clang, ld.lld, the sysroot's usr, valgrind. The compiler with a policy is a script, as in
programs_test.py: with the policy, the program does half of its work.
"""

import json
import pathlib
import sys
import tempfile
import unittest

from mlgo.run.exit_codes import ExitCode
from tests.end_to_end import command, program_tools

_TARGET = sys.argv[1]
_CLANG, _LINKER, _USR, _VALGRIND = (pathlib.Path(path).absolute() for path in sys.argv[2:6])
del sys.argv[1:6]

_WORK = """#include <vector>
#ifdef POLICY
const unsigned kTurns = 2000;
#else
const unsigned kTurns = 4000;
#endif
extern "C" unsigned Work(unsigned value) {
  std::vector<unsigned> values(16, value);
  for (volatile unsigned turn = 0; turn < kTurns; turn = turn + 1) values[turn % 16] += turn;
  return 12;
}
"""
_MAIN = """#include <stdio.h>
unsigned Work(unsigned value);
int main(int count, char **words) {
  FILE *file = fopen(words[1], "w");
  fprintf(file, "%u", Work((unsigned)count));
#ifdef WRONG
  puts("wrong");
#endif
  return fclose(file);
}
"""


class ProgramsTargetTest(unittest.TestCase):
    folder: pathlib.Path

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        tree = cls.folder / "tree"
        tree.mkdir()
        (tree / "work.cc").write_text(_WORK, encoding="utf-8")
        (tree / "main.c").write_text(_MAIN, encoding="utf-8")
        fields = {
            "name": "small",
            "root": "tree",
            "sources": ["*.c", "*.cc"],
            "runs": [{"name": "go", "arguments": ["out"], "outputs": ["out"]}],
        }
        (cls.folder / "small.json").write_text(json.dumps(fields), encoding="utf-8")

    def evaluate(self, name, *flags, wrong=""):
        """(exit code, what it said, folder of the results)."""
        out = self.folder / name
        code, said = command.run(
            *program_tools.flags(self.folder, _CLANG, _LINKER, _USR, _VALGRIND, wrong),
            f"--program_file={self.folder / 'small.json'}",
            f"--target={_TARGET}",
            f"--output_dir={out}",
            "--nocost",
            *flags,
            program="evaluate_programs",
        )
        return code, said, out

    def test_sizes_and_exact_counts(self):
        code, said, out = self.evaluate("first", f"--compiler=same={_CLANG}", "--inline_thresholds=")
        self.assertEqual(code, ExitCode.DONE, said)
        result = json.loads((out / "result.json").read_text(encoding="utf-8"))
        code, said, out = self.evaluate("second", f"--compiler=same={_CLANG}", "--problem=regalloc_eviction")
        self.assertEqual(code, ExitCode.DONE, said)
        again = json.loads((out / "result.json").read_text(encoding="utf-8"))
        self.assertEqual(again["run_details"], result["run_details"])
        self.assertEqual(result["counters"], {"counts": "qemu", "perf": False})
        self.assertGreater(result["size"]["small"]["default"]["code_bytes_thinlto"], 0)
        self.assertEqual(result["run"]["small"]["same"], result["run"]["small"]["default"])
        for part in ("executed", "run"):
            default, policy = (result[part]["small"][side] for side in ("default", "policy"))
            # An iteration takes some instructions, and a load and two stores at least.
            self.assertGreater(default["instructions"] - policy["instructions"], 2000 * 5)
            self.assertGreaterEqual(default["loads"] - policy["loads"], 2000)
            self.assertGreaterEqual(default["stores"] - policy["stores"], 2 * 2000)
        self.assertNotIn("cpu_seconds", result["run"]["small"]["default"])

    def test_another_output_is_an_error(self):
        code, said, _ = self.evaluate("wrong", "--problem=inlining_for_size", "--nothinlto", wrong="-DWRONG")
        self.assertEqual(code, ExitCode.OUTPUT_DIFFERS, said)

    def test_an_unknown_target_is_refused_before_anything_is_built(self):
        code, said, out = self.evaluate("unknown", "--target=vax")
        self.assertEqual(code, ExitCode.USER_ERROR, said)
        self.assertIn("--target=vax: is not a target of this command", said)
        self.assertFalse(out.exists())


if __name__ == "__main__":
    unittest.main()
