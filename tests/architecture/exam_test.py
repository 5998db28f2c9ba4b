"""The exam's libraries (//models/exam) are named by no other list of the workspace: of training, selection or
validation corpora, of programs, of a policy's record. //models/exam:exam_test compares them with the lists that
Starlark can load.
"""

import json
import re
import unittest

from tests.clones import clone

# Files that say what the libraries are and where their sources come from, and what makes tables of their results.
_ALLOWED = re.compile(
    r"models/exam/.*|models/results/sections\.py|third_party/corpora/exam\.bzl|third_party/debian/(lock|packages)\.json"
    r"|tests/architecture/exam_test\.py"
)
_LISTS = (".bazel", ".bzl", ".cfg", ".csv", ".gin", ".json", ".jsonl", ".py", ".sh", ".toml", ".txt", ".yml")
# A row of the table of //mlgo/corpus:shipped_test: how many modules a corpus has.
_MODULE_COUNT = re.compile(r' *"\w+": \d+,')


def libraries(root):
    """Names of the exam's libraries, from exam.bzl."""
    table = re.search(r"^EXAM_LIBRARIES = (\{.*?^\})", (root / "models/exam/exam.bzl").read_text(), re.M | re.S)
    assert table, "models/exam/exam.bzl has no EXAM_LIBRARIES"
    return sum(json.loads(re.sub(r",(\s*[\]}])", r"\1", table[1])).values(), [])


def mentions(names, path, content):
    """Lines "PATH:NUMBER: LINE" of a file that name a library, but for its number of modules."""
    if not any(name in content for name in names):
        return []
    words = re.compile(rf"(?<![A-Za-z0-9])({'|'.join(map(re.escape, names))})(?![A-Za-z0-9])")
    return [
        f"{path}:{number}: {line.strip()[:80]}"
        for number, line in enumerate(content.splitlines(), 1)
        if words.search(line) and not (path == "mlgo/corpus/BUILD.bazel" and _MODULE_COUNT.fullmatch(line))
    ]


class ExamTest(unittest.TestCase):
    def test_mentions(self):
        names, counts = ["qhull", "speex"], '    "speex": 30,\n    "speex": "speex",'
        self.assertEqual(mentions(names, "a.bzl", 'x\n"speex_oz",'), ['a.bzl:2: "speex_oz",'])
        self.assertEqual(mentions(names, "a.bzl", "speexdsp libspeex"), [])
        self.assertEqual(len(mentions(names, "mlgo/corpus/BUILD.bazel", counts)), 1)

    def test_no_other_list_names_them(self):
        root = clone.root()
        names = libraries(root)
        self.assertEqual(len(names), 16)
        paths = [path for path in clone.files(root) if path.suffix in _LISTS and not path.is_symlink()]
        self.assertGreater(len(paths), 500)
        found = []
        for path in paths:
            relative = str(path.relative_to(root))
            if not _ALLOWED.fullmatch(relative):
                content = path.read_text(encoding="utf-8", errors="replace")
                found += mentions(names, relative, content)
        self.assertEqual(found, [], "the exam is for looks only: take another library, or name why in _ALLOWED")


if __name__ == "__main__":
    unittest.main()
