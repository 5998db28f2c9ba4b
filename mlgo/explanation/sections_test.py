"""Selection of the decisions to show."""

import unittest

from mlgo.explanation.decision import typical_of
from mlgo.explanation.function_report import Shown, sections_of
from mlgo.explanation.queried_policy import queried_policy
from mlgo.explanation.replay import replay
from mlgo.explanation.testing import states
from mlgo.problems.inlining_for_size.problem import PROBLEM as INLINING

_ASKED = queried_policy(states.stock_inliner(15), INLINING)


def _view(seed: int = 1, costs=(10, 30, 12)):
    recorded = states.inlining("m", 6, seed)
    recorded.features["cost_estimate"][:3, 0] = costs
    recorded.taken[:3] = 0
    return recorded, replay(_ASKED, INLINING, recorded)


def _sections(default, policy, **shown):
    view = default or policy
    return sections_of(
        _ASKED, INLINING, default, policy, typical_of(INLINING, [view[0]], [view[1].observations]), Shown("f0", **shown)
    )


class SectionsTest(unittest.TestCase):
    def test_a_functions_decisions_all_or_some(self):
        for shown, expected in (
            ({}, [0, 1, 2]),
            ({"callees": {"g1", "g2"}}, [1, 2]),
            ({"only_different": True}, [0, 2]),
            ({"limit": 1}, [0]),
        ):
            section = _sections(_view(), None, **shown)[0]
            self.assertEqual([each.number for each in section.decisions], expected, shown)
        self.assertEqual((section.total, section.differing), (3, 2))

    def test_states_that_both_compiles_have_are_shown_once(self):
        first, second = _sections(_view(), _view())
        self.assertEqual((len(first.decisions), len(second.decisions)), (3, 0))
        self.assertIn("All states are those above.", second.remark)
        first, second = _sections(_view(), _view(costs=(10, 31, 12)))
        self.assertEqual([each.number for each in second.decisions], [1, 2])
        self.assertIn("Before decision 1 the states are those above.", second.remark)
        first, second = _sections(_view(), _view(costs=(10, 31, 12)), callees={"g0", "g2"})
        self.assertIn("All states are those above.", second.remark)

    def test_a_function_may_have_decisions_in_one_compile_only(self):
        (own,) = _sections(None, _view())
        self.assertEqual(len(own.decisions), 3)
        self.assertIn("LLVM also asked the heuristic.", own.remark)
        self.assertNotIn("above", own.remark)


if __name__ == "__main__":
    unittest.main()
