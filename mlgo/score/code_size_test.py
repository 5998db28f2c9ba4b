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

    def size(self, module: str, reward: str = "", corpus: str = "ab", **changed: FunctionScore | None) -> float:
        """What counts of a module whose functions are changed or, if None, gone."""
        scores = {name: score for name, score in {**self.default[module], **changed}.items() if score is not None}
        corpus_score = SCORE.for_corpus({name: self.default[name] for name in corpus}, reward)
        return corpus_score.comparison_rows(module, scores)[""].score

    def test_a_comdat_counts_in_parts(self):
        corpus_score, default = SCORE.for_corpus(self.default), self.default["a"]
        self.assertEqual(corpus_score.comparison_rows("a", default), {"": FunctionScore(2, 60.0)})
        found = {**default, "s": FunctionScore(1, 40.0, comdat="shared")}
        self.assertEqual(corpus_score.module_improvement("a", found, default), (-math.log(40 / 60), 1.0))

    def test_a_comdat_that_no_module_carried_counts_in_full(self):
        self.assertEqual(self.size("a", n=FunctionScore(1, 15.0, comdat="new")), 75.0)

    def test_all_of_the_text_counts_in_full(self):
        self.assertEqual(self.size("a", OBJECT_TEXT), 120.0)

    def test_linked_once_a_comdat_counts_where_the_linker_takes_it_from(self):
        # Together they are the image.
        self.assertEqual([self.size(module, LINKED_CODE) for module in "ab"], [20 + 80, 10])
        # A second copy is not kept, however large. The first one counts in full. If it is gone, the second is kept.
        larger, new = FunctionScore(1, 200.0, comdat="shared"), FunctionScore(1, 7.0, comdat="new")
        self.assertEqual(self.size("b", LINKED_CODE, s=larger), 10.0)
        self.assertEqual(self.size("a", LINKED_CODE, s=larger), 220.0)
        self.assertEqual(self.size("a", LINKED_CODE, s=None), 100.0)
        self.assertEqual(self.size("a", LINKED_CODE, corpus="a", s=None), 20.0)
        self.assertEqual(self.size("b", LINKED_CODE, n=new), 17.0)

    def test_an_empty_module_is_not_compared(self):
        self.assertIsNone(SCORE.for_corpus(self.default).module_improvement("a", sizes_of(rest=3), self.default["a"]))

    def test_another_reward_is_refused_by_name(self):
        wrong = "reward 'bytes' is not supported; the rewards are comdat_weighted_code, linked_code, object_text"
        with self.assertRaisesRegex(ValueError, wrong):
            SCORE.for_corpus(self.default, "bytes")


class ScoresTest(unittest.TestCase):
    def test_the_rest_of_the_text_and_of_the_decisions(self):
        code = ObjectCode((FunctionCode("f", 10, None), FunctionCode("s", 6, "s")), code_bytes=20, text_bytes=30)
        found = code_scores(code, log_of(("f", "g", 1), ("f", "h", 0), ("gone", "h", 1)))
        functions = {"f": FunctionScore(2, 10.0), "s": FunctionScore(0, 6.0, "s")}
        self.assertEqual(found, {**functions, NON_FUNCTION_BYTES: FunctionScore(1, 14.0)})
