"""Loading a corpus, and one clear error for each way in which it can be broken."""

import json
import pathlib
import tempfile
import unittest

from mlgo.corpus.corpus import Corpus, CorpusError, join_command, split_command
from mlgo.run.exit_codes import ExitCode


class CorpusTest(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.root = pathlib.Path(temporary.name)
        self.write(self.root, {"b/two.c": b"BC2", "a/one.c": b"BC1"})

    def write(self, root: pathlib.Path, modules: dict[str, bytes]) -> None:
        for name, bitcode in modules.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            pathlib.Path(f"{path}.bc").write_bytes(bitcode)
            pathlib.Path(f"{path}.cmd").write_bytes(b"-cc1\0-O2\0")
        self.describe(root, {"modules": list(modules), "has_thinlto": False})

    def describe(self, root: pathlib.Path, description) -> None:
        (root / "corpus_description.json").write_text(json.dumps(description))

    def refused(self, expected: str, exit_code=ExitCode.MISUSE):
        with self.assertRaises(CorpusError) as caught:
            Corpus.load(self.root)
        self.assertIn(expected, str(caught.exception))
        self.assertEqual(caught.exception.exit_code, exit_code)

    def test_modules_are_sorted(self):
        corpus = Corpus.load(self.root)
        self.assertEqual([module.name for module in corpus.modules], ["a/one.c", "b/two.c"])
        self.assertEqual(corpus.modules[0].bitcode_path.read_bytes(), b"BC1")
        self.assertEqual(corpus.modules[0].command, ("-cc1", "-O2"))

    def test_digest_depends_on_content_only(self):
        digest = Corpus.load(self.root).digest
        with tempfile.TemporaryDirectory() as other:
            elsewhere = pathlib.Path(other)
            self.write(elsewhere, {"a/one.c": b"BC1", "b/two.c": b"BC2"})
            self.assertEqual(Corpus.load(elsewhere).digest, digest)
            self.write(elsewhere, {"a/one.c": b"BC1", "b/two.c": b"BC3"})
            self.assertNotEqual(Corpus.load(elsewhere).digest, digest)
            self.write(elsewhere, {"a/one.c": b"BC1"})
            self.assertNotEqual(Corpus.load(elsewhere).digest, digest)
        (self.root / "a/one.c.cmd").write_bytes(b"-cc1\0-O3\0")
        self.assertNotEqual(Corpus.load(self.root).digest, digest)

    def test_select(self):
        corpus = Corpus.load(self.root)
        self.assertEqual([module.name for module in corpus.select(["b/two.c"]).modules], ["b/two.c"])
        with self.assertRaisesRegex(CorpusError, "has no module 'c'. check the names"):
            corpus.select(["c"])

    def test_missing_files(self):
        (self.root / "a/one.c.bc").unlink()
        self.refused("one.c.bc: cannot be read: No such file or directory. make the corpus again")
        (self.root / "a/one.c.bc").write_bytes(b"")
        self.refused("one.c.bc: is empty")
        (self.root / "a/one.c.bc").write_bytes(b"x")
        (self.root / "a/one.c.cmd").unlink()
        self.refused("one.c.cmd: cannot be read")

    def test_description(self):
        for description, expected in (
            ([], 'is not an object with a list "modules"'),
            ({"modules": "a"}, 'is not an object with a list "modules"'),
            ({"modules": ["a/one.c", "a/one.c"]}, "lists 'a/one.c' twice"),
            ({"modules": ["../one.c"]}, "lists '../one.c', which is not a relative path inside the corpus"),
            ({"modules": ["/one.c"]}, "lists '/one.c', which is not"),
            ({"modules": ["a/./one.c"]}, "lists 'a/./one.c', which is not"),
            ({"modules": [1]}, "lists 1, which is not"),
            ({"modules": ["a/one.c"], "has_thinlto": True}, "describes a ThinLTO corpus"),
            ({"modules": ["a/one.c"], "global_command_override": ["-O2"]}, "overrides all commands"),
        ):
            self.describe(self.root, description)
            self.refused(expected)
        self.describe(self.root, {"modules": []})
        self.refused("lists no module", ExitCode.NOTHING_PRODUCED)
        (self.root / "corpus_description.json").write_text("{")
        self.refused("is not JSON at line 1")
        (self.root / "corpus_description.json").unlink()
        self.refused("corpus_description.json): does not exist. make the corpus again")

    def test_commands_survive(self):
        for command in (("-cc1",), ("-cc1", "", "a b"), ("-cc1", "\udcff")):
            self.assertEqual(split_command(join_command(command)), command)
        self.assertEqual(split_command(b"-cc1\0-O2"), ("-cc1", "-O2"))


if __name__ == "__main__":
    unittest.main()
