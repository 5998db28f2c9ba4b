"""Which bytes count, and which decision is credited with them."""

import math
import unittest

import numpy as np

from mlgo.compiler.code_size import FunctionCode, ObjectCode
from mlgo.compiler.training_log import TrainingLog
from mlgo.problems.problem import load_problem
from mlgo.score.code_size import COMDAT_WEIGHTED_CODE, LINKED_CODE, OBJECT_TEXT, code_scores
from mlgo.score.function_scores import NON_FUNCTION_BYTES, FunctionScore
from mlgo.score.problem_score import score_of

SCORE = score_of(load_problem("inlining_for_size"))


def _log(*decisions: tuple[str, str, int]) -> TrainingLog:
    """A log of (caller, callee, inlined)."""
    return TrainingLog(
        contexts=[f"{caller}\n{callee}" for caller, callee, _ in decisions],
        observation_context=np.arange(len(decisions), dtype=np.int32),
        features={},
        actions=np.array([[inlined] for _, _, inlined in decisions], np.int64),
        outcomes=np.full(len(decisions), np.nan, np.float32),
        extra_outputs={},
    )


def _sizes(rest: float = 0.0, **functions: float) -> dict[str, FunctionScore]:
    return {
        NON_FUNCTION_BYTES: FunctionScore(0, rest),
        **{name: FunctionScore(1, size) for name, size in functions.items()},
    }


def _credit(default, found, log, reward=COMDAT_WEIGHTED_CODE):
    (credited,) = SCORE.measure({"m": default}, reward).improvements_of("m", [found], default, [log])
    return credited


class CreditTest(unittest.TestCase):
    def test_a_caller_is_credited_with_what_it_lost_and_with_the_callee_that_is_gone(self):
        contexts, credit = _credit(_sizes(f=100, g=40), _sizes(f=116), _log(("f", "g", 1)))
        self.assertEqual((contexts, credit), (("f",), {"f": (40 - 16) / 16}))

    def test_what_a_caller_was_inlined_into_counts_and_nothing_else(self):
        log = _log(("f", "g", 0), ("h", "f", 1), ("top", "h", 1), ("other", "x", 1))
        default = _sizes(f=50, g=10, h=60, top=100, other=200, x=8)
        _, credit = _credit(default, _sizes(f=34, g=10, h=60, top=84, other=300, x=8), log)
        self.assertEqual(credit, {"f": 2.0, "h": 1.0, "top": 1.0, "other": -100 / 16})

    def test_all_compiles_of_a_module_credit_a_caller_with_the_same_functions(self):
        # f is inlined into h in the first only; what happened to h otherwise is no merit of the second.
        logs = [_log(("f", "g", 0), ("h", "f", 1)), _log(("f", "g", 1), ("h", "f", 0))]
        default = _sizes(f=50, g=10, h=100)
        found = [_sizes(f=50, g=10, h=132), _sizes(f=34, h=132)]
        (_, first), (_, second) = SCORE.measure({"m": default}).improvements_of("m", found, default, logs)
        self.assertEqual(first["f"], -2.0)
        self.assertEqual(second["f"], (16 - 32 + 10) / 16)

    def test_a_callee_counts_as_there_or_not(self):
        logs = [_log(("f", "g", 0)), _log(("f", "g", 0))]
        default = _sizes(f=50, g=40)
        found = [_sizes(f=50, g=40), _sizes(f=50, g=70)]
        (_, first), (_, second) = SCORE.measure({"m": default}).improvements_of("m", found, default, logs)
        self.assertEqual((first, second), ({"f": 0.0}, {"f": 0.0}))

    def test_recursion_ends(self):
        _, credit = _credit(_sizes(f=32), _sizes(f=16), _log(("f", "g", 1), ("g", "f", 1)))
        self.assertEqual(credit, {"f": 1.0, "g": 1.0})

    def test_a_call_site_that_is_decided_twice_is_one_context_each(self):
        contexts, credit = _credit(_sizes(f=32), _sizes(f=16), _log(("f", "g", 0), ("f", "g", 1)))
        self.assertEqual((contexts, credit), (("f", "f"), {"f": 1.0}))


