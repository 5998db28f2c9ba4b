"""The dependency file of a compile names the decision file, so that make and ninja compile again when it changes."""

import pathlib
import subprocess
import tempfile
import unittest

from mlgo.run.locate import runfile

CLANG = "release/clang"
GIVEN = ("-mllvm", "-mlgo-decisions=given.decisions")


class DepfileTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.folder / "x.h").write_text("int x(int);\n")
        (self.folder / "x.c").write_text('#include "x.h"\nint x(int a) { return a; }\n')
        (self.folder / "given.decisions").write_text("mlgo-decisions 1\n")
        (self.folder / "other file").write_text("mlgo-decisions 1\n")

    def run_clang(self, *words: str) -> str:
        command = [str(runfile(CLANG)), "--target=x86_64-linux-gnu", "-Oz", *words]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def dependencies(self, *words: str) -> list[str]:
        """What the object depends on, by its dependency file."""
        self.run_clang(*words, "-c", "x.c", "-o", "x.o", "-MF", "x.d")
        return self.named((self.folder / "x.d").read_text())

    def named(self, text: str) -> list[str]:
        return text.replace("\\\n", " ").replace("\\ ", "%20").split(":", 1)[1].split()

    def test_every_kind_of_dependency_file(self):
        for kind in ("-MD", "-MMD"):
            with self.subTest(kind):
                self.assertEqual(self.dependencies(kind), ["x.c", "x.h"])
                self.assertEqual(sorted(self.dependencies(kind, *GIVEN)), ["given.decisions", "x.c", "x.h"])
        for kind in ("-M", "-MM"):
            with self.subTest(kind):
                self.assertIn("given.decisions", self.named(self.run_clang(kind, *GIVEN, "x.c")))

    def test_all_ways_to_name_the_file(self):
        (self.folder / "own.cfg").write_text("-mllvm -mlgo-decisions=given.decisions\n")
        for words in (
            ("-mllvm=-mlgo-decisions=given.decisions",),
            ("-mllvm", "--mlgo-decisions=given.decisions"),
            ("-mllvm", "-mlgo-decisions", "-mllvm", "given.decisions"),
            ("--config=./own.cfg",),
            ("-flto", *GIVEN),
            ("-save-temps", *GIVEN),
        ):
            with self.subTest(words):
                self.assertIn("given.decisions", self.dependencies("-MD", *words))
        self.assertIn("other%20file", self.dependencies("-MD", "-mllvm", "-mlgo-decisions=other file"))

    def test_files_that_a_compile_writes_are_not_named(self):
        words = ("-mllvm", "-mlgo-decisions-taken=taken", "-mllvm", "-mlgo-evictions-taken=evictions")
        self.assertEqual(self.dependencies("-MD", *words), ["x.c", "x.h"])

    def test_without_a_dependency_file_nothing_is_named(self):
        self.run_clang(*GIVEN, "-c", "x.c", "-o", "x.o")
        self.assertFalse((self.folder / "x.d").exists())


if __name__ == "__main__":
    unittest.main()
