"""Which bytes of a module count under each reward."""

import math
import unittest

from mlgo.compiler.code_size import FunctionCode, ObjectCode
from mlgo.problems.problem import load_problem
from mlgo.score.code_size import LINKED_CODE, OBJECT_TEXT, code_scores
from mlgo.score.function_scores import NON_FUNCTION_BYTES, FunctionScore
from mlgo.score.problem_score import score_of
from mlgo.score.testing.code import log_of, sizes_of

SCORE = score_of(load_problem("inlining_for_size"))


class WeightsTest(unittest.TestCase):
    def setUp(self):
        shared = FunctionScore(1, 80.0, comdat="shared")
        self.default = {"a": {**sizes_of(rest=20, f=20), "s": shared}, "b": {**sizes_of(rest=5, g=10), "s": shared}}

    def test_a_comdat_counts_in_parts(self):
        corpus_score = SCORE.for_corpus(self.default)
        self.assertEqual(corpus_score.comparison_rows("a", self.default["a"]), {"": FunctionScore(2, 60.0)})
        found = {**self.default["a"], "s": FunctionScore(1, 40.0, comdat="shared")}
        self.assertEqual(corpus_score.module_improvement("a", found, self.default["a"]), (-math.log(40 / 60), 1.0))

    def test_a_comdat_that_no_module_carried_counts_in_full(self):
        new = {**self.default["a"], "n": FunctionScore(1, 15.0, comdat="new")}
        self.assertEqual(SCORE.for_corpus(self.default).comparison_rows("a", new)[""].score, 75.0)

    def test_all_of_the_text_counts_in_full(self):
        self.assertEqual(
            SCORE.for_corpus(self.default, OBJECT_TEXT).comparison_rows("a", self.default["a"])[""].score, 120.0
        )

    def test_linked_once_a_comdat_counts_where_the_linker_takes_it_from(self):
        corpus_score = SCORE.for_corpus(self.default, LINKED_CODE)
        first, second = self.default["a"], self.default["b"]
        self.assertEqual(corpus_score.comparison_rows("a", first)[""].score, 100.0)
        self.assertEqual(corpus_score.comparison_rows("b", second)[""].score, 10.0)
        # A second copy is not kept, however large. The first one counts in full. If it is gone, the second is kept.
        larger = FunctionScore(1, 200.0, comdat="shared")
        self.assertEqual(corpus_score.comparison_rows("b", {**second, "s": larger})[""].score, 10.0)
        self.assertEqual(corpus_score.comparison_rows("a", {**first, "s": larger})[""].score, 220.0)
        without = {name: score for name, score in first.items() if name != "s"}
        self.assertEqual(corpus_score.comparison_rows("a", without)[""].score, 100.0)
        alone = SCORE.for_corpus({"a": first}, LINKED_CODE)
        self.assertEqual(alone.comparison_rows("a", without)[""].score, 20.0)
        new = FunctionScore(1, 7.0, comdat="new")
        self.assertEqual(corpus_score.comparison_rows("b", {**second, "n": new})[""].score, 17.0)

    def test_linked_code_of_all_modules_is_the_image(self):
        corpus_score = SCORE.for_corpus(self.default, LINKED_CODE)
        self.assertEqual(
            sum(corpus_score.comparison_rows(name, scores)[""].score for name, scores in self.default.items()),
            20 + 10 + 80,
        )

    def test_an_empty_module_is_not_compared(self):
        self.assertIsNone(SCORE.for_corpus(self.default).module_improvement("a", sizes_of(rest=3), self.default["a"]))

    def test_another_reward_is_refused_by_name(self):
        with self.assertRaisesRegex(
            ValueError,
            "reward 'bytes' is not supported; the rewards are comdat_weighted_code, linked_code, object_text",
        ):
            SCORE.for_corpus(self.default, "bytes")


class ScoresTest(unittest.TestCase):
    def test_the_rest_of_the_text_and_of_the_decisions(self):
        code = ObjectCode((FunctionCode("f", 10, None), FunctionCode("s", 6, "s")), code_bytes=20, text_bytes=30)
        found = code_scores(code, log_of(("f", "g", 1), ("f", "h", 0), ("gone", "h", 1)))
        self.assertEqual(
            found,
            {"f": FunctionScore(2, 10.0), "s": FunctionScore(0, 6.0, "s"), NON_FUNCTION_BYTES: FunctionScore(1, 14.0)},
        )


if __name__ == "__main__":
    unittest.main()
