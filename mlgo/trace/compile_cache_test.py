"""A second run over the same modules compiles nothing; anything else than the same modules is compiled."""

import functools
import pathlib
import unittest
import unittest.mock

from mlgo.compiler.executor import LocalExecutor
from mlgo.compiler.request import CompileLimits
from mlgo.compiler.testing import fake_clang
from mlgo.corpus.corpus import Corpus
from mlgo.identity import code
from mlgo.problems.regalloc_eviction.problem import PROBLEM
from mlgo.run.cache import Cache
from mlgo.run.testing.folder_case import FolderCase
from mlgo.trace.compile_cache import CompileCache
from mlgo.trace.optimised_corpus import optimise_corpus
from mlgo.trace.setup import CompileSetup
from mlgo.trace.trace import Trace, trace_corpus


class CountingExecutor:
    """Counts the compiles of another executor."""

    def __init__(self, executor):
        self._executor, self.compiled = executor, []

    def run_ordered(self, requests):
        def counted():
            for request in requests:
                self.compiled.append(request.module.name)
                yield request

        return self._executor.run_ordered(counted())

    def close(self):
        self._executor.close()


class CompileCacheTest(FolderCase):
    def setUp(self):
        super().setUp()
        (self.folder / "bin").mkdir()
        clang = pathlib.Path(fake_clang.install(self.folder / "bin", PROBLEM))
        self.executor = CountingExecutor(LocalExecutor(2))
        self.setup_used = CompileSetup(clang, PROBLEM, CompileLimits(cpu_seconds=10), 2, 0.5, self.executor)
        self.known = CompileCache(Cache(self.folder / "cache", 10**9), {"clang": "1"})

    def corpus(self, name: str, behaviours: dict[str, str]) -> Corpus:
        """A corpus of modules with these behaviours; "idle": good and without a decision."""
        modules = {}
        for module, behaviour in behaviours.items():
            idle = behaviour == "idle"
            modules[module] = fake_clang.FakeModule.bitcode({"f": 0 if idle else 3}, "good" if idle else behaviour)
        return Corpus.load(fake_clang.write_corpus(self.folder / name, modules))

    def traced(self, name: str, corpus: Corpus, known: CompileCache | None = None) -> tuple[list[str], Trace]:
        """What was compiled for a trace in folder `name`, and the trace."""
        self.executor.compiled.clear()
        folder = self.folder / name
        work = functools.partial(trace_corpus, folder, corpus, self.setup_used, name)
        (known or self.known).traced(folder, corpus, None, True, work)
        return sorted(self.executor.compiled), Trace.load(folder, corpus)

    def test_traces(self):
        corpus = self.corpus("corpus", {"a/x": "good", "b": "idle", "c": "crash"})
        compiled, first = self.traced("first", corpus)
        self.assertEqual(compiled, ["a/x", "b", "c"])
        compiled, second = self.traced("second", corpus)
        self.assertEqual(compiled, ["c"], "what failed is tried again, and nothing else")
        self.assertEqual(first.records, second.records)
        for name in ("modules/a/x.arrays", "modules/a/x.json", "modules/b.json"):
            self.assertEqual((self.folder / "first" / name).read_bytes(), (self.folder / "second" / name).read_bytes())

    def test_modules_that_an_interrupted_run_finished_reach_the_cache_when_it_is_resumed(self):
        corpus, folder = self.corpus("corpus", {"a": "good", "b": "idle"}), self.folder / "interrupted"

        def interrupted():
            trace_corpus(folder, corpus.select(["a"]), self.setup_used, "interrupted")
            raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            self.known.traced(folder, corpus, None, True, interrupted)
        compiled, _ = self.traced("interrupted", corpus)
        self.assertEqual(compiled, ["b"])
        self.assertEqual(self.traced("another", corpus)[0], [])

    def test_another_compiler_or_module_is_another_key(self):
        compiled, _ = self.traced("first", self.corpus("corpus", {"a": "good", "b": "good"}))
        compiled, _ = self.traced("second", self.corpus("other", {"a": "idle", "b": "good"}))
        self.assertEqual(compiled, ["a"])
        other = CompileCache(Cache(self.folder / "cache", 10**9), {"clang": "2"})
        compiled, _ = self.traced("third", self.corpus("third_corpus", {"b": "good"}), other)
        self.assertEqual(compiled, ["b"])

    def test_other_code_is_another_key(self):
        corpus = self.corpus("corpus", {"a": "good"})
        self.traced("first", corpus)
        with unittest.mock.patch("mlgo.trace.compile_cache.digest_of_code", return_value="other"):
            other = CompileCache(Cache(self.folder / "cache", 10**9), {"clang": "1"})
        self.assertEqual(self.traced("second", corpus, other)[0], ["a"])

    def test_this_program_has_the_reader_of_logs_and_the_scores(self):
        found = {f"{name}/{path.name}" for name in code.COMPILES for path in code.code_files(name)}
        library = "compiler/libtraining_log_reader.so"
        self.assertLessEqual({library, "corpus/command.py", "score/problem_score.py", "trace/trace.py"}, found)

    def test_optimised_modules(self):
        corpus = self.corpus("corpus", {"a": "good", "b": "crash"})
        for name, expected in (("first", ["a", "b"]), ("second", ["b"])):
            self.executor.compiled.clear()
            folder = self.folder / name
            work = functools.partial(optimise_corpus, folder, corpus, self.setup_used, name)
            self.known.optimised(folder, corpus, work)
            self.assertEqual(sorted(self.executor.compiled), expected)
        self.assertEqual(Corpus.load(self.folder / "first").digest, Corpus.load(self.folder / "second").digest)
