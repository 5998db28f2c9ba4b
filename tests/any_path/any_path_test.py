"""A clone, a home folder and an output base below folders with umlauts, Japanese and quotes, from an empty start.

any_path_test [--share=FILE ...]

Debian's Bazel is installed there, unless BAZEL or PATH gives another one. Its archives come from the cache of the
real home.
"""

import argparse
import os
import pathlib
import sys
import tempfile
import unittest

from tests.clones import clone, nested

# No UTF-8: a name is any bytes.
ODD = os.fsdecode(b"\xff")
PACKAGE = "tests/any_path/package"


class AnyPathTest(unittest.TestCase):
    shared: list[pathlib.Path]
    folder: pathlib.Path
    bazel: nested.NestedBazel

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="any_path.", dir=os.environ["TEST_TMPDIR"])).resolve()
        cls.addClassCleanup(nested.remove, cls.folder)
        workspace = cls.folder / f"Käse Ordner {ODD}" / "it's $HOME" / "日本" / "mlgo"
        clone.copy(clone.root(), workspace)
        data = workspace / PACKAGE / "data"
        data.mkdir()
        (data / "grün 日本").write_text("ä", encoding="utf-8")
        # Bazel itself warns of an output base with a blank, and not of one in another alphabet.
        home = cls.folder / "Jürgen"
        nested.link_archives(home)
        cls.bazel = nested.NestedBazel(
            workspace / "bazelw",
            workspace,
            home / ".cache" / "bäse",
            nested.shared_repositories(cls.shared),
            {"HOME": str(home), "XDG_CACHE_HOME": "", "LANG": "C.UTF-8"},
        )
        cls.addClassCleanup(cls.bazel.end)

    def test_a_python_program_gets_its_arguments_and_its_files(self):
        said = self.bazel.run("run", f"//{PACKAGE}:say", "--", "ä", "日本", ODD, "a b", "$x'")
        self.assertEqual(
            said.splitlines(),
            [r"""'\xe4' '\u65e5\u672c' '\udcff' 'a b' "$x'" """.strip(), r"'gr\xfcn \u65e5\u672c' '\xe4'"],
        )

    def test_actions_read_and_write_files_of_these_names(self):
        self.bazel.run("build", f"//{PACKAGE}:all")
        made = self.bazel.base / "execroot" / "_main" / "bazel-out"
        (copy,) = made.glob(f"*/bin/{PACKAGE}/copy/data/*")
        self.assertEqual((copy.name, copy.read_text(encoding="utf-8")), ("grün 日本", "ä"))

    def test_a_program_in_c(self):
        said = self.bazel.run("run", "//tests/clones/sample:hello")
        self.assertIn("tests/clones/sample/hello.cc", said)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--share", type=pathlib.Path, action="append", default=[])
    AnyPathTest.shared = parser.parse_args().share
    unittest.main(argv=sys.argv[:1])
