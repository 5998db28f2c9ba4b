"""Comparisons are paired; results that differ in problem, reward, compiler or corpus are refused."""

import dataclasses
import unittest

from hypothesis import HealthCheck, given, settings, strategies

from mlgo.evaluation.statistics import RatioSummary
from mlgo.evaluation.verdict import Claim
from mlgo.reporting import comparison
from mlgo.reporting.comparison import Contender, Pairing, verdict_lines
from mlgo.reporting.records import CorpusResult, Row, SideResult
from mlgo.reporting.testing import made_up
from mlgo.reporting.testing.folder_case import FolderTestCase
from mlgo.run.exit_codes import ExitCode, RunError


def _contender(name: str, rows: list[Row], **fields) -> Contender:
    corpus = CorpusResult("c", None, [SideResult("p", None, rows=rows)], {}, 0)
    return Contender(**{"name": name, "problem": "p", "reward": "r", "clang": "c", "corpora": [corpus], **fields})


def _rows(ratios: list[float], linked: bool = False) -> list[Row]:
    found = []
    for score, ratio in enumerate(ratios, 1000):
        sizes = (1000, round(1000 * ratio)) if linked else ()
        found.append(Row(f"m{score - 1000}", "", float(score), score * ratio, ratio, *sizes))
    return found


def _compare(*rows: list[Row], **fields) -> list[Pairing]:
    """Contenders a, b, ... with these rows, which `fields` describe, compared."""
    return comparison.compare([_contender(name, own, **fields) for name, own in zip("abc", rows)], 1)


def _against_first(pairing: Pairing) -> RatioSummary:
    """Of a pairing that is not the first contender's."""
    assert pairing.against_first is not None
    return pairing.against_first


class CompareTest(unittest.TestCase):
    def test_pairing_removes_common_variation(self):
        # Against the default anything from -50 to +50 %; against each other always exactly 1 % apart.
        ratios = [0.5, 0.7, 0.9, 1.1, 1.3, 1.5]
        _, second = _compare(_rows(ratios), _rows([1.01 * ratio for ratio in ratios]))
        against_first = _against_first(second)
        for value in (against_first.geometric_mean, against_first.low, against_first.high):
            self.assertAlmostEqual(value, 1.01)
        self.assertLess(second.against_default.low, 0.8)
        self.assertGreater(second.against_default.high, 1.2)
        self.assertEqual(against_first.worse, 6)

    def test_linked_code_decides_where_there_is_any(self):
        _, pairing = _compare(_rows([1.0, 1.0], linked=True), _rows([0.5, 1.0], linked=True))
        self.assertTrue(pairing.linked)
        # Of the sums; the geometric mean would be 0.71.
        self.assertEqual(_against_first(pairing).geometric_mean, 0.75)

    def test_images_of_other_linkers_are_not_compared(self):
        rows = [dataclasses.replace(row, default_linked=500, linked=450) for row in _rows([0.9], linked=True)]
        _, pairing = _compare(_rows([1.0], linked=True), rows)
        self.assertFalse(pairing.linked)
        self.assertAlmostEqual(_against_first(pairing).geometric_mean, 0.9)

    # Each example is two bootstraps, and how long they take says nothing.
    @settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(strategies.lists(strategies.tuples(*[strategies.floats(0.5, 2.0)] * 2), min_size=1, max_size=8))
    def test_the_other_way_round_is_the_inverse(self, pairs):
        first, second = (_rows([pair[index] for pair in pairs]) for index in range(2))
        forth, back = (_against_first(_compare(*both)[1]) for both in ([first, second], [second, first]))
        self.assertAlmostEqual(forth.geometric_mean * back.geometric_mean, 1.0)
        self.assertEqual((forth.better, forth.worse, forth.equal), (back.worse, back.better, back.equal))

    def test_the_weighted_sum_can_contradict_the_mean_against_the_first(self):
        scores = [Row(f"m{index}", "f", 10.0, 10.0, 1.0) for index in range(25)]
        scores += [Row(f"n{index}", "f", 1e4, 1e4, 1.0) for index in range(5)]
        changes = [(row, 0.95 if row.score == 10.0 else 1.1) for row in scores]
        second = [Row(row.module, "f", row.default_score, change * row.score, change) for row, change in changes]
        pairings = _compare(scores, second)
        self.assertIsNone(pairings[0].verdict)
        found, verdict = pairings[1].sum_against_first, pairings[1].verdict
        assert found is not None and verdict is not None
        self.assertAlmostEqual(found.summary.geometric_mean, (25 * 9.5 + 5 * 1.1e4) / (25 * 10.0 + 5 * 1e4))
        self.assertIs(verdict.claim, Claim.DISAGREEING)
        (line,) = verdict_lines(pairings)
        self.assertTrue(line.startswith("c, b against a: the measures disagree: the weighted sum of 30"), line)

    def test_a_score_that_is_maximised_is_better_in_its_sum_when_it_grows(self):
        first = [Row(f"m{index}", "f", 10.0, 10.0, 1.0) for index in range(9)]
        second = [Row(row.module, "f", 10.0, 20.0, 0.5) for row in first]
        found = _compare(first, second)[1].sum_against_first
        assert found is not None
        self.assertEqual(found.summary.geometric_mean, 0.5)

    def test_rows_that_one_side_lacks_are_omitted_for_all_and_counted(self):
        pairings = _compare(_rows([1.0, 1.0, 3.0]), _rows([1.0, 1.0]))
        self.assertEqual([(each.left_out, each.against_default.functions) for each in pairings], [(1, 2)] * 2)

    def test_worse_by_more_than_allowed(self):
        pairings = _compare(_rows([1.0]), _rows([1.002]), _rows([0.9]))
        self.assertEqual(comparison.worse_than(pairings, 0.001), ["c: b +0.20 %"])
        self.assertEqual(comparison.worse_than(pairings, 0.003), [])

    def test_another_problem_reward_or_compiler_is_refused(self):
        first = _contender("a", _rows([1.0]), folding="kept")
        for field, message in (
            ("problem", "problem than a: 'other' instead of 'p'"),
            ("reward", "reward than a: 'other' instead of 'r'"),
            ("clang", "clang than a: 'other' instead of 'c'"),
            ("folding", "linking of identical functions than a: 'other' instead of 'kept'"),
        ):
            message = f"b: is of another {message}. These cannot be compared; evaluate both"
            with self.assertRaisesRegex(RunError, message):
                comparison.compare([first, _contender("b", _rows([1.0]), **{field: "other"})], 1)
            # It is not recorded: the rows decide.
            self.assertEqual(len(comparison.compare([first, _contender("b", _rows([1.0]), **{field: None})], 1)), 2)

    def test_another_default_is_refused(self):
        wrong = "in c: 7 instead of 1000 for m0, so corpus, compiler or reward differ"
        with self.assertRaisesRegex(RunError, f"b: has another default than a {wrong}"):
            _compare(_rows([1.0]), [Row("m0", "", 7.0, 7.0, 1.0)])


