"""//mlgo:tune --program: from a description to a smaller image.

Arguments: clang, ld.lld, the sysroot's usr, the files of a TFLite policy.
"""

import json
import pathlib
import sys
import tempfile
import unittest

from mlgo.evaluation.programs.building import Toolchain
from mlgo.evaluation.programs.program import load_program
from mlgo.problems.problem import load_problem
from mlgo.run.exit_codes import ExitCode
from mlgo.search.program_build import ProgramBuild
from tests.end_to_end import command, real_modules

_CLANG, _LINKER, _USR, _MODEL_FILE = (pathlib.Path(path).absolute() for path in sys.argv[1:5])
_MODEL = _MODEL_FILE.parent
del sys.argv[1:]

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
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.folder / "src").mkdir()
        (self.folder / "src" / "main.c").write_text(_MAIN, encoding="utf-8")
        (self.folder / "src" / "other.c").write_text(_OTHER, encoding="utf-8")
        self.describe()

    def describe(self, **more):
        description = {"name": "small", "sources": ["src/*.c"], "runs": [{"name": "run", "arguments": []}], **more}
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

    def sizes(self, decisions):
        """The program's sizes with `decisions`, where a made-up policy may be asked."""
        toolchain = Toolchain(_USR.resolve().parent, _LINKER, _CLANG.resolve(), workers=1)
        program = load_program(self.folder / "small.json", {})
        build = ProgramBuild(program, toolchain, real_modules.development_clang().resolve())
        found = build.sizes(decisions, load_problem("inlining_for_size"), "made up", _MODEL)
        return {name: side.sizes["code_bytes"] for name, side in found.items()}

    def test_decisions_that_name_a_policy(self):
        sizes = self.sizes(b"mlgo-decisions 1\nmodule\t*\notherwise policy\n")
        self.assertNotEqual(sizes["tuned"], sizes["default"])

    def test_a_module_without_decisions_is_left_to_the_default(self):
        sizes = self.sizes(b"mlgo-decisions 1\nmodule\tsrc/main.c\notherwise default\n")
        self.assertEqual(sizes["tuned"], sizes["default"])

    def assert_refused_before(self, folder, code, wrong, *flags):
        """Flags or a description with an error end the command before it makes `folder`."""
        found, said = self.tune(*flags)
        self.assertEqual(found, code, said)
        self.assertIn(wrong, said)
        self.assertFalse((self.folder / "out" / folder).exists())

    def test_flags_are_checked_before_the_program_is_built(self):
        for flag, wrong in (
            ("--policy=/missing", "/missing/policy.json): does not exist"),
            ("--reward=colour", "--reward=colour: "),
            ("--linker=/missing", "--linker=/missing: is not an executable file"),
        ):
            with self.subTest(flag):
                self.assert_refused_before("program", ExitCode.USER_ERROR, wrong, flag)

    def test_a_program_that_cannot_be_linked_or_run_is_not_searched(self):
        for description, wrong in (
            ({"libraries": ["-lmissing"]}, "linking image: exit code 1"),
            ({"runs": [{"name": "run", "arguments": [], "outputs": ["out"]}]}, "run run of small: wrote no out"),
        ):
            with self.subTest(wrong):
                self.describe(**description)
                self.assert_refused_before("search", ExitCode.USER_ERROR, wrong)

    def test_a_program_whose_runs_differ_is_not_searched(self):
        main = (self.folder / "src" / "main.c").read_text(encoding="utf-8")
        changing = main.replace("return !printf", 'printf("%d", getpid());\n  return !printf')
        changing = f"#include <unistd.h>\n{changing}"
        (self.folder / "src" / "main.c").write_text(changing, encoding="utf-8")
        self.assert_refused_before("search", ExitCode.OUTPUT_DIFFERS, "has another output in a second run: run run")

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
