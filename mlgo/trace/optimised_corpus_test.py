"""What goes from a corpus into the optimised one. That objects stay the same is shown in tests/end_to_end."""

import hashlib
import pathlib
import tempfile
import unittest

from mlgo.compiler.request import CompileLimits
from mlgo.compiler.testing import fake_clang
from mlgo.corpus.corpus import Corpus
from mlgo.problems.regalloc_eviction.problem import PROBLEM
from mlgo.trace.optimised_corpus import CODE_GENERATION_FLAG, optimise_corpus
from mlgo.trace.setup import CompileSetup


class OptimisedCorpusTest(unittest.TestCase):
    def test_files_that_commands_name_go_along(self):
        with tempfile.TemporaryDirectory() as name:
            root = pathlib.Path(name)
            fake_clang.write_corpus(root / "corpus", {"a/m": fake_clang.FakeModule.bitcode({"f": 1})})
            (root / "corpus/files").mkdir()
            digest = hashlib.sha256(b"profile").hexdigest()
            (root / f"corpus/files/{digest[:16]}-a.profdata").write_bytes(b"profile")
            corpus = Corpus.load(root / "corpus")
            setup = CompileSetup(pathlib.Path(fake_clang.install(root, PROBLEM)), PROBLEM, CompileLimits(), 1, 0.0)
            optimise_corpus(root / "optimised", corpus, setup, "optimised")
            optimised = Corpus.load(root / "optimised")
            self.assertEqual(optimised.carried_files, corpus.carried_files)
            self.assertEqual(optimised.file(corpus.carried_files[0]).read_bytes(), b"profile")
            self.assertEqual(optimised.modules[0].command, (*corpus.modules[0].command, CODE_GENERATION_FLAG))

    def test_modules_that_become_equal_stay_apart(self):
        with tempfile.TemporaryDirectory() as name:
            root = pathlib.Path(name)
            same = fake_clang.FakeModule.bitcode({"f": 1})
            fake_clang.write_corpus(root / "corpus", {"a": same, "b": same})
            setup = CompileSetup(pathlib.Path(fake_clang.install(root, PROBLEM)), PROBLEM, CompileLimits(), 1, 0.0)
            summary = optimise_corpus(root / "optimised", Corpus.load(root / "corpus"), setup, "optimised")
            self.assertEqual(summary, {"modules": 2, "failed": {}})
            self.assertEqual([module.name for module in Corpus.load(root / "optimised").modules], ["a", "b"])


if __name__ == "__main__":
    unittest.main()
