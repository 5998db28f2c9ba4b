"""Reading the output of Cachegrind, of the emulator's plugin and of perf, whose events the user chooses."""

import pathlib
import re
import sys
import unittest
from unittest import mock

import hypothesis
from hypothesis import strategies

from mlgo.evaluation.programs import counters, tables
from mlgo.run.exit_codes import RunError
from mlgo.run.testing.folder_case import FolderCase

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
# Written by perf 6.1 on a machine with counters, and on one without.
_PERF = "# started on Fri\n\n1234567,,cycles:u,1000,100.00,,\n2000000,,instructions:u,1000,100.00,1.62,insn per cycle\n"
_NO_PERF = "<not supported>,,cycles:u,0,100.00,,\n<not supported>,,instructions:u,0,100.00,,\n"
_MISSES = "77,,branch-misses:u,1000,50.00,,\n"


class CachegrindTest(unittest.TestCase):
    def test_totals_are_taken_by_their_names(self):
        self.assertEqual(counters.parse_cachegrind(_CACHEGRIND), counters.Counts(147291, 39151, 14530))

    @hypothesis.given(
        strategies.permutations(["Ir", "I1mr", "Dr", "D1mr", "Dw"]),
        strategies.lists(strategies.integers(0, 2**63), min_size=5, max_size=5),
    )
    def test_any_order_of_events(self, events, values):
        counts = dict(zip(events, values))
        text = f"events: {' '.join(events)}\nsummary: {' '.join(map(str, values))}\n"
        self.assertEqual(counters.parse_cachegrind(text), counters.Counts(counts["Ir"], counts["Dr"], counts["Dw"]))

    @hypothesis.given(strategies.text())
    def test_anything_else_is_refused(self, text):
        with self.assertRaisesRegex(counters.CounterFailure, "Cachegrind's file has no totals"):
            counters.parse_cachegrind(text)

    def test_a_file_that_ends_early_or_counts_something_else_is_refused(self):
        for text, message in (
            (_CACHEGRIND.partition("summary")[0], "has no totals"),
            (_CACHEGRIND.replace(" I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw", ""), "has no totals of Ir, Dr, Dw"),
            (_CACHEGRIND.replace("summary: 147291", "summary: -7"), "negative"),
            (_CACHEGRIND.replace("summary: 147291", "summary: many"), "has no totals of"),
        ):
            with self.subTest(message), self.assertRaisesRegex(counters.CounterFailure, message):
                counters.parse_cachegrind(text)


class PluginTest(unittest.TestCase):
    def test_counts_are_read(self):
        text = "instructions 6006\nloads 1000\nstores 2000\nthreads 1\n"
        self.assertEqual(counters.parse_plugin(text), counters.Counts(6006, 1000, 2000))

    def test_anything_else_is_refused(self):
        for text, message in (
            ("", "no counts"),
            ("instructions 6006\nloads 10", "no counts"),
            ("instructions 1\nloads 1\nstores many\nthreads 1\n", "no counts"),
            ("instructions 1\nloads 1\nstores 1\nmisses 1\nthreads 1\n", "no counts"),
            ("instructions 1\nloads -1\nstores 1\nthreads 1\n", "negative"),
            ("instructions 1\nloads 1\nstores 1\nthreads 2\n", "had 2 threads"),
        ):
            with self.subTest(text), self.assertRaisesRegex(counters.CounterFailure, message):
                counters.parse_plugin(text)


