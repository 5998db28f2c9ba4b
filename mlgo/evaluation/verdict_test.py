"""Verdicts from measures that agree, contradict each other, or are silent."""

import unittest

from mlgo.evaluation.judgement import Claim, Judgement
from mlgo.evaluation.statistics import RatioSummary, summarize
from mlgo.evaluation.verdict import Evidence, corpus_verdict, count_evidence, counts_of_corpus, verdict
from mlgo.evaluation.weighted_sum import ScorePair, weighted_sum

_MEAN, _SUM = "the geometric mean of 140 functions", "the weighted sum"


def _evidence(measure: str, ratio: float, low: float, high: float) -> Evidence:
    return Evidence.of(measure, RatioSummary(140, 20, ratio, low, high, 70, 60, 10))


class VerdictTest(unittest.TestCase):
    def test_a_mean_against_the_weighted_sum_is_not_a_gain(self):
        for low, high, says in ((1.02, 1.20, "says worse"), (0.80, 1.40, "points to worse")):
            found = verdict([_evidence(_MEAN, 0.974, 0.96, 0.99), _evidence(_SUM, 1.09, low, high)])
            self.assertIs(found.claim, Claim.DISAGREEING)
            self.assertEqual(
                found.sentence(lambda each: f"{each.ratio:g}"),
                f"the measures disagree: {_MEAN} says better (0.974), {_SUM} {says} (1.09): not a gain",
            )

    def test_a_worse_score_against_fewer_instructions_is_no_verdict(self):
        found = verdict([_evidence(_MEAN, 1.016, 1.01, 1.03), Evidence.exact("instructions of jq", 0.981)])
        self.assertIs(found.claim, Claim.DISAGREEING)
        self.assertIn("instructions of jq says better (-1.90 %)", found.sentence())

    def test_measures_that_agree_are_both_named(self):
        found = verdict([_evidence(_MEAN, 0.97, 0.96, 0.98), _evidence(_SUM, 0.95, 0.93, 0.97)])
        self.assertIs(found.claim, Claim.BETTER)
        self.assertEqual(
            found.sentence(), f"better by {_MEAN} (-3.00 % [-4.00, -2.00]); {_SUM} agrees (-5.00 % [-7.00, -3.00])"
        )

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
        self.assertEqual(Evidence.exact("instructions", 1.00004).judgement, Judgement(Claim.NO_DIFFERENCE))

    def test_too_few_modules_claim_nothing_and_contradict_nothing(self):
        few = Evidence.of(_MEAN, RatioSummary(20, 2, 0.9, 0.85, 0.95, 20, 0, 0))
        found = verdict([few, Evidence.of(_SUM, RatioSummary(20, 2, 1.09, 1.05, 1.1, 5, 15, 0))])
        self.assertIs(found.claim, Claim.TOO_SMALL)
        self.assertTrue(
            found.sentence().startswith("too small for a claim: only 2 modules were compared, and a claim needs 8; ")
        )

    def test_nothing_to_compare(self):
        self.assertEqual(verdict([]).to_json(), {"claim": "too small for a claim", "sentence": "nothing to compare"})


class CorpusVerdictTest(unittest.TestCase):
    def setUp(self):
        # 29 of 30 functions become 5 % better; the one that carries the sum becomes 10 % worse.
        pairs = [ScorePair(f"m{index}", "f", 10.0, 9.5) for index in range(29)] + [ScorePair("n", "hot", 1e4, 1.1e4)]
        self.mean = summarize({pair.module: [pair.found / pair.default] for pair in pairs}, seed=1)
        self.weighted = weighted_sum(pairs, seed=1)

    def test_scores_that_one_function_carries(self):
        found = corpus_verdict("functions", self.mean, self.weighted)
        self.assertIs(found.claim, Claim.DISAGREEING)
        self.assertIn("the geometric mean of 30 functions says better", found.sentence())
        self.assertRegex(found.sentence(), r"the weighted sum points to worse \(\+9\.58 % \[.*\]\): not a gain$")

    def test_without_a_sum_the_mean_decides(self):
        self.assertIs(corpus_verdict("functions", self.mean, None).claim, Claim.BETTER)

    def test_linked_code_decides_where_there_is_an_image(self):
        linked = RatioSummary(10, 10, 0.98, 0.97, 0.99, 8, 1, 1)
        found = corpus_verdict("modules", self.mean, self.weighted, linked)
        self.assertEqual(
            (found.claim, found.sentence()),
            (Claim.BETTER, "better by linked code of 10 modules (-2.00 % [-3.00, -1.00])"),
        )

    def test_counts_are_of_the_only_corpus_or_of_that_of_their_name(self):
        run = {
            "jq": {"default": {"instructions": 1000}, "mine": {"instructions": 981}},
            "other": {"default": {"instructions": 1000}},
        }
        counts = count_evidence(run, "mine", "default")
        self.assertEqual(list(counts), ["jq"])
        self.assertEqual(counts["jq"].percent(), "-1.90 %")
        self.assertEqual(counts_of_corpus(counts, "anything", 1), [counts["jq"]])
        self.assertEqual(counts_of_corpus(counts, "anything", 2), [])
        self.assertEqual(counts_of_corpus(counts, "jq", 2), [counts["jq"]])

    def test_counts_join_and_are_left_where_nothing_else_was_compared(self):
        counts = [Evidence.exact("instructions of jq", 1.02)]
        self.assertIn("instructions of jq", corpus_verdict("functions", self.mean, None, counts=counts).sentence())
        self.assertIs(corpus_verdict("functions", None, None, counts=counts).claim, Claim.WORSE)


if __name__ == "__main__":
    unittest.main()
