"""What goes from a corpus into the optimised one. That objects stay the same is shown in tests/end_to_end."""

import hashlib

from mlgo.compiler.request import CompileLimits
from mlgo.compiler.testing import fake_clang
from mlgo.compiler.testing.scratch_case import FakeClangTestCase
from mlgo.corpus.corpus import Corpus
from mlgo.problems.regalloc_eviction.problem import PROBLEM
from mlgo.trace.optimised_corpus import CODE_GENERATION_FLAG, optimise_corpus
from mlgo.trace.setup import CompileSetup


class OptimisedCorpusTest(FakeClangTestCase):
    def optimise(self, modules: dict[str, bytes]) -> tuple[Corpus, Corpus, dict]:
        """A corpus of `modules`, the optimised one and what the manifest says."""
        corpus = Corpus.load(fake_clang.write_corpus(self.root / "corpus", modules))
        setup = CompileSetup(self.clang, PROBLEM, CompileLimits(), 1, 0.0)
        summary = optimise_corpus(self.root / "optimised", corpus, setup, "optimised")
        return corpus, Corpus.load(self.root / "optimised"), dict(summary)

    def test_files_that_commands_name_go_along(self):
        digest = hashlib.sha256(b"profile").hexdigest()
        (self.root / "corpus/files").mkdir(parents=True)
        (self.root / f"corpus/files/{digest[:16]}-a.profdata").write_bytes(b"profile")
        corpus, optimised, _ = self.optimise({"a/m": fake_clang.FakeModule.bitcode({"f": 1})})
        self.assertEqual(optimised.carried_files, corpus.carried_files)
        self.assertEqual(optimised.file(corpus.carried_files[0]).read_bytes(), b"profile")
        self.assertEqual(optimised.modules[0].command, (*corpus.modules[0].command, CODE_GENERATION_FLAG))

    def test_modules_that_become_equal_stay_apart(self):
        _, optimised, summary = self.optimise(dict.fromkeys("ab", fake_clang.FakeModule.bitcode({"f": 1})))
        self.assertEqual(summary, {"modules": 2, "failed": {}})
        self.assertEqual([module.name for module in optimised.modules], ["a", "b"])
