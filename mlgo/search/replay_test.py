"""Tests of replay with a made-up executor: which files are written, and what is refused."""

import dataclasses
import pathlib
import tempfile
import types
import unittest

import numpy as np

from mlgo.compiler.request import CompileFailure, CompileLimits, CompileResult, FailureKind
from mlgo.compiler.training_log import TrainingLog
from mlgo.problems.problem import load_problem
from mlgo.run.exit_codes import RunError
from mlgo.search.decision_file import ANY_MODULE, Section
from mlgo.search.replay import Replayed, without_locations, write_replays
from mlgo.trace.setup import CompileSetup

SECTION = Section(ANY_MODULE, "default", {})
LOCATED, BARE = b"BC\xc0\xde...Debug Info Version...", b"BC\xc0\xde..."


def corpus(**contents):
    modules = [
        types.SimpleNamespace(name=name, read_bitcode=lambda content=content: content)
        for name, content in contents.items()
    ]
    return types.SimpleNamespace(modules=modules)


@dataclasses.dataclass
class FakeExecutor:
    """Its compiles take two decisions and name one of them; those of the module `failing` fail."""

    failing: str = ""

    def run_ordered(self, requests):
        for request in requests:
            assert request.extra_files == ("replay",) and "-mlgo-decisions-replay=replay" in request.extra_flags
            if request.module.name == self.failing:
                yield CompileFailure(request.module.name, FailureKind.CRASH, "crashed")
            else:
                contexts, of_context = ["f"], np.zeros(2, np.int32)
                log = TrainingLog(contexts, of_context, {}, np.array([0, 1]), np.zeros(1, np.float32), {})
                yield CompileResult(request.module.name, log, None, 0.1, {"replay": b"mlgo: 'g' inlined into 'f'\n"})


class ReplayTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def write(self, executor, sections):
        setup = CompileSetup(
            pathlib.Path("clang"), load_problem("inlining_for_size"), CompileLimits(), 1, 0.0, executor
        )
        return write_replays(self.folder, corpus(a=LOCATED, b=LOCATED), setup, None, sections, lambda module: None)

    def test_a_file_for_every_module(self):
        self.assertEqual(self.write(FakeExecutor(), {"a": SECTION}), Replayed(decisions=2, named=1))
        self.assertEqual((self.folder / "a.replay").read_bytes(), b"mlgo: 'g' inlined into 'f'\n")
        self.assertEqual((self.folder / "b.replay").read_bytes(), b"")

    def test_a_compile_that_fails(self):
        with self.assertRaisesRegex(RunError, "module b: does not compile with the decisions found"):
            self.write(FakeExecutor("b"), {"a": SECTION, "b": SECTION})

    def test_modules_without_debug_locations(self):
        self.assertEqual(without_locations(corpus(a=LOCATED, b=BARE)), ["b"])
        with self.assertRaisesRegex(RunError, "none of the 2 modules.*-gline-tables-only"):
            without_locations(corpus(a=BARE, b=BARE))


if __name__ == "__main__":
    unittest.main()
