"""A corpus's summary of simulated modules: figures, examples, equal bytes for equal seeds."""

import io
import json
import unittest

from mlgo.explanation.corpus_page import explanation_page
from mlgo.explanation.decision import explain, typical_of
from mlgo.explanation.queried_policy import queried_policy
from mlgo.explanation.summary import choose_examples, content_of, observe
from mlgo.explanation.testing import states
from mlgo.pages import terminal
from mlgo.pages.markdown import document
from mlgo.pages.rendering import html
from mlgo.problems.inlining_for_size.problem import PROBLEM as INLINING
from mlgo.problems.regalloc_eviction.problem import PROBLEM as EVICTION
from mlgo.run import files

_CALLS = [states.inlining(f"m{index}", 60, index) for index in range(5)]


def _explanation(network, problem, recorded, seed=1, rate=1.0):
    replays = {each.module: states.replayed(network, problem, each) for each in recorded}
    views = [observe(each, rate, seed) for each in replays.values()]
    examples = []
    for candidate in choose_examples(views, 6):
        found = replays[candidate.module]
        examples += explain(found, [candidate.decision], typical_of(found))
    described = {"policy": "p", "corpus": "c", "seed": seed, "failed": {"broken": "crash"}}
    names = {f"f{number}": "void f<`quoted`>()" for number in range(60)}
    return content_of(queried_policy(network, problem), described, views, None, 2, examples, names)


class SummaryTest(unittest.TestCase):
    def test_the_figures_are_those_of_the_policy(self):
        content = _explanation(states.stock_inliner(15), INLINING, _CALLS)
        costs = [each.features["cost_estimate"][:, 0] for each in _CALLS]
        expected = sum(int(((cost > 5) & (cost < 15)).sum()) for cost in costs)
        self.assertEqual((content["kind"], content["decisions"], content["modules"]), ("explanation", 300, 5))
        self.assertEqual(content["differs_from_heuristic"]["count"], expected)
        self.assertAlmostEqual(content["differs_from_heuristic"]["share"], expected / 300, places=6)
        self.assertEqual(sum(each["differing"] for each in content["by_module"].values()), expected)
        found = content["ways_to_differ"]
        self.assertEqual(found, [{"heuristic": "keep the call", "policy": "inline", "count": expected}])
        self.assertEqual([each["feature"] for each in content["importance"]], ["cost_estimate", "callee_users"])
        self.assertEqual(content["importance"][1]["changed_decisions"], 0)
        piece = {"feature": "cost_estimate", "start": 7.0, "end": 23.0, "adds": -16.0}
        self.assertEqual(content["formula"]["pieces"][0], piece)

    def test_examples_differ_and_are_varied_and_clear(self):
        content = _explanation(states.stock_inliner(15), INLINING, _CALLS)
        examples = content["examples"]
        margins = [example["margin"] for example in examples]
        self.assertEqual(margins, sorted(margins, reverse=True))
        self.assertTrue(examples)
        for example in examples:
            self.assertEqual((example["policy_choice"], example["heuristic_choice"]), ("inline", "keep the call"))
            self.assertIn(example["features"]["cost_estimate"], (6, 8, 10, 12, 14))
            # To the nearest level of the features; z is cut off at 8.
            self.assertAlmostEqual(example["margin"], min(8, 15 - example["features"]["cost_estimate"]), delta=0.1)
        for key in ("function", "callee"):
            self.assertEqual(len({example[key] for example in examples}), len(examples))

    def test_an_evictors_examples_show_both_candidates(self):
        recorded = [states.eviction(f"m{index}", 20, index) for index in range(3)]
        content = _explanation(states.largest_evictor(), EVICTION, recorded)
        self.assertEqual(content["differs_from_heuristic"]["share"], 1.0)
        ways = {(each["heuristic"], each["policy"]): each["count"] for each in content["ways_to_differ"]}
        # All states are open to eviction and to none.
        self.assertEqual(sum(ways.values()), 60)
        one, another, nothing = "evict at one", "evict at another", "evict nothing"
        self.assertLessEqual(ways.keys(), {(one, another), (one, nothing), (nothing, one)})
        example = content["examples"][0]
        self.assertGreater(example["features"]["liverange_size"], example["compared_with"]["liverange_size"])
        self.assertRegex(example["policy_choice"], r"^evict (at \d+|nothing)$")

    def test_a_clone_has_nothing_to_show(self):
        explanation = _explanation(states.stock_inliner(), INLINING, _CALLS)
        self.assertEqual((explanation["differs_from_heuristic"]["count"], explanation["examples"]), (0, []))
        self.assertNotIn("differing decisions", document(explanation_page(explanation)).decode())

    def test_equal_seeds_give_equal_bytes_of_strict_json(self):
        def everything(seed):
            content = _explanation(states.stock_inliner(15), INLINING, _CALLS, seed, rate=0.5)
            page = explanation_page(content)
            return files.encode_json(content), document(page), html(page)

        self.assertEqual(everything(1), everything(1))
        self.assertNotEqual(everything(1)[0], everything(2)[0])
        json.loads(everything(1)[0], parse_constant=lambda name: self.fail(f"{name} is no JSON"))

    def test_the_document_names_everything(self):
        page = explanation_page(_explanation(states.stock_inliner(15), INLINING, _CALLS))
        text, shown = document(page).decode(), io.StringIO()
        terminal.show(shown, page)
        for part in ("% of 300 decisions differ", "broken (crash)", "cost_estimate", "7: 0, 23: -16.00"):
            self.assertIn(part, text)
            self.assertIn(part, shown.getvalue())
        # In more backticks than it holds.
        self.assertIn("`` void f<`quoted`>() → g", text)
