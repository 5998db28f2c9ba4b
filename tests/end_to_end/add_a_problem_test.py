"""The problem of docs/add-a-problem.md, added as the page says, is trained to 95 % of what is possible."""

import json
import math
import pathlib
import re
import tempfile
import unittest

import numpy as np

import mlgo.problems
from mlgo.compiler.testing import fake_clang
from mlgo.problems.problem import load_problem
from mlgo.run import locate
from mlgo.training.configuration import configure, own_files
from mlgo.training.run_inputs import RunInputs
from mlgo.training.training_run import TrainingRun
from tests.end_to_end import toy_compiler

_FILE = re.compile(r"^`mlgo/problems/(toy_unrolling/[^`]+)`:\n\n((?:(?:    .*)?\n)+)", re.MULTILINE)


class AddAProblemTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        page = locate.runfile("docs/add-a-problem.md").read_text(encoding="utf-8")
        for name, block in _FILE.findall(page):
            path = self.folder / "problems" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(line[4:] + "\n" for line in block.rstrip().split("\n")), encoding="utf-8")
        # What a folder below mlgo/problems/ is to Python.
        mlgo.problems.__path__ = [*mlgo.problems.__path__, str(self.folder / "problems")]

    def corpus(self, name: str, seed: int, modules: int) -> pathlib.Path:
        random = np.random.Generator(np.random.Philox(seed))
        contents = {
            f"{name}{index}": toy_compiler.made_up_module(random, functions=4, loops=6) for index in range(modules)
        }
        (self.folder / name).mkdir()
        return pathlib.Path(fake_clang.write_corpus(self.folder / name, contents))

    def test_added_as_described_it_learns_what_is_best(self):
        problem = load_problem("toy_unrolling")
        self.assertEqual(
            own_files("toy_unrolling", "ppo"), [str(self.folder / "problems" / "toy_unrolling" / "ppo.gin")]
        )
        (self.folder / "bin").mkdir()
        clang = pathlib.Path(fake_clang.install(self.folder / "bin", problem))  # For preflight.
        train, held_out = self.corpus("train", 1, 20), self.corpus("held_out", 2, 8)
        settings = {"problem": "toy_unrolling", "iterations": 20, "modules_per_iteration": 6, "validation_modules": 4}
        inputs = RunInputs(clang, train, held_out, None, None, self.folder / "output")
        run = TrainingRun(inputs, configure(settings, [], []), workers=1, executor=toy_compiler.ToyExecutor())
        comparison = run.run()
        self.assertEqual(comparison.failed, {})
        reached = {(row.module, row.function): math.log(row.ratios["policy"]) for row in comparison.rows}
        self.assertEqual(len(reached), 32)
        possible = 0.0
        for module in sorted({name for name, _ in reached}):
            functions = json.loads((held_out / f"{module}.bc").read_bytes())
            for loops in functions.values():
                possible += math.log(
                    toy_compiler.cycles(loops, toy_compiler.best) / toy_compiler.cycles(loops, toy_compiler.default)
                )
        share = sum(reached.values()) / possible
        self.assertLess(possible, -3.0)
        self.assertGreaterEqual(share, 0.95)


if __name__ == "__main__":
    unittest.main()
