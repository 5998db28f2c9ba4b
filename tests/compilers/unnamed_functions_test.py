"""Functions without a name: files of decisions cannot name them, and searches work on them."""

import pathlib
import re
import subprocess
import tempfile
import unittest

from mlgo.run.locate import runfile
from tests.compilers import pressure

CLANG, DEVELOPMENT, LLC = "release/clang", "development/clang", "release/llc"
TARGET = pressure.SMALL[0]


class UnnamedFunctionsTest(unittest.TestCase):
    folder: pathlib.Path

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        functions = [
            pressure.loop("long", pressure.ARITHMETIC["integer"], 24, seed, arms=3).replace(" f(", f" f{seed}(")
            for seed in (1, 2)
        ]
        (cls.folder / "x.c").write_text("\n".join(functions).replace(pressure.VECTOR, ""))
        command = [str(runfile(CLANG)), *TARGET.flags, "-O2", "-S", "-emit-llvm", "x.c", "-o", "named.ll"]
        subprocess.run(command, cwd=cls.folder, check=True, timeout=300)
        text = (cls.folder / "named.ll").read_text()
        for number in (1, 2):
            text = re.sub(rf"@f{number}\b", f"@{number - 1}", text)
        # Otherwise the optimiser removes them: nothing outside can refer to them.
        (cls.folder / "unnamed.ll").write_text(text + "@table = global [2 x ptr] [ptr @0, ptr @1]\n")

    def run_tool(self, program: str, *words: str) -> subprocess.CompletedProcess:
        command = [str(runfile(program)), *words]
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=300, check=False)

    def code(self, listing: str, *words: str) -> list[str]:
        """The instructions that llc writes for both functions."""
        done = self.run_tool(LLC, "-O2", listing, "-o", "-", *words)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return [line for line in done.stdout.splitlines() if re.match(r"\t[a-z]", line)]

    def test_a_search_finds_as_much_as_with_names(self):
        plain, searched = (self.code("unnamed.ll", *words) for words in ((), ("-mlgo-allocations=17",)))
        self.assertEqual(plain, self.code("named.ll"))
        self.assertNotEqual(searched, plain)
        self.assertEqual(searched, self.code("unnamed.ll", "-mlgo-allocations=17"))

    def test_files_cannot_name_them(self):
        sentence = "has a function without a name, which a file of decisions cannot name. Name it (opt -passes="
        for program, option in (
            (CLANG, "-mlgo-evictions-taken=taken"),
            (CLANG, "-mlgo-decisions-taken=taken"),
            (DEVELOPMENT, "-mlgo-eviction-search=found"),
        ):
            with self.subTest(option):
                words = ("-O2", "-c", "unnamed.ll", "-o", "x.o", "-mllvm", option)
                done = self.run_tool(program, *words)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn(f"{option.split('=')[0]}: x.c {sentence}", done.stderr)
                self.assertNotIn("Stack dump", done.stderr)
                self.assertFalse((self.folder / "x.o").exists())

    def test_a_line_without_a_function_is_refused(self):
        for line in ("spare\t\t0\t00ff", "keep\t\tg\tf\t0\t0", "keep\tf\t\tf\t0\t0"):
            section = "evictions\t*\n" if line.startswith("spare") else "module\t*\notherwise default\n"
            (self.folder / "given").write_text(f"mlgo-decisions 1\n{section}{line}\n")
            done = self.run_tool(LLC if "spare" in line else CLANG, *self.compile(line))
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("is no decision", done.stderr)

    def compile(self, line: str) -> list[str]:
        if "spare" in line:
            return ["-O2", "unnamed.ll", "-o", "x.s", "-mlgo-decisions=given"]
        return ["-Oz", "-c", "x.c", "-o", "y.o", *TARGET.flags, "-mllvm", "-mlgo-decisions=given"]

    def test_a_decision_file_changes_nothing_in_them(self):
        (self.folder / "given").write_text("mlgo-decisions 1\nevictions\t*\nspare\tf\t0\t00ff\n")
        self.assertEqual(self.code("unnamed.ll", "-mlgo-decisions=given"), self.code("unnamed.ll"))


if __name__ == "__main__":
    unittest.main()
