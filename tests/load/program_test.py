"""Commands are measured and killed as said."""

import pathlib
import tempfile
import unittest

from mlgo.compiler.testing import fake_clang
from mlgo.corpus.corpus import Corpus
from tests.load import copies, program


class ProgramTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def write_source(self) -> pathlib.Path:
        bitcode = {f"d/m{index}.cpp": bytes([65 + index]) * (1000 + 1000 * index) for index in range(20)}
        return pathlib.Path(fake_clang.write_corpus(self.folder / "source", bitcode))

    def test_copies(self):
        source = self.write_source()
        copies.write_copies(source, self.folder / "corpus", 250)
        corpus = Corpus.load(self.folder / "corpus")
        self.assertEqual(len(corpus.modules), 250)
        # The eight smallest from 4,000 bytes on, each behind a wrapper of 20 bytes that makes it another one.
        self.assertEqual({module.bitcode_size for module in corpus.modules}, set(range(4_020, 12_020, 1000)))
        self.assertEqual(len({module.read_bitcode() for module in corpus.modules}), 250)

    def test_memory_of_a_command(self):
        corpus = f"--corpus={self.write_source()}"
        cost = program.run("mlgo.corpus_info", corpus)
        self.assertGreater(cost.megabytes, 5)
        self.assertLess(cost.megabytes, 200)

    def test_a_failing_command(self):
        with self.assertRaisesRegex(RuntimeError, "exit code 2\n.*does not exist"):
            program.run("mlgo.corpus_info", f"--corpus={self.folder / 'absent'}")

    def test_kills_end_with_the_command(self):
        self.assertEqual(program.kill_at_random("mlgo.corpus_info", [f"--corpus={self.write_source()}"], 3, 1e4), 0)
        self.assertEqual(program.kill_at_random("mlgo.corpus_info", [], 3, 1e-4), 3)


if __name__ == "__main__":
    unittest.main()