class FoldersTest(FolderTestCase):
    def contenders(self, name, all_sides=False):
        return comparison.contenders_of(self.read(name), name, all_sides)

    def written(self, name, better=0.02, **more):
        made_up.write_evaluation(self.folder / name, {"p": better}, **more)

    def compared(self):
        return comparison.compare([*self.contenders("a"), *self.contenders("b")], 1)

    def test_policies_are_named_as_their_folder_and_thresholds_take_part_when_asked(self):
        self.written("e", thresholds={"threshold_15": 0.01})
        made_up.write_evaluation(self.folder / "two", {"p": 0.02, "q": 0.03})
        cases = (("e", False, ["e"]), ("e", True, ["p", "threshold_15"]), ("two", False, ["two:p", "two:q"]))
        for folder, all_sides, names in cases:
            self.assertEqual([contender.name for contender in self.contenders(folder, all_sides)], names)

    def test_another_content_of_a_corpus_is_refused(self):
        self.written("a")
        self.written("b", digests={"alpha": "a" * 64, "beta": "f" * 64})
        message = "b: was measured on another content of beta than a: ffffffffffff instead of bbbbbbbbbbbb"
        with self.assertRaisesRegex(RunError, message):
            self.compared()

    def test_an_evaluation_that_folded_functions_is_refused(self):
        for name in "ab":
            self.written(name)
        with self.edited("b/result.json") as content:
            content["icf"] = True
        with self.assertRaisesRegex(RunError, "b: is of another linking .* 'folded' instead of 'kept'.*--icf"):
            self.compared()

    def test_corpora_that_not_all_have_are_named(self):
        self.written("a", corpora=("alpha", "beta"))
        self.written("b", 0.03, corpora=("beta", "gamma"))
        both = [*self.contenders("a"), *self.contenders("b")]
        self.assertEqual({pairing.corpus for pairing in comparison.compare(both, 1)}, {"beta"})
        self.assertEqual(comparison.left_out_corpora(both), ["alpha", "gamma"])

    def test_nothing_in_common_is_refused_with_what_each_has(self):
        self.written("a", corpora=("alpha",))
        self.written("b", 0.03, corpora=("beta",))
        with self.assertRaisesRegex(RunError, "have no corpus in common: a has alpha; b has beta") as caught:
            self.compared()
        self.assertEqual(caught.exception.exit_code, ExitCode.NOTHING_PRODUCED)

    def test_a_corpus_is_the_same_under_another_name(self):
        for name in "ab":
            self.written(name, corpora=("alpha",))
        with self.edited("b/result.json") as content:
            content["corpora"] = {"other": content["corpora"]["alpha"]}
        table = self.folder / "b" / "modules.csv"
        table.write_text(table.read_text("utf-8").replace("alpha,", "other,"), "utf-8")
        found = self.compared()
        self.assertEqual([pairing.corpus for pairing in found], ["alpha", "alpha"])
        self.assertEqual(_against_first(found[1]).geometric_mean, 1.0)

    def test_runs_are_compared_by_their_held_out_functions(self):
        made_up.write_run(self.folder / "a", better=0.01)
        made_up.write_run(self.folder / "b", better=0.03)
        found = self.compared()
        self.assertEqual([pairing.corpus for pairing in found], ["held_out", "held_out"])
        self.assertLess(_against_first(found[1]).high, 1.0)
        self.assertEqual((found[1].linked, _against_first(found[1]).functions), (False, 27))

    def test_a_run_that_has_not_ended_is_refused(self):
        made_up.write_run(self.folder / "a", ended=False)
        with self.assertRaisesRegex(RunError, "a: has no modules.csv or functions.csv"):
            self.contenders("a")
