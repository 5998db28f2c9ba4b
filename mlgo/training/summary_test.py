import dataclasses
import pathlib
import unittest
from collections.abc import Mapping

from mlgo.evaluation.comparison import Comparison, FunctionRow
from mlgo.evaluation.statistics import summarize
from mlgo.evaluation.verdict import MIN_MODULES
from mlgo.evaluation.weighted_sum import ScorePair, weighted_sum
from mlgo.problems.regalloc_eviction.problem import PROBLEM
from mlgo.training.summary import closing_lines

_LEARNED = {"validation_ratio": 0.985, "chosen_iteration": 40, "validations": {"0": 1.0, "40": 0.985}}


def _said(
    output: str = "/w/out/run",
    estimated: bool = False,
    comparison: Comparison | None = None,
    learned: Mapping[str, object] = _LEARNED,
    start: pathlib.Path | None = None,
) -> str:
    seconds = {"trace": 61.0, "export": 0.2}
    return "\n".join(closing_lines(pathlib.Path(output), comparison, seconds, PROBLEM, learned, estimated, start))


def _held_out(modules: int, ratio: float) -> Comparison:
    """A comparison of `modules` modules with ten functions each, all near `ratio`."""
    ratios = {f"m{number}": [ratio + number / 1e4] * 10 for number in range(modules)}
    summaries = {"policy": summarize(ratios, seed=1)}
    return Comparison(rows=(), summaries=summaries, unseen=summaries, failed={}, unmatched=0)


class SummaryTest(unittest.TestCase):
    def test_score_and_times(self):
        said = _said()
        self.assertIn("(iteration 40): -1.50 %, the best of 2 validations and therefore optimistic\n", said)
        only = {"validation_ratio": 0.985, "chosen_iteration": 0, "validations": {"0": 0.985}}
        self.assertTrue(_said(learned=only).splitlines()[1].endswith("(iteration 0): -1.50 %"))
        self.assertRegex(said, r"Time: +1:01 \(trace 1:01\)")
        self.assertNotIn("estimates", said)
        self.assertIn("//mlgo:evaluate -- --problem=regalloc_eviction", _said(estimated=True))

    def test_two_held_out_modules_are_too_small_for_a_claim(self):
        said = _said(comparison=_held_out(2, 0.918))
        small = "too small to call this better or worse: only 2 modules were compared, and a claim needs 8."
        self.assertIn(small, said)
        self.assertNotIn("Better than the default", said)
        self.assertIn("Better than the default.", _said(comparison=_held_out(MIN_MODULES, 0.918)))
        self.assertIn("Worse than the default", _said(comparison=_held_out(MIN_MODULES, 1.1)))

    def test_modules_that_fail_with_the_policy_only_are_counted(self):
        held_out, both = _held_out(MIN_MODULES, 0.9), {"b": "default: crash, policy: crash"}
        said = _said(comparison=dataclasses.replace(held_out, failed={"a": "policy: crash", **both}))
        self.assertIn("1 of these compile by default and not with", said)
        said = _said(comparison=dataclasses.replace(held_out, failed=both))
        self.assertIn("excluded because they failed: b", said)
        self.assertNotIn("not with the policy", said)

    def test_the_policy_is_installed_from_where_it_is(self):
        assert PROBLEM.release_setting is not None
        slot = PROBLEM.release_setting.rpartition(":")[2]
        for folder in ("/w/out/run", "/elsewhere"):
            install = './bazelw run //release:install -- --prefix="$HOME/mlgo-clang"'
            self.assertIn(f"{install} --{slot}={folder}/policy", _said(folder))

    def trained_further(self, policy: float, start: float, folder: str | None) -> str:
        """The closing lines of a training whose policy and start have these ratios to the default in ten functions."""
        ratios = {"policy": policy, "warm_start": start}
        scores = {name: 10.0 * ratio for name, ratio in ratios.items()}
        rows = [FunctionRow(f"m{index}", "f", 1, 10.0, scores, ratios, False) for index in range(10)]
        summaries = {name: summarize({row.module: [ratio] for row in rows}, 1) for name, ratio in ratios.items()}
        held_out = Comparison(rows, summaries, summaries, {}, 0)
        return _said("/w/run", comparison=held_out, start=pathlib.Path(folder) if folder else None)

    def test_a_policy_that_is_no_better_than_its_start_is_not_offered(self):
        said = self.trained_further(0.9372, 0.9328, "/w/start")
        worse = "No better than the policy that it started from (/w/start): worse by the weighted sum of 10"
        self.assertIn(worse, said)
        which = "the policy that the training started from, which is the better one:"
        self.assertIn(f"To install a clang with {which}", said)
        self.assertIn("--eviction_policy=/w/start\n", said + "\n")
        self.assertNotIn("--eviction_policy=/w/run", said)
        said = self.trained_further(0.99, 0.98, None)
        self.assertIn("No better than what it started from: worse by the weighted sum", said)
        self.assertIn("nothing to install that is better than the compiler's default", said)
        self.assertNotIn("//release:install", said)

    def test_a_policy_that_is_better_than_its_start_is_offered(self):
        said = self.trained_further(0.93, 0.98, "/w/start")
        self.assertIn("Better than the policy that it started from (/w/start): better by the weighted sum of 10", said)
        self.assertIn("--eviction_policy=/w/run/policy", said)
        said = self.trained_further(1.02, 1.04, "/w/start")
        self.assertIn("nothing to install that is better than the compiler's default", said)

    def test_without_held_out_modules_validation_tells(self):
        start, learned = pathlib.Path("/s"), {**_LEARNED, "validations": {"0": 0.95, "40": 0.985}}
        worse = "No better than the policy that it started from (/s) in validation: -1.50 % against -5.00 %"
        self.assertIn(worse, _said(learned=learned, start=start))
        learned |= {"validation_ratio": 0.95, "chosen_iteration": 0}
        said = _said(learned=learned, start=start)
        self.assertIn("it is the same, for no iteration was better in validation", said)

    def test_a_mean_that_the_weighted_sum_contradicts_is_no_gain(self):
        """The mean of 30 functions is 2.7 % better, while the five that carry the sum are 10 % worse."""
        pairs = [ScorePair(f"m{index}", "f", 10.0, 9.5) for index in range(25)]
        pairs += [ScorePair(f"n{index}", "hot", 1e4, 1.1e4) for index in range(5)]
        mean = summarize({pair.module: [pair.found / pair.default] for pair in pairs}, seed=1)
        summaries, weighted = {"policy": mean}, {"policy": weighted_sum(pairs, seed=1)}
        held_out = Comparison((), summaries, summaries, {}, 0, weighted)
        said = _said(comparison=held_out)
        self.assertRegex(said, r"weighted sum of the scores: \+9\.93 % \[")
        self.assertRegex(said, r"100 % of the sum is in 5 of 30 functions: hot 20 %,")
        self.assertIn("Not settled: the mean counts all functions alike", said)
        self.assertNotIn("Better than the default", said)
        said = _said(comparison=dataclasses.replace(held_out, weighted={"policy": None}))
        self.assertIn("Better than the default. Verdict: better by the geometric mean of 30 functions", said)

    def test_commands_name_any_folder_as_a_shell_needs_it(self):
        said = _said("/w/my out/run", estimated=True)
        self.assertIn(" '--eviction_policy=/w/my out/run/policy'", said)
        self.assertIn("//mlgo:evaluate -- --problem=regalloc_eviction '--policy=/w/my out/run/policy'", said)
