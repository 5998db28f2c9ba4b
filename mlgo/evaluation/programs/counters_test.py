"""Reading the output of Cachegrind and of the emulator's plugin."""

import unittest

import hypothesis
from hypothesis import strategies

from mlgo.evaluation.programs.counters import CounterFailure, Counts, parse_cachegrind, parse_plugin

hypothesis.settings.register_profile("mlgo", deadline=None, database=None, derandomize=True)
hypothesis.settings.load_profile("mlgo")

# Written by Valgrind 3.19; the lines of functions are left out.
_CACHEGRIND = """\
desc: I1 cache:         32768 B, 64 B, 8-way associative
cmd: ./program 3
events: Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw
fl=???
fn=???
0 12 1 1 3 0 0 2 0 0
summary: 147291 1190 1173 39151 1470 1221 14530 653 603
"""


class CachegrindTest(unittest.TestCase):
    def test_totals_are_taken_by_their_names(self):
        self.assertEqual(parse_cachegrind(_CACHEGRIND), Counts(147291, 39151, 14530))

    @hypothesis.given(
        strategies.permutations(["Ir", "I1mr", "Dr", "D1mr", "Dw"]),
        strategies.lists(strategies.integers(0, 2**63), min_size=5, max_size=5),
    )
    def test_any_order_of_events(self, events, values):
        counts = dict(zip(events, values))
        text = f"events: {' '.join(events)}\nsummary: {' '.join(map(str, values))}\n"
        self.assertEqual(parse_cachegrind(text), Counts(counts["Ir"], counts["Dr"], counts["Dw"]))

    @hypothesis.given(strategies.text())
    def test_anything_else_is_refused(self, text):
        with self.assertRaisesRegex(CounterFailure, "Cachegrind's file has no totals"):
            parse_cachegrind(text)

    def test_a_file_that_ends_early_or_counts_something_else_is_refused(self):
        for text, message in (
            (_CACHEGRIND.partition("summary")[0], "has no totals"),
            (
                _CACHEGRIND.replace("events: Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw", "events: Ir"),
                "has no totals of Ir, Dr, Dw",
            ),
            (_CACHEGRIND.replace("summary: 147291", "summary: -7"), "negative"),
            (_CACHEGRIND.replace("summary: 147291", "summary: many"), "has no totals of"),
        ):
            with self.subTest(message), self.assertRaisesRegex(CounterFailure, message):
                parse_cachegrind(text)


class PluginTest(unittest.TestCase):
    def test_counts_are_read(self):
        self.assertEqual(
            parse_plugin("instructions 6006\nloads 1000\nstores 2000\nthreads 1\n"), Counts(6006, 1000, 2000)
        )

    def test_anything_else_is_refused(self):
        for text, message in (
            ("", "no counts"),
            ("instructions 6006\nloads 10", "no counts"),
            ("instructions 1\nloads 1\nstores many\nthreads 1\n", "no counts"),
            ("instructions 1\nloads 1\nstores 1\nmisses 1\nthreads 1\n", "no counts"),
            ("instructions 1\nloads -1\nstores 1\nthreads 1\n", "negative"),
            ("instructions 1\nloads 1\nstores 1\nthreads 2\n", "had 2 threads"),
        ):
            with self.subTest(text), self.assertRaisesRegex(CounterFailure, message):
                parse_plugin(text)


if __name__ == "__main__":
    unittest.main()
