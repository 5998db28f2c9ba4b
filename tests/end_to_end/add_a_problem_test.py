"""docs/add-a-problem.md alone suffices: its files and its command, on a copy of the workspace, train a good policy."""

import csv
import json
import math
import pathlib
import shlex
import sys
import tempfile
import unittest

import numpy as np

import mlgo.problems
from mlgo.compiler.testing import fake_clang
from mlgo.problems.problem import load_problem
from mlgo.run import locate
from tests.architecture import edges
from tests.end_to_end import command, toy_compiler
from tests.end_to_end.copied_sources import COMMAND, copy_sources_of_page

NAME = "toy_prefetching"


class AddAProblemTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.page = locate.runfile("docs/add-a-problem.md").read_text(encoding="utf-8")
        self.workspace = self.folder / "workspace"
        copy_sources_of_page(self.workspace, self.page)
        mlgo.problems.__path__ = [*mlgo.problems.__path__, str(self.workspace / "mlgo" / "problems")]
        self.problem = load_problem(NAME)

    def corpus(self, name: str, seed: int, modules: int) -> dict[str, dict]:
        """Writes a corpus of random modules; returns them by name."""
        random = np.random.Generator(np.random.Philox(seed))
        contents = {f"{name}{n}": toy_compiler.made_up_module(random, functions=4, loops=6) for n in range(modules)}
        (self.folder / name).mkdir()
        fake_clang.write_corpus(self.folder / name, contents)
        return {module: json.loads(content) for module, content in contents.items()}

    def run_command(self, clang: pathlib.Path, *more: str) -> tuple[int, str]:
        """Runs the command of the page, with paths of this test in place of the page's."""
        ((program, flags),) = COMMAND.findall(self.page)
        paths = {
            "/path/to/clang": clang,
            "/data/corpus": self.folder / "train",
            "/data/held_out_corpus": self.folder / "held_out",
            f"out/{NAME.removesuffix('_prefetching')}": self.folder / "out",
        }
        words = [word.partition("=") for word in shlex.split(flags.replace("\\\n", ""))]
        given = [f"{flag}={paths.get(value, value)}" for flag, _, value in words]
        self.assertEqual(set(map(str, paths)) - {value for _, _, value in words}, set(), "paths that the page lacks")
        return command.Command([*given, *more], program, [str(self.workspace), *sys.path]).end()

    def test_the_page_is_enough_to_train_a_good_policy(self):
        self.corpus("train", 1, 20)
        modules = self.corpus("held_out", 2, 8)
        (self.folder / "bin").mkdir()
        with toy_compiler.ToyCompiler(self.folder / "bin", self.problem) as compiler:
            code, said = self.run_command(compiler.clang)
        self.assertEqual(code, 0, said)
        with open(self.folder / "out/held_out/functions.csv", encoding="utf-8", newline="") as file:
            ratios = {(row["module"], row["function"]): float(row["policy_ratio"]) for row in csv.DictReader(file)}
        best = {
            (module, function): toy_compiler.throughput(loops, toy_compiler.default)
            / toy_compiler.throughput(loops, toy_compiler.best)
            for module, functions in modules.items()
            for function, loops in functions.items()
        }
        self.assertEqual(ratios.keys(), best.keys())
        reached, possible = (sum(map(math.log, found.values())) for found in (ratios, best))
        self.assertLess(possible, -10.0)
        self.assertGreaterEqual(reached / possible, 0.8, said)

    def test_bazel_finds_the_package(self):
        (target,) = (
            target
            for target in edges.python_targets(self.workspace, "mlgo/problems/BUILD.bazel")
            if target.label == "//mlgo/problems:problems"
        )
        self.assertIn(f"//mlgo/problems/{NAME}:{NAME}", target.deps)
        (mine,) = edges.python_targets(self.workspace, f"mlgo/problems/{NAME}/BUILD.bazel")
        self.assertEqual(
            (mine.label, mine.sources), (f"//mlgo/problems/{NAME}:{NAME}", (f"mlgo/problems/{NAME}/problem.py",))
        )

    def test_a_wrong_name_is_answered_with_the_problems_there_are(self):
        code, said = self.run_command(self.folder / "clang", "--problem=toy")
        self.assertEqual(code, 2)
        self.assertIn("the problems are inlining_for_size, regalloc_eviction, regalloc_priority, toy_prefetching", said)


if __name__ == "__main__":
    unittest.main()
