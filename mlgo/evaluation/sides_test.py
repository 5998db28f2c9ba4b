import pathlib
import sys
import unittest

from mlgo.evaluation.policies import Policies
from mlgo.evaluation.sides import (
    DEFAULT,
    CalleeSavedCost,
    Side,
    best_without_ml,
    compiler_sides,
    costs_from_flags,
    is_without_ml,
    side_and_cost,
    threshold_of,
    threshold_sides,
    with_costs,
    without_ml_text,
)
from mlgo.problems.inlining_for_size.problem import PROBLEM as INLINING
from mlgo.problems.regalloc_eviction.problem import PROBLEM as EVICTION
from mlgo.run.exit_codes import RunError

_CLANG = pathlib.Path(sys.executable)


class ThresholdsTest(unittest.TestCase):
    def test_sides_in_the_given_order_each_once(self):
        sides = threshold_sides(["25", "-5", "25"], INLINING, _CLANG)
        self.assertEqual(
            [(side.name, side.flags) for side in sides],
            [
                ("threshold_25", ("-mllvm", "-inline-threshold=25")),
                ("threshold_-5", ("-mllvm", "-inline-threshold=-5")),
            ],
        )
        self.assertEqual([threshold_of(side.name) for side in sides], ["25", "-5"])
        self.assertIsNone(threshold_of(DEFAULT))

    def test_what_is_no_threshold_is_refused(self):
        for wrong in ("many", "", "5.0", "1234567", " 5"):
            with self.assertRaisesRegex(RunError, f"holds '{wrong}'"):
                threshold_sides(["5", wrong], INLINING, _CLANG)
        self.assertEqual(threshold_sides([], EVICTION, _CLANG), [])
        with self.assertRaisesRegex(RunError, "--inline_thresholds: is not supported for regalloc_eviction"):
            threshold_sides(["5"], EVICTION, _CLANG)


class CalleeSavedCostsTest(unittest.TestCase):
    def test_costs(self):
        by_function, everywhere = CalleeSavedCost(5), CalleeSavedCost(5, everywhere=True)
        found = costs_from_flags(["5", "1", "5"], ["5"], EVICTION)
        self.assertEqual(found, [CalleeSavedCost(1), by_function, everywhere])
        self.assertEqual(costs_from_flags([], [], INLINING), [])
        self.assertEqual(by_function.flags(), ("-mllvm", "-mlgo-callee-saved-cost=5"))
        self.assertEqual(everywhere.flags(), ("-mllvm", "-regalloc-csr-first-time-cost=5"))
        for wrong in ("0", "-1", "1.5", "", "x", "4294967296", "²"):
            with self.subTest(wrong), self.assertRaisesRegex(RunError, "--callee_saved_costs=7,.*: holds .*Give whole"):
                costs_from_flags(["7", wrong], [])
            with self.subTest(wrong), self.assertRaisesRegex(RunError, "--csr_first_time_costs=.*: holds .*Give whole"):
                costs_from_flags([], [wrong])
        with self.assertRaisesRegex(RunError, "--callee_saved_costs: is not supported for inlining_for_size"):
            costs_from_flags(["5"], [], INLINING)
        with self.assertRaisesRegex(RunError, "--csr_first_time_costs: is not supported for inlining_for_size"):
            costs_from_flags([], ["5"], INLINING)

    def test_names(self):
        costs = [CalleeSavedCost(5), CalleeSavedCost(7, everywhere=True)]
        named = with_costs([Side(DEFAULT, _CLANG), Side("policy", _CLANG, ("-x",))], costs)
        names = ["default_callee_saved_by_function_5", "policy_callee_saved_by_function_5"]
        names += ["default_callee_saved_7", "policy_callee_saved_7"]
        self.assertEqual([side.name for side in named], names)
        self.assertEqual(named[1].flags, ("-x", *costs[0].flags()))
        self.assertEqual([side_and_cost(each.name) for each in named[1::2]], [("policy", cost) for cost in costs])
        found = side_and_cost("a_callee_saved_b_callee_saved_5")
        self.assertEqual(found, ("a_callee_saved_b", CalleeSavedCost(5, everywhere=True)))
        for other in ("policy", "callee_saved_5", "a_callee_saved_", "a_callee_saved_x", "threshold_5"):
            self.assertIsNone(side_and_cost(other), other)


