"""One function as text and as a page."""

import html.parser
import io
import re
import unittest

from mlgo.explanation import function_report as reports
from mlgo.explanation.decision import explain, typical_of
from mlgo.explanation.function_report import FunctionReport, Section
from mlgo.explanation.queried_policy import queried_policy
from mlgo.explanation.replay import replay
from mlgo.explanation.testing import states
from mlgo.pages import terminal
from mlgo.pages.rendering import html as html_of
from mlgo.problems.inlining_for_size.problem import PROBLEM as INLINING
from mlgo.problems.regalloc_eviction.problem import PROBLEM as EVICTION
from mlgo.problems.regalloc_priority.problem import PROBLEM as PRIORITY
from mlgo.score.function_scores import FunctionScore
from mlgo.trace.outcomes import ModuleRecord, Outcome

_HOSTILE = "f<script>alert('x')</script>&\"{{ 7 * 7 }}"


def _report(network, problem, recorded, count, name="f0", all_values=False, reasons=1):
    asked = queried_policy(network, problem)
    answers = replay(asked, problem, recorded)
    explained = explain(
        asked, problem, recorded, answers, range(count), typical_of(problem, [recorded], [answers.observations])
    )
    sections = [
        Section("Here", "A remark.", explained, count + 2, int(answers.known_differs[:count].sum())),
        Section("There", "None.", [], 0, None),
    ]
    return FunctionReport(
        problem.name,
        "policy (12)",
        "m<1>.cpp",
        "f0",
        {"f0": name, "g0": name},
        ["an outcome"],
        "Why.",
        sections,
        reasons,
        all_values,
    )


def _text(report) -> str:
    stream = io.StringIO()
    terminal.show(stream, reports.function_page(report))
    return stream.getvalue()


def page(report) -> bytes:
    return html_of(reports.function_page(report))


class _Tags(html.parser.HTMLParser):
    """Collects what a browser would see of a page."""

    def __init__(self, content: bytes):
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(content.decode("utf-8"))

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "link"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        if self.open.pop() != tag:
            raise AssertionError(f"</{tag}> closes another element")

    def handle_data(self, data):
        self.text += data


class FunctionReportTest(unittest.TestCase):
    def test_text_has_values_choices_and_contributions(self):
        text = _text(_report(states.stock_inliner(15), INLINING, states.inlining("m", 30, 2), 28))
        for part in (
            "inlining_for_size: f0",
            "an outcome",
            "Decision 2: call of g2",
            "(differs)",
            "cost_estimate",
            "2 more decisions are not shown, see --limit",
        ):
            self.assertIn(part, text)
        self.assertRegex(text, r"policy:    (inline|keep the call), p [01]\.\d\d, z [+-]\d\.\d\d, of a median state")
        self.assertNotIn("\x1b", text)  # No colours where there is no terminal.

    def test_an_evictors_text_compares_candidates(self):
        network = states.linear(EVICTION, {"liverange_size": (0.0, 1.0, 8.0)}, -4.0)
        text = _text(_report(network, EVICTION, states.eviction("m", 8, 1), 8, all_values=True))
        self.assertRegex(
            text,
            r"policy:    evict (nothing|at \d+), p 0\.\d\d, of \d candidates,"
            r" margin \d\.\d\d over the heuristic's choice, evict",
        )
        self.assertRegex(text, r"heuristic: evict (nothing|at \d+), to which the policy gives p 0\.\d\d")
        self.assertRegex(text, r"All it was shown, at evict .*:\n  mask: +1\n  is_free")

    def test_priorities_are_numbers_without_a_probability(self):
        network = states.linear(PRIORITY, {"li_size": (0, 100, 4.0)}, 0.0)
        text = _text(_report(network, PRIORITY, states.priority("m", [10, 50, 20, 200, 300, 5]), 6))
        wanted = (
            r"Decision 3\n  policy:    priority 4\.19\d+e\+06, z \+4\.00, of a median state \+0\.79\n"
            r"  heuristic: priority 200\n"
        )
        self.assertRegex(text, wanted)
        self.assertIn("Decision 4 (differs)", text)

    def test_names_are_text_on_the_page_whatever_they_hold(self):
        report = _report(
            states.stock_inliner(15), INLINING, states.inlining("m", 30, 2), 12, name=_HOSTILE, all_values=True
        )
        content = page(report)
        seen = _Tags(content)
        self.assertNotIn("script", {tag for tag, _ in seen.tags})
        self.assertIn(_HOSTILE, seen.text)
        self.assertEqual(seen.open, [])

    def test_the_page_needs_nothing_else(self):
        seen = _Tags(page(_report(states.smallest_evictor(), EVICTION, states.eviction("m", 30, 2), 12)))
        self.assertFalse(
            [
                tag
                for tag, attributes in seen.tags
                if not {attributes.get("src", "#"), (attributes.get("href", "#") or "")[:1]} <= {"#", "d"}
            ]
        )
        self.assertNotRegex(seen.text, r"url\(|@import|https?:")

    def test_equal_reports_give_equal_pages(self):
        pages = {page(_report(states.smallest_evictor(), EVICTION, states.eviction("m", 30, 2), 12)) for _ in range(2)}
        self.assertEqual(len(pages), 1)

    def test_a_decision_without_alternative_is_reported(self):
        recorded = states.eviction("m", 4, 1)
        keep = int(recorded.taken[0])
        recorded.features["mask"][0] = 0
        recorded.features["mask"][0, 0, keep] = 1
        report = _report(states.smallest_evictor(), EVICTION, recorded, 1)
        self.assertIn("No alternative.", _text(report))
        self.assertIn("No alternative.", _Tags(page(report)).text)

    def test_outcome_lines(self):
        def record(**functions):
            return ModuleRecord(
                Outcome.TRACED, functions={name: FunctionScore(1, float(score)) for name, score in functions.items()}
            )

        self.assertEqual(
            reports.outcome_lines(INLINING, "f", record(f=200, g=100), record(f=150, g=100, h=20)),
            [
                "this function: bytes of code: 200 under the default, 150 under the policy (-25.00 %)",
                "its module: bytes of code, with those of no function: 300 under the default, 270 under the policy"
                " (-10.00 %)",
            ],
        )
        self.assertIn(
            "nothing is left of it in the object under the policy",
            reports.outcome_lines(INLINING, "f", record(f=1), record(g=1))[0],
        )
        lines = reports.outcome_lines(EVICTION, "f", record(f=0.5, g=1), record(f=0.25, h=1))
        self.assertIn("score: 0.5 under the default, 0.25 under the policy (-50.00 %)", lines[0])
        self.assertIn("scores of 1 functions, added up: 0.5", lines[1])

    def test_numbers_have_the_digits_that_tell(self):
        for value, expected in (
            (3.0, "3"),
            (0.12345, "0.1235"),
            (float("inf"), "+inf"),
            (float("nan"), "NaN"),
            (None, "-"),
            (-15060.0, "-15060"),
        ):
            self.assertEqual(reports.number(value), expected)
        self.assertTrue(re.fullmatch(r"x{97}\.\.\.", reports.short("x" * 200)))


if __name__ == "__main__":
    unittest.main()
