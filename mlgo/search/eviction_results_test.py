"""Tests of eviction_results: what is written for a search that is known."""

import csv
import json
import pathlib
import tempfile
import unittest

from mlgo.compiler.request import CompileLimits
from mlgo.problems.problem import load_problem
from mlgo.search.decision_file import EvictionSection
from mlgo.search.eviction_results import EvictionResults
from mlgo.search.eviction_search import FunctionFound, ModuleFound
from mlgo.trace.setup import CompileSetup


def found(tries: int) -> dict[str, ModuleFound]:
    """Two functions, of which one gains at the third try."""
    gained = FunctionFound("f", 2, 80.0, 90.0, 40.0, tries, ((1, 80.0), (3, 40.0)))
    same = FunctionFound("g", 1, 20.0, None, 20.0, 1, ((1, 20.0),))
    section = EvictionSection("a.c", {"f\t0\t0123456789abcdef": None})
    return {"a": ModuleFound((gained, same), section)}


class EvictionResultsTest(unittest.TestCase):
    def written(self, tries: int) -> pathlib.Path:
        path = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        problem = load_problem("regalloc_eviction")
        setup = CompileSetup(pathlib.Path("/clang"), problem, CompileLimits(), 1, 0.1)
        EvictionResults(found(tries), setup, {}, {}, seed=1).write(path)
        return path

    def test_the_curve_has_each_number_of_tries_once(self):
        for tries, points in ((1, [1]), (4, [1, 2, 4]), (6, [1, 2, 4, 6]), (8, [1, 2, 4, 8])):
            with (self.written(tries) / "curve.csv").open(encoding="utf-8", newline="") as file:
                rows = list(csv.DictReader(file))
            self.assertEqual([int(row["tries_per_function"]) for row in rows], points)

    def test_the_sum_of_the_costs_after_tries(self):
        content = json.loads((self.written(4) / "result.json").read_text(encoding="utf-8"))
        self.assertEqual([total for *_, total in content["curve"]], [1.0, 1.0, 0.6])

    def test_the_command_has_the_cost_with_which_was_searched(self):
        with tempfile.TemporaryDirectory() as folder:
            setup = CompileSetup(pathlib.Path("/clang"), load_problem("regalloc_eviction"), CompileLimits(), 1, 0.1)
            results = EvictionResults(found(4), setup, {}, {"callee_saved_cost": 32768}, seed=1)
            said = "\n".join(results.write(pathlib.Path(folder)))
            self.assertIn(f"{folder}/tuned.decisions -mllvm -mlgo-callee-saved-cost=32768 -c FILE", said)
            self.assertEqual(json.loads(pathlib.Path(folder, "result.json").read_bytes())["callee_saved_cost"], 32768)

    def test_gains_count_from_the_better_start(self):
        content = json.loads((self.written(4) / "result.json").read_text(encoding="utf-8"))
        self.assertEqual(content["gains"], [{"module": "a", "function": "f", "start": 80.0, "best": 40.0}])
        self.assertEqual(content["tries"], 5)


if __name__ == "__main__":
    unittest.main()
