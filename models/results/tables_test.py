"""Tables of made-up results."""

import dataclasses
import unittest

from mlgo.evaluation.statistics import RatioSummary
from mlgo.reporting.records import Content, CorpusResult, Evaluation, Kind, SideResult
from models.results import measured, tables


def summary(ratio: float) -> RatioSummary:
    return RatioSummary(9, 9, ratio, ratio - 0.01, ratio + 0.01, 4, 4, 1)


def evaluation(default: int = 1000) -> Evaluation:
    """Two C libraries and a C++ library; a threshold helps C++ only."""
    linked = {"c": (0.9, 0.97), "a": (0.98, 1.01), "b": (1.005, 1.002)}
    corpora = [
        CorpusResult(
            name,
            None,
            [
                SideResult("trained", None, linked=summary(policy), object_bytes=1100, default_object_bytes=1000),
                SideResult("threshold_10", None, linked=summary(threshold)),
            ],
            {},
            0,
            default_linked_bytes=default,
            modules=7,
        )
        for name, (policy, threshold) in linked.items()
    ]
    return Evaluation("", "", None, None, "", {}, corpora, False, 1)


def programs() -> Content:
    """Three programs; x is the best one."""
    counts = {"x": 500, "y": 990, "z": 1010}
    mean, rest = (0.5 * 0.99 * 1.01) ** (1 / 3), (0.99 * 1.01) ** 0.5
    total = {"geometric_mean": mean, "low": mean - 0.3, "high": mean + 0.3}
    unseen = {"geometric_mean": rest, "low": rest - 0.01, "high": rest + 0.01}
    content = {
        "run": {name: {"default": {"instructions": 1000}, "policy": {"instructions": n}} for name, n in counts.items()},
        "totals": {"run": {"policy": {"instructions": total}}, "unseen": {"run": {"policy": {"instructions": unseen}}}},
    }
    return Content(Kind.PROGRAMS, "", "", content)


class LibrariesTest(unittest.TestCase):
    def test_rows_mean_worst_and_threshold(self):
        languages = {"a": "C", "b": "C", "c": "C++"}
        lines = tables.libraries(evaluation(), ["trained"], measured.linked_code, languages, thresholds=True).split(
            "\n"
        )
        self.assertEqual(
            lines[2:],
            [
                "| a, C | 7 | **−2.00 %** (−3.00 … −1.00) | the default |",
                "| b, C | 7 | +0.50 % (−0.50 … +1.50) | the default |",
                "| c, C++ | 7 | **−10.00 %** (−11.00 … −9.00) | −3.00 % at 10 |",
                "| C: mean of 2; worst |  | **−0.76 %**; +0.50 % b | the default |",
                "| C++: mean of 1; worst |  | **−10.00 %**; −10.00 % c | −3.00 % at 10 |",
            ],
        )

    def test_code_of_objects_has_no_interval(self):
        self.assertEqual(measured.object_code(evaluation(), "a", "trained"), measured.Change(1.1))

    def test_defaults_of_two_majors(self):
        languages = {"a": "C", "b": "C", "c": "C++"}
        text = tables.two_majors(
            ("22", evaluation()), ("23", evaluation(995)), ["trained"], measured.linked_code, languages
        )
        lines = text.split("\n")
        self.assertEqual(lines[0], "| library | units | default 23 against default 22 | policy on 22 | policy on 23 |")
        self.assertEqual(lines[2], "| a, C | 7 | −0.50 % | **−2.00 %** (−3.00 … −1.00) | **−2.00 %** (−3.00 … −1.00) |")

    def test_two_majors_of_what_is_not_linked(self):
        linked = evaluation()
        corpora = [dataclasses.replace(corpus, default_linked_bytes=None) for corpus in linked.corpora]
        new = dataclasses.replace(linked, corpora=corpora)
        languages = {"a": "C", "b": "C", "c": "C++"}
        text = tables.two_majors(("22", linked), ("23", new), ["trained"], measured.object_code, languages)
        self.assertEqual(text.split("\n")[0], "| library | units | policy on 22 | policy on 23 |")

    def test_majors_that_measured_other_modules_are_not_compared(self):
        of_seven = evaluation()
        of_six = [dataclasses.replace(corpus, modules=6) for corpus in of_seven.corpora]
        fewer = dataclasses.replace(of_seven, corpora=of_six)
        with self.assertRaisesRegex(ValueError, "c: the results measured 6 and 7 modules"):
            measured.default_code(fewer, of_seven, "c")


class ProgramsTest(unittest.TestCase):
    def test_worst_and_without_the_best(self):
        text = tables.programs(programs(), [("instructions", "run", "instructions")], ["policy"], ["y", "z"])
        self.assertEqual(
            text.split("\n")[2:],
            [
                "| instructions, 3 programs, policy alone | −20.63 % (−50.63 … +9.37) | +1.00 % z | −0.01 % |",
                "| instructions, 2 unseen programs, policy alone | −0.01 % (−1.01 … +0.99) | +1.00 % z |  |",
            ],
        )

    def test_other_unseen_programs_than_those_published_are_refused(self):
        with self.assertRaisesRegex(ValueError, "the mean of x, y is not the published one"):
            measured.programs(programs(), "run", "policy", "instructions", ["x", "y"])


if __name__ == "__main__":
    unittest.main()
