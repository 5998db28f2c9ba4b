"""The section "Add a corpus" of docs/corpora.md, carried out as it stands on a copy of this workspace.

add_a_corpus_test CLANG [--share=FILE ...]

The nested Bazel takes the repositories of the files of --share as they are fetched here; it fetches all others.
"""

import argparse
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

from tests.clones import clone, nested

_BLOCK = re.compile(r"^(?P<before>[^\n]*)\n\n(?P<lines>(?:(?:    [^\n]*)?\n)+)", re.MULTILINE)
_FILE = re.compile(r"`(?P<name>[^`]+)`:")


def steps(page: str) -> list[tuple[str | None, str]]:
    """The indented blocks of the section: (name, content) of a file, or (None, commands)."""
    section = page.partition("\n## Add a corpus\n")[2].partition("\n## ")[0]
    found = []
    for block in _BLOCK.finditer(section):
        content = "".join(line[4:] + "\n" for line in block["lines"].rstrip().split("\n"))
        name = _FILE.fullmatch(block["before"])
        found.append((name and name["name"], content))
    return found


class AddACorpusTest(unittest.TestCase):
    clang: pathlib.Path
    shared: list[pathlib.Path]

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="corpus.", dir=os.environ["TEST_TMPDIR"])).resolve()
        self.addCleanup(nested.remove, self.folder)
        self.workspace = self.folder / "copy"
        clone.copy(clone.root(), self.workspace)
        base = self.folder / "base"
        self.bazel = nested.NestedBazel(
            self.workspace / "bazelw", self.workspace, base, nested.shared_repositories(self.shared)
        )
        self.built = base / "execroot/_main/bazel-out/k8-fastbuild/bin"
        self.addCleanup(self.bazel.end)

    def run_command(self, line: str) -> None:
        """Runs a line of the page: Bazel as the nested one, `clang` as the packaged one."""
        words = shlex.split(line)
        if words[0] == "./bazelw":
            self.bazel.run(*words[1:])
        else:
            program = str(self.clang) if words[0] == "clang" else words[0]
            subprocess.run([program, *words[1:]], cwd=self.workspace, check=True)

    def test_the_section(self):
        page = (self.workspace / "docs/corpora.md").read_text(encoding="utf-8")
        commands = 0
        for name, content in steps(page):
            if name:
                path = self.workspace / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(content, encoding="utf-8")
                continue
            for line in content.splitlines():
                self.run_command(line)
                commands += 1
        self.assertEqual(commands, 6)
        for corpus, modules in (
            (self.built / "corpora/greeting/corpus", ["corpora/greeting/farewell.c", "corpora/greeting/greeting.c"]),
            (self.workspace / "out/greeting", ["farewell.o", "greeting.o"]),
        ):
            description = json.loads((corpus / "corpus_description.json").read_bytes())
            self.assertEqual(description["modules"], modules)
        self.check_corpus_info()

    def check_corpus_info(self):
        """A command builds the corpus that it is given, and no other."""
        for corpus in ("//corpora/greeting:corpus", "out/greeting"):
            described = json.loads(self.bazel.run("run", "//mlgo:corpus_info", "--", f"--corpus={corpus}", "--json"))
            self.assertEqual(described["modules"], 2)
        with self.assertRaisesRegex(
            AssertionError, r"exit code 2\n(?s:.*)ERROR: (?s:.*)error: label //corpora/greeting:none: cannot be built"
        ):
            self.bazel.run("run", "//mlgo:corpus_info", "--", "--corpus=//corpora/greeting:none")
        self.assertEqual(list(self.built.glob("mlgo/corpus/llvm*")), [], "a corpus of LLVM was built")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("clang", type=pathlib.Path)
    parser.add_argument("--share", type=pathlib.Path, action="append", default=[])
    given = parser.parse_args()
    AddACorpusTest.clang, AddACorpusTest.shared = given.clang.absolute(), given.share
    unittest.main(argv=sys.argv[:1])