class PerfTest(FolderCase):
    def setUp(self):
        super().setUp()
        self.perf = counters.Perf(pathlib.Path("perf"), {"cycles:u": "cycles", "instructions:u": "perf_instructions"})

    def that_says(self, text: str) -> str:
        """A program that writes `text` where perf writes its counts, and the events it was asked for beside it."""
        script = (
            f"#!{sys.executable} -IS\nimport sys\n"
            f"open(sys.argv[sys.argv.index('-o') + 1], 'w').write({text!r})\n"
            f"open({str(self.folder / 'asked')!r}, 'w').write(sys.argv[sys.argv.index('-e') + 1])\n"
        )
        return str(self.script("perf", script))

    def test_counts_are_found_where_there_are_some(self):
        self.assertEqual(self.perf.parse(_PERF), {"cycles": 1234567.0, "perf_instructions": 2000000.0})
        self.assertEqual(self.perf.parse(_NO_PERF), {})

    def test_malformed_output_of_perf_is_refused(self):
        for text in ("perf: not found\n", "many,,cycles:u,1,1\n", "nan,,cycles:u,1,1\n", "-1,,cycles:u,1,1\n"):
            with (
                self.subTest(text),
                self.assertRaisesRegex(counters.CounterFailure, f"perf wrote '{re.escape(text.strip())}'"),
            ):
                self.perf.parse(text)

    def test_it_is_tried_before_it_is_relied_on(self):
        for said, works in ((_PERF, True), (_NO_PERF, False), ("nonsense\n", False)):
            self.assertEqual(counters.perf_from_flags([], self.that_says(said)) is not None, works, said)
        self.assertIsNone(counters.perf_from_flags([], str(self.folder / "absent")))
        with mock.patch("shutil.which", return_value=None):
            self.assertIsNone(counters.perf_from_flags([]))

    def test_chosen_events_are_counted_by_their_names(self):
        said = self.that_says(_PERF + _MISSES + "5,,page-faults:k,1,1\n")
        perf = counters.perf_from_flags(["branch-misses", "page-faults:k"], said)
        assert perf is not None
        self.assertEqual((self.folder / "asked").read_text(), "cycles:u,instructions:u,branch-misses:u,page-faults:k")
        names = {"branch-misses:u": "perf event branch-misses", "page-faults:k": "perf event page-faults:k"}
        self.assertEqual(perf.chosen, names)
        # An event whose name begins with another's is not taken for it.
        self.assertEqual(perf.parse("1,,branch-misses:u-and-more,1,1\n" + _MISSES), {"perf event branch-misses": 77.0})

    def test_software_events_are_counted_without_hardware_counters(self):
        perf = counters.perf_from_flags(["page-faults"], self.that_says(_NO_PERF + "5,,page-faults:u,1,1\n"))
        assert perf is not None
        self.assertEqual(perf.parse(_NO_PERF + "5,,page-faults:u,1,1\n"), {"perf event page-faults": 5.0})

    def test_what_cannot_be_counted_is_refused_in_one_sentence(self):
        said = self.that_says(_PERF + _MISSES + "<not supported>,,cache-misses:u,0,0\n")
        for events, message in (
            (["cache-misses", "branch-misses"], "names cache-misses, which perf does not count on this machine"),
            (["{cycles", "branches}"], "'{cycles', which is no name"),
            (["-o"], "'-o', which is no name"),
            ([""], "'', which is no name"),
            (["cycles"], "names cycles, which is counted already"),
            (["branch-misses", "branch-misses:u"], "names branch-misses:u, which is counted already"),
        ):
            with self.subTest(events), self.assertRaisesRegex(RunError, message):
                counters.perf_from_flags(events, said)
        with mock.patch("shutil.which", return_value=None), self.assertRaisesRegex(RunError, "not on PATH"):
            counters.perf_from_flags(["branch-misses"])

    def test_they_have_columns(self):
        total = {"programs": 1, "geometric_mean": 0.5, "worst": {"ratio": 0.5, "program": "lua"}}
        names = ("instructions", "perf event branch-misses")
        result = {
            "run": {"lua": {"default": dict.fromkeys(names, 10), "policy": dict.fromkeys(names, 5)}},
            "run_times": {"lua": {"policy": {}}},
            "totals": {"run": {"policy": dict.fromkeys(names, total)}},
            "without_ml": {},
        }
        lines = tables.run_lines(result, "run")
        self.assertIn("policy: perf event branch-misses", lines[0])
        self.assertEqual(lines[2].count("-50.00 %"), 2)
