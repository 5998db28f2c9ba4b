"""One function as text and as a page: selection of the decisions to show, and their presentation."""

import html
import io
import re
import unittest

from mlgo.explanation import function_report as reports
from mlgo.explanation.decision import typical_of
from mlgo.explanation.function_report import FunctionRequest, Shown
from mlgo.explanation.testing import states
from mlgo.pages import terminal
from mlgo.pages.rendering import html as html_of
from mlgo.problems.inlining_for_size.problem import PROBLEM as INLINING
from mlgo.problems.regalloc_eviction.problem import PROBLEM as EVICTION
from mlgo.problems.regalloc_priority.problem import PROBLEM as PRIORITY
from mlgo.score.function_scores import FunctionScore
from mlgo.trace.outcomes import ModuleRecord, Outcome

_HOSTILE = "f<script>alert('x')</script>&\"{{ 7 * 7 }}"


def _record(**functions):
    scores = {name: FunctionScore(1, float(score)) for name, score in functions.items()}
    return ModuleRecord(Outcome.TRACED, functions=scores)


def _page(network, problem, recorded, name="f0", **request):
    """The page of the function f0, or of the only one, which is called `name`."""
    function = recorded.function(0)
    shown = Shown(FunctionRequest("policy", **request), function, {function: name, "g0": name})
    records = [_record(**{function: 2}), _record(**{function: 1})]
    answers = states.replayed(network, problem, recorded)
    return reports.function_page("0123456789abcdef", answers, None, records, shown)


def _text(page) -> str:
    stream = io.StringIO()
    terminal.show(stream, page)
    return stream.getvalue()


def _calls(seed=1, costs=(10, 30, 12)):
    """Calls, of which f0 has three; the heuristic keeps them."""
    recorded = states.inlining("m", 6, seed)
    recorded.features["cost_estimate"][:3, 0] = costs
    recorded.taken[:3] = 0
    return recorded


class FunctionReportTest(unittest.TestCase):
    def test_text_has_values_choices_and_contributions(self):
        text = _text(_page(states.stock_inliner(15), INLINING, _calls(), features=1, limit=1))
        for part in (
            "inlining_for_size: f0",
            "in m, policy policy (0123456789ab)",
            "this function: bytes of code: 2 under the default, 1 under the policy",
            "Decision 0: call of f0 (differs)",
            "cost_estimate",
            "3 decisions, 2 differ from the heuristic; 2 more decisions are not shown, see --limit",
        ):
            self.assertIn(part, text)
        self.assertRegex(text, r"policy:    (inline|keep the call), p [01]\.\d\d, z [+-]\d\.\d\d, of a median state")
        self.assertNotIn("\x1b", text)  # No colours where there is no terminal.

    def test_an_evictors_text_compares_candidates(self):
        text = _text(_page(states.largest_evictor(), EVICTION, states.eviction("m", 8, 1), all_features=True))
        choice = (
            r"evict (nothing|at \d+), p 0\.\d\d, of \d candidates, margin \d\.\d\d over the heuristic's choice, evict"
        )
        self.assertRegex(text, f"policy:    {choice}")
        self.assertRegex(text, r"heuristic: evict (nothing|at \d+), to which the policy gives p 0\.\d\d")
        self.assertRegex(text, r"All it was shown, at evict .*:\n  mask: +1\n  is_free")

    def test_priorities_are_numbers_without_a_probability(self):
        text = _text(_page(states.prioritizer(), PRIORITY, states.priority("m")))
        policy = r"policy:    priority 4\.19\d+e\+06, z \+4\.00, of a median state \+0\.79"
        self.assertRegex(text, rf"Decision 3\n  {policy}\n  heuristic: priority 200\n")
        self.assertIn("Decision 4 (differs)", text)

    def test_names_are_text_on_the_page_whatever_they_hold(self):
        page = html_of(_page(states.stock_inliner(15), INLINING, _calls(), name=_HOSTILE, all_features=True)).decode()
        self.assertNotIn("<script", page)
        self.assertIn(_HOSTILE, html.unescape(page))

    def test_the_page_needs_nothing_else_and_is_equal_for_equal_decisions(self):
        pages = (_page(states.smallest_evictor(), EVICTION, states.eviction("m", 30, 2)) for _ in range(2))
        page, again = (html_of(each).decode() for each in pages)
        self.assertEqual(page, again)
        self.assertNotRegex(page, r"""\b(src|href)=["']?[^#d"']|url\(|@import|https?:""")

    def test_a_decision_without_alternative_is_reported(self):
        recorded = states.eviction("m", 4, 1)
        keep = int(recorded.taken[0])
        recorded.features["mask"][0] = 0
        recorded.features["mask"][0, 0, keep] = 1
        page = _page(states.smallest_evictor(), EVICTION, recorded)
        self.assertIn("No alternative.", _text(page))
        self.assertIn("No alternative.", html_of(page).decode())

    def test_outcome_lines(self):
        lines = reports.outcome_lines(INLINING, "f", _record(f=200, g=100), _record(f=150, g=100, h=20))
        own = "this function: bytes of code: 200 under the default, 150 under the policy (-25.00 %)"
        module = "its module: bytes of code, with those of no function: 300 under the default, 270 under the policy"
        self.assertEqual(lines, [own, f"{module} (-10.00 %)"])
        lines = reports.outcome_lines(INLINING, "f", _record(f=1), _record(g=1))
        self.assertIn("nothing is left of it in the object under the policy", lines[0])
        lines = reports.outcome_lines(EVICTION, "f", _record(f=0.5, g=1), _record(f=0.25, h=1))
        self.assertIn("score: 0.5 under the default, 0.25 under the policy (-50.00 %)", lines[0])
        self.assertIn("scores of 1 functions, added up: 0.5", lines[1])

    def test_numbers_have_the_digits_that_tell(self):
        values = (3.0, 0.12345, float("inf"), float("nan"), None, -15060.0)
        self.assertEqual([*map(reports.number, values)], ["3", "0.1235", "+inf", "NaN", "-", "-15060"])
        self.assertTrue(re.fullmatch(r"x{97}\.\.\.", reports.short("x" * 200)))