class CompilersTest(unittest.TestCase):
    def test_a_name_a_path_and_flags(self):
        plain, with_flags = compiler_sides([f"a={_CLANG}", f"b={_CLANG},-mllvm,-x"], [])
        self.assertEqual((plain.name, plain.flags), ("a", ()))
        self.assertEqual((with_flags.name, with_flags.flags), ("b", ("-mllvm", "-x")))
        self.assertTrue(plain.clang.is_file())

    def test_names_are_taken_once(self):
        for values, message in (
            (["mine"], "--compiler=mine: is not NAME=PATH"),
            (["..=/bin/true"], "--compiler=..=/bin/true: is not NAME=PATH"),
            (["policy=/bin/true"], "has the name 'policy', which is taken"),
            (["default=/bin/true"], "has the name 'default', which is taken"),
            (["threshold_7=/bin/true"], "has the name 'threshold_7', which is taken"),
            (["allocations_3=/bin/true"], "has the name 'allocations_3', which is taken"),
            (["x_callee_saved_5=/bin/true"], "has the name 'x_callee_saved_5', which is taken"),
            (["x_callee_saved_by_function_5=/bin/true"], "'x_callee_saved_by_function_5', which is taken"),
            (["a=/bin/true", "a=/bin/false"], "has the name 'a', which is taken"),
            (["a=/no/such/clang"], "/no/such/clang"),
        ):
            with self.subTest(values=values), self.assertRaisesRegex(RunError, message):
                compiler_sides(values, ["policy"])


class PoliciesTest(unittest.TestCase):
    def test_a_policy_is_known_by_its_digest_and_not_by_the_folder_of_its_model(self):
        def sides(folder: str, digest: str) -> list[Side]:
            return Policies(EVICTION, {}, {"mine": digest}).program_sides(_CLANG, lambda _: pathlib.Path(folder))

        (here,), (elsewhere,), (other,) = sides("/a", "d1"), sides("/b", "d1"), sides("/a", "d2")
        self.assertIn("-regalloc-model=/a", here.model_flags)
        self.assertEqual(here.digest(), elsewhere.digest())
        self.assertEqual(len({Side(DEFAULT, _CLANG).digest(), here.digest(), other.digest()}), 3)

    def test_a_cost_asks_the_same_policy(self):
        (costly,) = with_costs(Policies(EVICTION, {}, {"trained": "abc"}).sides(_CLANG), [CalleeSavedCost(5)])
        self.assertEqual((costly.name, costly.policy), ("trained_callee_saved_by_function_5", "regalloc_eviction abc"))


class WithoutMlTest(unittest.TestCase):
    def test_policies_are_none_of_these_sides(self):
        for side in ("threshold_5", "threshold_-5", "default_callee_saved_by_function_7", "packaged_callee_saved_7"):
            self.assertTrue(is_without_ml(side), side)
        for side in (
            "default",
            "policy",
            "policy_callee_saved_by_function_7",
            "policy_callee_saved_7",
            "allocations_18",
        ):
            self.assertFalse(is_without_ml(side), side)

    def test_an_option_that_is_worse_than_the_default_is_not_the_best(self):
        self.assertEqual(best_without_ml({"threshold_5": 0.99, "threshold_9": 0.98, "policy": 0.9}), "threshold_9")
        self.assertEqual(best_without_ml({"threshold_5": 1.01, "threshold_9": 1.0, "policy": 0.9}), "default")
        self.assertIsNone(best_without_ml({"policy": 0.9}))

    def test_text(self):
        self.assertEqual(without_ml_text({"threshold_5": 0.99}), "; the same without ML: threshold_5 -1.00 %")
        self.assertIn("without ML: the default, for no option", without_ml_text({"threshold_5": 1.01}))
        self.assertEqual(without_ml_text({"policy": 0.9}), "")
