import dataclasses
import unittest

from mlgo.problems.problem import load_problem
from mlgo.score.problem_score import score_of
from mlgo.score.testing.code import log_of, sizes_of

SCORE = score_of(load_problem("inlining_for_size"))


def _credits(default, found, logs):
    return SCORE.for_corpus({"m": default}).credits_of("m", found, default, logs)


def _credit(default, found, log):
    (credited,) = _credits(default, [found], [log])
    return credited


class CreditTest(unittest.TestCase):
    def test_a_caller_is_credited_with_what_it_lost_and_with_the_callee_that_is_gone(self):
        contexts, credit = _credit(sizes_of(f=100, g=40), sizes_of(f=116), log_of(("f", "g", 1)))
        self.assertEqual((contexts, credit), (("f",), {"f": (40 - 16) / 16}))

    def test_what_a_caller_was_inlined_into_counts_and_nothing_else(self):
        log = log_of(("f", "g", 0), ("h", "f", 1), ("top", "h", 1), ("other", "x", 1))
        default = sizes_of(f=50, g=10, h=60, top=100, other=200, x=8)
        _, credit = _credit(default, sizes_of(f=34, g=10, h=60, top=84, other=300, x=8), log)
        self.assertEqual(credit, {"f": 2.0, "h": 1.0, "top": 1.0, "other": -100 / 16})

    def test_all_compiles_of_a_module_credit_a_caller_with_the_same_functions(self):
        # f is inlined into h in the first only; what happened to h otherwise is no merit of the second.
        logs = [log_of(("f", "g", 0), ("h", "f", 1)), log_of(("f", "g", 1), ("h", "f", 0))]
        default = sizes_of(f=50, g=10, h=100)
        found = [sizes_of(f=50, g=10, h=132), sizes_of(f=34, h=132)]
        (_, first), (_, second) = _credits(default, found, logs)
        self.assertEqual(first["f"], -2.0)
        self.assertEqual(second["f"], (16 - 32 + 10) / 16)

    def test_a_callee_counts_as_there_or_not(self):
        logs = [log_of(("f", "g", 0)), log_of(("f", "g", 0))]
        default = sizes_of(f=50, g=40)
        found = [sizes_of(f=50, g=40), sizes_of(f=50, g=70)]
        (_, first), (_, second) = _credits(default, found, logs)
        self.assertEqual((first, second), ({"f": 0.0}, {"f": 0.0}))

    def test_a_log_without_call_sites_credits_every_decision_with_the_module(self):
        log = dataclasses.replace(log_of(("f", "g", 1), ("h", "f", 0)), contexts=["", ""])
        contexts, credit = _credit(sizes_of(f=50, g=10, h=100), sizes_of(f=60, h=52), log)
        self.assertEqual((len(set(contexts)), list(credit.values())), (1, [(160 - 112) / 16]))
        self.assertEqual(set(contexts), set(credit))

    def test_recursion_ends(self):
        _, credit = _credit(sizes_of(f=32), sizes_of(f=16), log_of(("f", "g", 1), ("g", "f", 1)))
        self.assertEqual(credit, {"f": 1.0, "g": 1.0})

    def test_a_call_site_that_is_decided_twice_is_one_context_each(self):
        contexts, credit = _credit(sizes_of(f=32), sizes_of(f=16), log_of(("f", "g", 0), ("f", "g", 1)))
        self.assertEqual((contexts, credit), (("f", "f"), {"f": 1.0}))