class WeightsTest(unittest.TestCase):
    def setUp(self):
        shared = FunctionScore(1, 80.0, comdat="shared")
        self.default = {"a": {**_sizes(rest=20, f=20), "s": shared}, "b": {**_sizes(rest=5, g=10), "s": shared}}

    def test_a_comdat_counts_in_parts(self):
        measure = SCORE.measure(self.default)
        self.assertEqual(measure.compared("a", self.default["a"]), {"": FunctionScore(2, 60.0)})
        found = {**self.default["a"], "s": FunctionScore(1, 40.0, comdat="shared")}
        self.assertEqual(measure.module_improvement("a", found, self.default["a"]), (-math.log(40 / 60), 1.0))

    def test_a_comdat_that_no_module_carried_counts_in_full(self):
        new = {**self.default["a"], "n": FunctionScore(1, 15.0, comdat="new")}
        self.assertEqual(SCORE.measure(self.default).compared("a", new)[""].score, 75.0)

    def test_all_of_the_text_counts_in_full(self):
        self.assertEqual(SCORE.measure(self.default, OBJECT_TEXT).compared("a", self.default["a"])[""].score, 120.0)

    def test_linked_once_a_comdat_counts_where_the_linker_takes_it_from(self):
        measure = SCORE.measure(self.default, LINKED_CODE)
        first, second = self.default["a"], self.default["b"]
        self.assertEqual(measure.compared("a", first)[""].score, 100.0)
        self.assertEqual(measure.compared("b", second)[""].score, 10.0)
        # A second copy is not kept, however large. The first one counts in full. If it is gone, the second is kept.
        larger = FunctionScore(1, 200.0, comdat="shared")
        self.assertEqual(measure.compared("b", {**second, "s": larger})[""].score, 10.0)
        self.assertEqual(measure.compared("a", {**first, "s": larger})[""].score, 220.0)
        without = {name: score for name, score in first.items() if name != "s"}
        self.assertEqual(measure.compared("a", without)[""].score, 100.0)
        alone = SCORE.measure({"a": first}, LINKED_CODE)
        self.assertEqual(alone.compared("a", without)[""].score, 20.0)
        new = FunctionScore(1, 7.0, comdat="new")
        self.assertEqual(measure.compared("b", {**second, "n": new})[""].score, 17.0)

    def test_linked_code_of_all_modules_is_the_image(self):
        measure = SCORE.measure(self.default, LINKED_CODE)
        self.assertEqual(
            sum(measure.compared(name, scores)[""].score for name, scores in self.default.items()), 20 + 10 + 80
        )

    def test_an_empty_module_is_not_compared(self):
        self.assertIsNone(SCORE.measure(self.default).module_improvement("a", _sizes(rest=3), self.default["a"]))

    def test_another_reward_is_refused_by_name(self):
        with self.assertRaisesRegex(
            ValueError,
            "reward 'bytes' is not supported; the rewards are comdat_weighted_code, linked_code, object_text",
        ):
            SCORE.measure(self.default, "bytes")


class ScoresTest(unittest.TestCase):
    def test_the_rest_of_the_text_and_of_the_decisions(self):
        code = ObjectCode((FunctionCode("f", 10, None), FunctionCode("s", 6, "s")), code_bytes=20, text_bytes=30)
        found = code_scores(code, _log(("f", "g", 1), ("f", "h", 0), ("gone", "h", 1)))
        self.assertEqual(
            found,
            {"f": FunctionScore(2, 10.0), "s": FunctionScore(0, 6.0, "s"), NON_FUNCTION_BYTES: FunctionScore(1, 14.0)},
        )


if __name__ == "__main__":
    unittest.main()
