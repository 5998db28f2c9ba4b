import pathlib

from mlgo.compiler.request import CompileFailure, CompileLimits, CompileResult, FailureKind
from mlgo.compiler.testing import fake_clang
from mlgo.compiler.testing.made_up_object import made_up_object
from mlgo.corpus.corpus import Corpus
from mlgo.problems.inlining_for_size.problem import PROBLEM
from mlgo.run.testing.folder_case import FolderCase
from mlgo.search.corpus_search import side_by_side
from mlgo.search.decision_file import ANY_MODULE, DEFAULT, Section
from mlgo.search.module_search import Found, ModuleCannotBeCompiled
from mlgo.search.moves import Build
from mlgo.trace.setup import CompileSetup


class CountingExecutor:
    """Answers every compile at once; modules whose names begin with "bad" fail."""

    def __init__(self):
        self.batches = []

    def run_ordered(self, requests):
        batch: list[str] = []
        self.batches.append(batch)
        for request in requests:
            batch.append(request.module.name)
            if request.module.name.startswith("bad"):
                yield CompileFailure(request.module.name, FailureKind.CRASH, "SIGSEGV")
            else:
                yield CompileResult(request.module.name, None, made_up_object({"f": 10}), 0.0)

    def close(self):
        pass


def _search(rounds, attempts):
    """Asks `rounds` times for `attempts` compiles; gives up where one fails."""
    builds = []
    for _ in range(rounds):
        sent = yield [Section(ANY_MODULE, DEFAULT, {})] * attempts
        if None in sent:
            raise ModuleCannotBeCompiled()
        builds += sent
    return Found({}, builds[0], (), len(builds), 0, True, ())


class SideBySideTest(FolderCase):
    def setUp(self):
        super().setUp()
        names = [*(f"m{number}" for number in range(20)), "bad"]
        fake_clang.write_corpus(self.folder, {name: fake_clang.FakeModule.bitcode({name: 1}) for name in names})
        self.modules = Corpus.load(self.folder).modules

    def found(self, workers, modules):
        """Module -> compiles of its search, None where it cannot be compiled; and the batches of compiles."""
        executor = CountingExecutor()
        setup = CompileSetup(pathlib.Path("clang"), PROBLEM, CompileLimits(cpu_seconds=1), workers, 0.0, executor)

        def build_of(module, attempt, outcome):
            return None if isinstance(outcome, CompileFailure) else Build(attempt, {}, {}, {"f": 10.0})

        searches = ((module, _search(1 + index % 3, 2)) for index, module in enumerate(modules))
        ended = side_by_side(searches, setup, None, build_of)
        return {module.name: result and result.compiles for module, result in ended}, executor.batches

    def test_the_number_of_workers_changes_no_result(self):
        one, batches = self.found(1, self.modules)
        many, _ = self.found(4, self.modules)
        self.assertEqual(one, many)
        expected = {module.name: 2 * (1 + index % 3) for index, module in enumerate(self.modules)} | {"bad": None}
        self.assertEqual(one, expected)
        # At most eight searches for each worker wait at a time, and each asks for two compiles.
        self.assertEqual(max(map(len, batches)), 16)

    def test_no_search_is_no_result(self):
        self.assertEqual(self.found(1, []), ({}, []))
