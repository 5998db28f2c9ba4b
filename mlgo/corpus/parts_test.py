"""Parts of a corpus as corpora of their own."""

import pathlib
import tempfile
import unittest

from mlgo.corpus import split
from mlgo.corpus.corpus import Corpus
from mlgo.corpus.parts import write_parts
from mlgo.corpus.writer import CorpusWriter
from mlgo.run.exit_codes import ExitCode, RunError


class PartsTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.folder = pathlib.Path(directory.name)

    def corpus(self, count: int) -> Corpus:
        with CorpusWriter(self.folder / "whole", False, None) as writer:
            for index in range(count):
                writer.add(f"m{index}", b"BC\xc0\xde" + bytes([index]), ("-O2",), None, "MIT")
            writer.finish()
        return Corpus.load(self.folder / "whole")

    def test_every_module_is_in_the_part_that_its_name_says_and_writing_again_changes_nothing(self):
        corpus = self.corpus(20)
        parts = split.by_hash(module.name for module in corpus.modules)
        digests = []
        for _ in range(2):
            write_parts(corpus, parts, self.folder / "parts")
            written = {part: Corpus.load(self.folder / "parts" / part) for part in split.PARTS}
            digests.append({part: corpus.digest for part, corpus in written.items()})
        self.assertEqual({module.name: part for part in written for module in written[part].modules}, parts)
        self.assertEqual(digests[0], digests[1])

    def test_an_empty_part_is_an_error(self):
        corpus = self.corpus(2)
        with self.assertRaisesRegex(RunError, "none of its 2 modules would be in the part held_out") as raised:
            write_parts(corpus, {"m0": split.TRAIN, "m1": split.TRAIN}, self.folder / "parts")
        self.assertEqual(raised.exception.exit_code, ExitCode.NOTHING_PRODUCED)


if __name__ == "__main__":
    unittest.main()
