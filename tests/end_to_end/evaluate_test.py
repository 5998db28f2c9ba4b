"""//mlgo:evaluate on real modules, with the real compiler and linker. Argument: the linker."""

import csv
import json
import os
import pathlib
import re
import shlex
import shutil
import sys
import tempfile
import unittest
from typing import Any

import numpy as np

from mlgo.learning.linear_network import linear_network
from mlgo.learning.network import NetworkConfig, initial_network
from mlgo.learning.normalization import chosen_normalizer
from mlgo.policy.saved_model import save_policy
from mlgo.problems.inlining_for_size.problem import PROBLEM as INLINING
from mlgo.run.exit_codes import ExitCode
from tests.end_to_end import command, real_modules

_LINKER = pathlib.Path(sys.argv.pop()).absolute()


class EvaluateTest(unittest.TestCase):
    folder: pathlib.Path
    flags: list[str]
    said: str
    result: dict[str, Any]

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        real_modules.smallest("oz_held_out", 6, cls.folder / "corpus")
        # The stock decision, cost_estimate < 5, and one that inlines up to a cost of 50: z is linear in the cost.
        normalizer = chosen_normalizer({"cost_estimate": (-1000, 0, 5, 50, 1000)}, INLINING)
        like = initial_network(normalizer, 1, NetworkConfig((4,), (4,)))
        for name, bias in (("stock", 2.4), ("eager", 4.2)):
            network = linear_network(like, np.array([-1.0 / 1.5] * 4 + [bias - 1.0]))
            save_policy(network, INLINING, cls.folder / name)
        cls.flags = [
            f"--clang={real_modules.development_clang()}",
            f"--linker={_LINKER}",
            f"--corpus=few={cls.folder / 'corpus'}",
            f"--policy={cls.folder / 'stock'}",
            f"--policy=generous={cls.folder / 'eager'}",
            "--inline_thresholds=5,50",
            f"--output_dir={cls.folder / 'out'}",
        ]
        code, cls.said = command.run(*cls.flags, program="evaluate")
        if code != ExitCode.DONE:
            raise AssertionError(f"exit code {code}:\n{cls.said}")
        cls.result = json.loads((cls.folder / "out" / "result.json").read_text(encoding="utf-8"))["corpora"]["few"]

    def test_who_decides_as_the_default_does_is_equal_to_it(self):
        for side in ("stock", "threshold_5"):
            linked = self.result["linked_code"][side]
            self.assertEqual((linked["geometric_mean"], linked["low"], linked["high"]), (1.0, 1.0, 1.0), side)
            self.assertEqual(self.result["all_functions"][side]["equal"], 6, side)

    def test_who_decides_otherwise_is_not(self):
        for side in ("generous", "threshold_50"):
            self.assertNotEqual(self.result["linked_code"][side]["geometric_mean"], 1.0, side)
            self.assertLess(self.result["all_functions"][side]["equal"], 6, side)

    def test_the_table_holds_what_the_totals_are_made_of(self):
        with open(self.folder / "out" / "modules.csv", encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual({row["policy"] for row in rows}, {"stock", "generous", "threshold_5", "threshold_50"})
        generous = [row for row in rows if row["policy"] == "generous"]
        self.assertEqual(
            sum(int(row["linked_bytes"]) for row in generous), self.result["linked_code_bytes"]["generous"]
        )
        self.assertIn("| few | generous |", (self.folder / "out" / "summary.md").read_text(encoding="utf-8"))
        self.assertRegex(self.said, r"few, generous: .*; the same without ML: (the default, for|threshold_50 -)")

    def test_the_worst_come_with_a_command_that_gives_the_same_again(self):
        with open(self.folder / "out" / "modules.csv", encoding="utf-8", newline="") as file:
            ratios = {(row["policy"], row["module"]): row["ratio"] for row in csv.DictReader(file)}
        text = (self.folder / "out" / "worst_regressions.md").read_text(encoding="utf-8")
        worst = max((key for key in ratios if key[0] == "generous"), key=lambda key: float(ratios[key]))
        self.assertGreater(float(ratios[worst]), 1.0, "the corpus is no example: take other modules")
        lines = [
            line
            for line in text.splitlines()
            if line.startswith("    ./bazelw run //mlgo:evaluate -- ") and "generous" in line
        ]
        flags = shlex.split(lines[0].partition(" -- ")[2])
        self.assertIn(f"--module_filter=^{re.escape(worst[1])}$", flags)
        flags = [flag for flag in flags if not flag.startswith("--output_dir")]
        code, said = command.run(*flags, *self.flags[:2], f"--output_dir={self.folder / 'again'}", program="evaluate")
        self.assertEqual(code, ExitCode.DONE, said)
        with open(self.folder / "again" / "modules.csv", encoding="utf-8", newline="") as file:
            again = list(csv.DictReader(file))
        self.assertEqual([(row["module"], row["ratio"]) for row in again], [(worst[1], ratios[worst])])

    def test_a_sample_is_a_part_of_the_corpus(self):
        flags = [*self.flags[:4], "--sampling_rate=0.5", f"--output_dir={self.folder / 'sample'}"]
        code, said = command.run(*flags, program="evaluate")
        self.assertEqual(code, ExitCode.DONE, said)
        result = json.loads((self.folder / "sample" / "result.json").read_text(encoding="utf-8"))["corpora"]["few"]
        self.assertEqual(result["modules"], 3)
        self.assertNotEqual(result["digest"], self.result["digest"])

    def test_it_goes_on_where_it_stopped(self):
        before = (self.folder / "out" / "result.json").read_bytes()
        shutil.rmtree(self.folder / "out" / "few" / "generous.linked")
        code, said = command.run(*self.flags, program="evaluate")
        self.assertEqual(code, ExitCode.DONE, said)
        self.assertEqual(said.count("done before"), 9)
        self.assertEqual((self.folder / "out" / "result.json").read_bytes(), before)

    def test_a_folder_takes_further_sides_and_corpora(self):
        output = f"--output_dir={self.folder / 'grown'}"
        code, said = command.run(*self.flags[:4], output, program="evaluate")
        self.assertEqual(code, ExitCode.DONE, said)
        code, said = command.run(*self.flags[:-1], output, program="evaluate")
        self.assertEqual((code, said.count("done before")), (ExitCode.DONE, 4), said)  # Two sides, and their images.
        grown = (self.folder / "grown" / "result.json").read_bytes()
        self.assertEqual(grown, (self.folder / "out" / "result.json").read_bytes())
        second = f"--corpus=again={self.folder / 'corpus'}"
        code, said = command.run(*self.flags[:-1], second, output, program="evaluate")
        self.assertEqual((code, said.count("done before")), (ExitCode.DONE, 10), said)
        code, said = command.run(*self.flags[:-1], output, program="evaluate")
        self.assertEqual(code, ExitCode.USER_ERROR, said)
        self.assertRegex(said, "inputs.corpora.again: was '[0-9a-f]+', now None")

    def test_a_folder_of_other_results_stays(self):
        before = command.outputs(self.folder / "out")
        other = [flag.replace("few=", "other=") for flag in self.flags]
        for flags, difference in (
            ([*self.flags, "--icf"], "configuration.icf: was False, now True"),
            ([*self.flags, "--seed=7"], "configuration.seed: was 1, now 7"),
            (other, "inputs.corpora.few: was '[0-9a-f]+', now None"),
        ):
            code, said = command.run(*flags, program="evaluate")
            self.assertEqual(code, ExitCode.USER_ERROR, said)
            self.assertRegex(said, f"holds a run with another configuration:(.|\n)*{difference}")
            self.assertIn("Give the old values, or another --output_dir, or delete", said)
        self.assertEqual(command.outputs(self.folder / "out"), before)

    def test_a_policy_that_is_worse_than_allowed_ends_in_an_exit_code(self):
        # Done before, so only the judgement is new. The stock decision is never worse than itself.
        worst = max(self.result["linked_code"][side]["geometric_mean"] for side in ("stock", "generous"))
        for allowed, expected in (
            (100 * (worst - 1) + 0.01, ExitCode.DONE),
            (100 * (worst - 1) - 0.01, ExitCode.OUTPUT_DIFFERS),
        ):
            code, said = command.run(*self.flags, f"--fail_if_worse_than={allowed:.4f}%", program="evaluate")
            self.assertEqual(code, expected, said)
        self.assertRegex(said, r"Worse by more than -?\d+\.\d+%: few: (stock|generous)")

    def test_refusals(self):
        for flags, message in (
            (self.flags[:3], "--policy: is not given"),
            ([*self.flags, f"--policy=stock={self.folder}"], "would have the name 'stock', which is taken"),
            ([*self.flags[:5], "--inline_thresholds=5,many"], "holds 'many'"),
            ([*self.flags[:5], f"--policy=default={self.folder}"], "would have the name 'default'"),
            ([*self.flags, "--fail_if_worse_than=much"], "is not a percentage"),
            ([*self.flags, "--reward=much"], "reward 'much' is not supported"),
            ([*self.flags, "--problem=regalloc_eviction"], "is for 'inlining_for_size', not for 'regalloc_eviction'"),
        ):
            code, said = command.run(*flags, program="evaluate")
            self.assertEqual(code, ExitCode.USER_ERROR, said)
            self.assertIn(message, said)
            self.assertNotIn("Traceback", said)


if __name__ == "__main__":
    os.environ["TF_USE_LEGACY_KERAS"] = "1"
    unittest.main()
