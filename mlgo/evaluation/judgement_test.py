"""Tests of mlgo.evaluation.judgement."""

import unittest

import numpy as np

from mlgo.evaluation.judgement import MIN_CHANGED, MIN_MODULES, Claim, judge, judge_summary
from mlgo.evaluation.statistics import summarize


class JudgementTest(unittest.TestCase):
    def test_two_modules_carry_no_claim(self):
        found = judge_summary(summarize({"a": [0.9] * 20, "b": [0.93] * 20}, seed=1))
        self.assertEqual(found.claim, Claim.TOO_SMALL)
        self.assertEqual(found.reason, "only 2 modules were compared, and a claim needs 8")
        self.assertIn("only 1 module was compared", judge(0.9, 0.9, 1, 20).reason)

    def test_enough_modules_carry_one(self):
        better = {f"m{number}": [0.9 + number / 1000] for number in range(MIN_MODULES)}
        worse = {name: [1 / ratio for ratio in ratios] for name, ratios in better.items()}
        self.assertEqual(judge_summary(summarize(better, seed=1)).claim, Claim.BETTER)
        self.assertEqual(judge_summary(summarize(worse, seed=1)).claim, Claim.WORSE)
        del better["m0"]
        self.assertEqual(judge_summary(summarize(better, seed=1)).claim, Claim.TOO_SMALL)

    def test_an_interval_that_holds_the_default_shows_no_difference(self):
        self.assertEqual(judge(0.98, 1.01, 30, 50).claim, Claim.NO_DIFFERENCE)
        # Equal everywhere is a result, not a lack of data.
        self.assertEqual(judge(1.0, 1.0, 30, 0).claim, Claim.NO_DIFFERENCE)

    def test_few_changes_carry_no_claim(self):
        found = judge(0.9, 0.99, 30, MIN_CHANGED - 1)
        self.assertEqual(
            (found.claim, found.reason), (Claim.TOO_SMALL, "only 5 of the scores changed, and a claim needs 6")
        )
        self.assertEqual(judge(0.9, 0.99, 30, MIN_CHANGED).claim, Claim.BETTER)

    def test_nothing_compared(self):
        self.assertEqual(judge_summary(None).reason, "nothing was compared")

    def test_claims_without_an_effect_are_rare(self):
        generator = np.random.default_rng(7)
        claims = {2: 0, MIN_MODULES: 0}
        for modules in claims:
            for seed in range(200):
                ratios = {str(number): [float(np.exp(generator.normal()))] for number in range(modules)}
                summary = summarize(ratios, seed, resamples=500)
                claims[modules] += judge_summary(summary).claim in (Claim.BETTER, Claim.WORSE)
        self.assertEqual(claims[2], 0)
        # 5 % of 200 are 10; 25 has a probability below 0.0001 at 6 %.
        self.assertLess(claims[MIN_MODULES], 25)


if __name__ == "__main__":
    unittest.main()
