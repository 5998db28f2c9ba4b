"""Closing lines: validation score, estimates, and the command that builds a release clang."""

import pathlib
import unittest

from mlgo.evaluation.corpora.comparison import Comparison
from mlgo.evaluation.judgement import MIN_MODULES
from mlgo.evaluation.statistics import summarize
from mlgo.problems.regalloc_eviction.problem import PROBLEM
from mlgo.training.summary import closing_lines

_LEARNED = {"validation_ratio": 0.985, "chosen_iteration": 40}


def _said(output: str, workspace: str | None, estimated: bool = False, comparison: Comparison | None = None) -> str:
    place = workspace and pathlib.Path(workspace)
    seconds = {"trace": 61.0, "export": 0.2}
    return "\n".join(closing_lines(pathlib.Path(output), place, comparison, seconds, PROBLEM, _LEARNED, estimated))


def _held_out(modules: int, ratio: float) -> Comparison:
    """A comparison of `modules` modules with ten functions each, all near `ratio`."""
    ratios = {f"m{number}": [ratio + number / 1e4] * 10 for number in range(modules)}
    summaries = {"policy": summarize(ratios, seed=1)}
    return Comparison(rows=(), summaries=summaries, unseen=summaries, failed={}, unmatched=0)


class SummaryTest(unittest.TestCase):
    def test_score_and_times(self):
        said = _said("/w/out/run", "/w")
        self.assertIn("chosen weights (iteration 40): -1.50 %", said)
        self.assertRegex(said, r"Time: +1:01 \(trace 1:01\)")
        self.assertNotIn("estimates", said)
        self.assertIn("//mlgo:evaluate -- --problem=regalloc_eviction", _said("/w/out/run", "/w", estimated=True))

    def test_two_held_out_modules_are_too_small_for_a_claim(self):
        said = _said("/w/out/run", "/w", comparison=_held_out(2, 0.918))
        self.assertIn(
            "too small to call this better or worse: only 2 modules were compared, and a claim needs 8.", said
        )
        self.assertNotIn("Better than the default", said)
        self.assertIn("Better than the default.", _said("/w/out/run", "/w", comparison=_held_out(MIN_MODULES, 0.918)))
        self.assertIn("Worse than the default", _said("/w/out/run", "/w", comparison=_held_out(MIN_MODULES, 1.1)))

    def test_a_policy_outside_of_the_workspace_is_copied_into_it(self):
        setting = f"--{PROBLEM.release_setting}="
        self.assertIn(f"./bazelw build //release:clang {setting}//out/run/policy:policy", _said("/w/out/run", "/w"))
        for workspace in ("/other", None):
            said = _said("/w/out/run", workspace)
            self.assertIn("cp -r /w/out/run/policy models/my_policy", said)
            self.assertIn(f"{setting}//models/my_policy:policy", said)

    def test_commands_name_any_folder_as_a_shell_needs_it(self):
        said = _said("/w/my out/run", "/w", estimated=True)
        self.assertIn(f"./bazelw build //release:clang '--{PROBLEM.release_setting}=//my out/run/policy:policy'", said)
        self.assertIn("//mlgo:evaluate -- --problem=regalloc_eviction '--policy=/w/my out/run/policy'", said)
        self.assertIn("cp -r '/w/$a/policy' models/my_policy", _said("/w/$a", None))


if __name__ == "__main__":
    unittest.main()