class SectionsTest(unittest.TestCase):
    def sections(self, default, policy, callees=None, **request):
        """(numbers of the decisions shown, text) of each section."""
        inliner = states.stock_inliner(15)
        default, policy = (each and states.replayed(inliner, INLINING, each) for each in (default, policy))
        shown = Shown(FunctionRequest("policy", **request), "f0", callees=callees)
        found = []
        for section in reports.sections_of(default, policy, typical_of(default or policy), shown):
            stream = io.StringIO()
            terminal.show_blocks(terminal.console(stream), section.blocks)
            text = " ".join(stream.getvalue().split())
            found.append(([int(number) for number in re.findall(r"Decision (\d+)", text)], text))
        return found

    def test_a_functions_decisions_all_or_some(self):
        for shown, expected, differing in (
            ({}, [0, 1, 2], "3 decisions, 2 differ"),
            ({"callees": {"g1", "g2"}}, [1, 2], "2 decisions, 1 differ"),
            ({"only_different": True}, [0, 2], "3 decisions, 2 differ"),
            ({"limit": 1}, [0], "3 decisions, 2 differ"),
        ):
            [(numbers, text)] = self.sections(_calls(), None, **shown)
            self.assertEqual(numbers, expected, shown)
            self.assertIn(differing, text)

    def test_states_that_both_compiles_have_are_shown_once(self):
        first, second = self.sections(_calls(), _calls())
        self.assertEqual((first[0], second[0]), ([0, 1, 2], []))
        self.assertIn("All states are those above.", second[1])
        _, (numbers, text) = self.sections(_calls(), _calls(costs=(10, 31, 12)))
        self.assertEqual(numbers, [1, 2])
        self.assertIn("Before decision 1 the states are those above.", text)
        _, (_, text) = self.sections(_calls(), _calls(costs=(10, 31, 12)), callees={"g0", "g2"})
        self.assertIn("All states are those above.", text)

    def test_a_function_may_have_decisions_in_one_compile_only(self):
        [(numbers, text)] = self.sections(None, _calls())
        self.assertEqual(numbers, [0, 1, 2])
        self.assertIn("LLVM also asked the heuristic.", text)
        self.assertNotIn("above", text)
