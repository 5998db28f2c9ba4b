import dataclasses
import unittest

from mlgo.evaluation.callee_saved_costs import cost_flags, costs_from_flags, side_and_cost, with_costs
from mlgo.run.exit_codes import RunError


@dataclasses.dataclass(frozen=True)
class Side:
    name: str
    flags: tuple[str, ...] = ()


class CalleeSavedCostsTest(unittest.TestCase):
    def test_costs(self):
        self.assertEqual(costs_from_flags(["32768", "1", "32768"]), [1, 32768])
        self.assertEqual(costs_from_flags([]), [])
        self.assertEqual(cost_flags(5), ("-mllvm", "-regalloc-csr-first-time-cost=5"))
        for wrong in ("0", "-1", "1.5", "", "x", "4294967296", "²"):
            with self.subTest(wrong), self.assertRaisesRegex(RunError, "--callee_saved_costs=7,.*: holds .*Give whole"):
                costs_from_flags(["7", wrong])

    def test_names(self):
        named = with_costs([Side("default"), Side("policy", ("-x",))], [5, 7])
        names = ["default_callee_saved_5", "policy_callee_saved_5", "default_callee_saved_7", "policy_callee_saved_7"]
        self.assertEqual([side.name for side in named], names)
        self.assertEqual(named[1].flags, ("-x", *cost_flags(5)))
        self.assertEqual(side_and_cost(named[1].name), ("policy", 5))
        self.assertEqual(side_and_cost("a_callee_saved_b_callee_saved_5"), ("a_callee_saved_b", 5))
        for other in ("policy", "callee_saved_5", "a_callee_saved_", "a_callee_saved_x", "threshold_5"):
            self.assertIsNone(side_and_cost(other), other)


if __name__ == "__main__":
    unittest.main()
