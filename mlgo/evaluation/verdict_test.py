import functools
import unittest

import numpy as np

from mlgo.evaluation.statistics import RatioSummary, summarize
from mlgo.evaluation.verdict import (
    MIN_CHANGED,
    MIN_MODULES,
    Claim,
    Evidence,
    Judgement,
    corpus_verdict,
    judge,
    judge_summary,
    verdict,
    verdict_over_corpora,
)
from mlgo.evaluation.weighted_sum import ScorePair, weighted_sum

_MEAN, _SUM = "the geometric mean of 140 functions", "the weighted sum"


def _evidence(measure: str, ratio: float, low: float, high: float) -> Evidence:
    return Evidence.of(measure, RatioSummary(140, 20, ratio, low, high, 70, 60, 10))


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
        expected = (Claim.TOO_SMALL, "only 5 of the scores changed, and a claim needs 6")
        self.assertEqual((found.claim, found.reason), expected)
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


class VerdictTest(unittest.TestCase):
    def test_a_mean_against_the_weighted_sum_is_not_a_gain(self):
        found = verdict([_evidence(_MEAN, 0.974, 0.96, 0.99), _evidence(_SUM, 1.09, 1.02, 1.20)])
        self.assertIs(found.claim, Claim.DISAGREEING)
        for said in (f"{_MEAN} says better (0.974)", f"{_SUM} says worse (1.09)", "not a gain"):
            self.assertIn(said, found.sentence(lambda each: f"{each.ratio:g}"))

    def test_an_interval_with_0_contradicts_nothing(self):
        found = verdict([_evidence(_MEAN, 0.974, 0.96, 0.99), _evidence(_SUM, 1.09, 0.80, 1.40)])
        self.assertIs(found.claim, Claim.BETTER)
        self.assertIn(f"{_SUM} alone shows no difference (+9.00 % [-20.00, +40.00])", found.sentence())

    def test_a_measure_without_a_claim_is_named_beside_two_that_disagree(self):
        others = [_evidence(_SUM, 1.01, 0.9, 1.1), Evidence.exact("the count", 1.02)]
        found = verdict([_evidence(_MEAN, 0.974, 0.96, 0.99), *others])
        self.assertIs(found.claim, Claim.DISAGREEING)
        self.assertIn(f"{_SUM} shows no difference", found.sentence())

    def test_bytes_of_code_stand_beside(self):
        found = verdict([_evidence(_SUM, 0.97, 0.96, 0.98)], code=1.0321)
        self.assertEqual(found.sentence(), f"better by {_SUM} (-3.00 % [-4.00, -2.00]); code +3.21 %")

    def test_measures_that_agree_are_both_named(self):
        found = verdict([_evidence(_MEAN, 0.97, 0.96, 0.98), _evidence(_SUM, 0.95, 0.93, 0.97)])
        self.assertIs(found.claim, Claim.BETTER)
        for said in (f"better by {_MEAN} (-3.00 % [-4.00, -2.00])", f"{_SUM} agrees (-5.00 % [-7.00, -3.00])"):
            self.assertIn(said, found.sentence())

    def test_a_silent_measure_on_the_same_side_leaves_the_headline(self):
        found = verdict([_evidence(_MEAN, 1.03, 1.02, 1.04), _evidence(_SUM, 1.01, 0.9, 1.2)])
        self.assertIs(found.claim, Claim.WORSE)
        self.assertIn(f"{_SUM} alone shows no difference", found.sentence())

    def test_where_nothing_claims_a_difference_signs_say_nothing(self):
        found = verdict([_evidence(_MEAN, 0.99, 0.95, 1.03), _evidence(_SUM, 1.09, 0.9, 1.3)])
        self.assertIs(found.claim, Claim.NO_DIFFERENCE)
        self.assertIn(f"{_SUM} shows none either", found.sentence())

    def test_a_silent_headline_is_not_made_a_gain_by_another_measure(self):
        found = verdict([_evidence(_MEAN, 0.99, 0.95, 1.03), _evidence(_SUM, 0.9, 0.85, 0.95)])
        self.assertIs(found.claim, Claim.NO_DIFFERENCE)
        self.assertIn(f"{_SUM} says better", found.sentence())

    def test_a_change_that_rounds_to_0_contradicts_nothing(self):
        found = verdict([_evidence(_MEAN, 0.97, 0.96, 0.98), _evidence(_SUM, 1.00004, 0.9, 1.2)])
        self.assertIs(found.claim, Claim.BETTER)
        for ratio in (1.00004, 0.99996):
            self.assertEqual(Evidence.exact("instructions", ratio).judgement, Judgement(Claim.NO_DIFFERENCE))

    def test_too_few_modules_claim_nothing_and_contradict_nothing(self):
        few = Evidence.of(_MEAN, RatioSummary(20, 2, 0.9, 0.85, 0.95, 20, 0, 0))
        found = verdict([few, Evidence.of(_SUM, RatioSummary(20, 2, 1.09, 1.05, 1.1, 5, 15, 0))])
        self.assertIs(found.claim, Claim.TOO_SMALL)
        for said in ("too small for a claim", "only 2 modules were compared, and a claim needs 8"):
            self.assertIn(said, found.sentence())

    def test_nothing_to_compare(self):
        self.assertEqual(verdict([]).to_json(), {"claim": "too small for a claim", "sentence": "nothing to compare"})


