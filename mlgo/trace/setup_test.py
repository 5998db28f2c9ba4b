"""What a setup fills in, and that compiles go where it says."""

import pathlib
import unittest

from mlgo.compiler.executor import LocalExecutor
from mlgo.compiler.request import CompileFailure, CompileLimits, FailureKind
from mlgo.corpus.corpus import Module
from mlgo.problems.regalloc_eviction.problem import PROBLEM
from mlgo.trace.setup import CompileSetup
from mlgo.trace.trace import compile_modules

_CLANG = pathlib.Path("/nowhere/clang")


class _RefusingExecutor:
    """Answers every request with a failure that names its compiler."""

    def run_ordered(self, requests):
        for request in requests:
            yield CompileFailure(request.module.name, FailureKind.KILLED, str(request.clang))

    def close(self):
        pass


class CompileSetupTest(unittest.TestCase):
    def test_compiles_run_on_this_machine_unless_said_otherwise(self):
        setup = CompileSetup(_CLANG, PROBLEM, CompileLimits(), workers=2, max_failure_ratio=0.0)
        self.assertIsInstance(setup.executor, LocalExecutor)

    def test_modules_are_compiled_by_the_executor_given(self):
        setup = CompileSetup(_CLANG, PROBLEM, CompileLimits(), 1, 0.0, executor=_RefusingExecutor())
        modules = [Module.at(name, f"/nowhere/{name}.bc", []) for name in ("a", "b")]
        outcomes = list(compile_modules(modules, setup, [None, None]))
        self.assertEqual([outcome.module_name for _, outcome in outcomes], ["a", "b"])
        self.assertEqual({outcome.detail for _, outcome in outcomes}, {str(_CLANG)})

    def test_no_workers_is_refused(self):
        with self.assertRaisesRegex(ValueError, "workers must be >= 1"):
            CompileSetup(_CLANG, PROBLEM, CompileLimits(), workers=0, max_failure_ratio=0.0)


if __name__ == "__main__":
    unittest.main()
