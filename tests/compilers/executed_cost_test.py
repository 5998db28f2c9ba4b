"""Training logs of register allocation with the executed cost as the reward (-mlgo-executed-cost)."""

import pathlib
import re
import subprocess
import tempfile
import unittest

import numpy as np

from mlgo.compiler.training_log import TrainingLog, read_training_log
from mlgo.problems.executed_cost import ExecutedCost
from mlgo.problems.problem import Problem, load_problem
from mlgo.run.locate import runfile
from tests.compilers import pressure

CLANG = "development/clang"
PARTS = ("1,0,0", "0,1,0", "0,0,1")
# Functions of one block, so that their assembly shows what a call executes.
STRAIGHT = """
long g(void);
long straight(const long *p, long *q) { q[0] = p[1] * 3 + p[2]; q[1] = p[3] - p[0]; return p[4]; }
long saved(long *p, long a, long b) { g(); p[1] = a; return p[0] + b; }
"""
TWICE = '__asm__ volatile("nop"); __asm__ volatile("nop");'
BRANCH = f"void f(int x) {{ if (__builtin_expect_with_probability(x, 1, 0.75)) {{ {TWICE} }} }}"
TARGET = "--target=x86_64-linux-gnu"


class ExecutedCostTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def run_clang(self, *flags: str) -> subprocess.CompletedProcess:
        command = [str(runfile(CLANG)), TARGET, "-O2", "-w", *flags]
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=120, check=False)

    def logged(self, source: str, problem: Problem, *flags: str) -> tuple[TrainingLog, bytes]:
        """The log and the object of `source`."""
        (self.folder / "x.c").write_text(source, encoding="utf-8")
        (self.folder / "x.log").unlink(missing_ok=True)
        done = self.run_clang("-c", "x.c", "-o", "x.o", *problem.development_flags("x.log", None), *flags)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return read_training_log(str(self.folder / "x.log"), problem), (self.folder / "x.o").read_bytes()

    def parts(self, source: str, *flags: str) -> dict[str, list[float]]:
        """By function: instructions, memory references, callee-saved registers."""
        found: dict[str, list[float]] = {}
        for weights in PARTS:
            problem = load_problem("regalloc_priority").with_cost(ExecutedCost.parse(weights))
            log, _ = self.logged(source, problem, *flags)
            for name, outcome in zip(log.contexts, log.outcomes.tolist(), strict=True):
                found.setdefault(name, []).append(outcome)
        return found

    def test_the_parts_are_those_of_the_assembly(self):
        parts = self.parts(STRAIGHT)
        self.assertEqual(list(parts), ["straight", "saved"])
        done = self.run_clang("-fno-asynchronous-unwind-tables", "-S", "x.c", "-o", "-")
        for name, found in parts.items():
            [body] = re.findall(rf"^{name}:(.*?)^\.Lfunc_end", done.stdout, re.DOTALL | re.MULTILINE)
            words = [line.split(maxsplit=1) for line in body.splitlines() if re.match(r"\t[a-z]", line)]
            saves = [word for word in words if word[0] in ("pushq", "popq")]
            others = [word for word in words if word not in saves]
            references = [word for word in others if "(" in word[-1] and not word[0].startswith("lea")]
            self.assertEqual(found, [len(others), len(references), len(saves) / 2], name)
        self.assertEqual(parts["saved"][2], 3)

    def test_blocks_count_as_often_as_they_are_executed(self):
        [rarely, often] = (self.parts(BRANCH.replace("0.75", chance))["f"] for chance in ("0.25", "0.75"))
        # Two statements in half of the calls.
        self.assertAlmostEqual(often[0] - rarely[0], 1, places=5)
        self.assertGreater(rarely[0], 3)
        self.assertEqual(often[1:], [0, 0])

    def test_only_the_reward_differs(self):
        text = pressure.loop("long", pressure.ARITHMETIC["integer"], 40, seed=1, arms=5)
        for name in ("regalloc_eviction", "regalloc_priority"):
            with self.subTest(name):
                score, code = self.logged(text, load_problem(name))
                cost, code_with_cost = self.logged(text, load_problem(f"{name}+executed_cost"))
                self.assertEqual(code, code_with_cost)
                self.assertGreater(score.observation_count, 0)
                np.testing.assert_array_equal(score.actions, cost.actions)
                for feature, values in score.features.items():
                    np.testing.assert_array_equal(values, cost.features[feature], feature)
                self.assertEqual(list(score.contexts), list(cost.contexts))
                self.assertNotEqual(score.outcomes.tolist(), cost.outcomes.tolist())

    def test_the_cost_is_the_weighted_sum(self):
        text = pressure.loop("long", pressure.ARITHMETIC["integer"], 40, seed=1)
        [instructions, references, saved] = self.parts(text)["f"]
        self.assertEqual(saved, 6)
        problem = load_problem("regalloc_priority+executed_cost.2,0.5,3")
        log, _ = self.logged(text, problem)
        [found] = log.outcomes.tolist()
        self.assertAlmostEqual(found / (2 * instructions + 0.5 * references + 3 * saved), 1, places=5)

    def test_the_weight_of_stores_does_not_matter(self):
        plain = self.parts(STRAIGHT)
        self.assertEqual(self.parts(STRAIGHT, "-mllvm", "-regalloc-store-weight=2"), plain)

    def test_refused(self):
        (self.folder / "x.c").write_text(STRAIGHT, encoding="utf-8")
        logged = load_problem("regalloc_priority").development_flags("x.log", None)
        for options, wrong in (
            (["-mlgo-executed-cost=1,1"], "-mlgo-executed-cost: needs three finite numbers"),
            (["-mlgo-executed-cost=1,1,-1"], "-mlgo-executed-cost: needs three finite numbers"),
            (["-mlgo-executed-cost=1,1,inf"], "-mlgo-executed-cost: needs three finite numbers"),
            (["-mlgo-executed-cost=1,1,4", "-regalloc-store-weight=0"], "-regalloc-store-weight of 0 or less"),
        ):
            with self.subTest(options):
                flags = [flag for option in options for flag in ("-mllvm", option)]
                done = self.run_clang("-c", "x.c", "-o", "x.o", *logged, *flags)
                self.assertEqual(done.returncode, 1)
                self.assertIn(wrong, done.stderr)
                self.assertNotIn("Stack dump", done.stderr)


if __name__ == "__main__":
    unittest.main()