class SimulationTest(unittest.TestCase):
    """How often a real gain is called a disagreement by chance: an interval excludes 0 on one side in 2.5 to 4 %."""

    DRAWS = 1000
    generator: np.random.Generator
    gains: list[Evidence]

    @classmethod
    def setUpClass(cls):
        cls.generator = np.random.Generator(np.random.Philox(7))
        cls.gains = [Evidence.of(_MEAN, cls.drawn(-0.03, 0.05, 30, seed)) for seed in range(cls.DRAWS)]
        shown = sum(gain.judgement.claim is Claim.BETTER for gain in cls.gains)
        assert shown > 0.8 * cls.DRAWS, "the gain is seen in most draws"

    @classmethod
    def drawn(cls, effect, deviation, modules, seed):
        """The summary of `modules` modules whose logarithms are normal."""
        ratios = np.exp(cls.generator.normal(effect, deviation, modules))
        return summarize({f"m{index:02}": [ratio] for index, ratio in enumerate(ratios)}, seed, resamples=1000)

    def disagreeing(self, second_measure):
        """The fraction of draws in which a gain of 3 % and `second_measure(seed)` disagree."""
        claims = [verdict([gain, second_measure(seed)]).claim for seed, gain in enumerate(self.gains)]
        return claims.count(Claim.DISAGREEING) / self.DRAWS

    def null(self, modules, seed):
        return Evidence.of(_SUM, self.drawn(0.0, 0.1, modules, seed))

    def test_a_true_null_as_second_measure(self):
        for modules in (8, 30):
            share = self.disagreeing(functools.partial(self.null, modules))
            self.assertLess(share, 0.05, f"{modules} modules")

    def test_two_real_effects_on_opposite_sides_do_disagree(self):
        self.assertGreater(self.disagreeing(lambda seed: Evidence.of(_SUM, self.drawn(0.1, 0.1, 30, seed))), 0.8)


class CorpusVerdictTest(unittest.TestCase):
    def setUp(self):
        # 25 of 30 functions become 5 % better; the five that carry the sum become 10 % worse.
        pairs = [ScorePair(f"m{index}", "f", 10.0, 9.5) for index in range(25)]
        pairs += [ScorePair(f"n{index}", "hot", 1e4, 1.1e4) for index in range(5)]
        self.mean = summarize({pair.module: [pair.found / pair.default] for pair in pairs}, seed=1)
        self.weighted = weighted_sum(pairs, seed=1)

    def test_scores_that_few_functions_carry(self):
        found = corpus_verdict("functions", self.mean, self.weighted)
        self.assertIs(found.claim, Claim.DISAGREEING)
        self.assertRegex(found.sentence(), r"the weighted sum of 30 functions says worse \(\+9\.93 % \[.*not a gain")
        self.assertIn("their geometric mean says better", found.sentence())

    def test_the_weighted_sum_leads(self):
        pairs = [ScorePair(f"m{index}", "f", 10.0, 9.5) for index in range(30)]
        found = corpus_verdict("functions", self.mean, weighted_sum(pairs, seed=1), code=1.01)
        expected = r"better by the weighted sum of 30 functions .*; their geometric mean agrees"
        self.assertRegex(found.sentence(), expected)
        self.assertTrue(found.sentence().endswith("; code +1.00 %"))

    def test_corpora_count_once(self):
        one = [RatioSummary(9, 9, ratio, 0.9, 1.1, 9, 0, 0) for ratio in (0.99, 0.98, 0.995)]
        found = verdict_over_corpora({"linked code": [None, *one[1:]], "the weighted sum": one, "the mean": one})
        self.assertEqual(
            found.sentence(),
            "no difference shown by the weighted sum of 3 corpora of equal weight (-1.17 % [-3.05, +0.75]);"
            " the mean of 3 corpora of equal weight shows none either (-1.17 % [-3.05, +0.75])",
        )

    def test_without_a_sum_the_mean_decides(self):
        self.assertIs(corpus_verdict("functions", self.mean, None).claim, Claim.BETTER)

    def test_linked_code_decides_where_there_is_an_image(self):
        linked = RatioSummary(10, 10, 0.98, 0.97, 0.99, 8, 1, 1)
        found = corpus_verdict("modules", self.mean, self.weighted, linked)
        self.assertIs(found.claim, Claim.BETTER)
        self.assertIn("better by linked code of 10 modules (-2.00 % [-3.00, -1.00])", found.sentence())
        self.assertEqual([each.measure for each in found.evidence], ["linked code of 10 modules"])
