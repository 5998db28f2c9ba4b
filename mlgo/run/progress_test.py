"""Tests of mlgo.run.progress."""

import contextlib
import io
import unittest
from unittest import mock

from mlgo.run import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class PlainLinesTest(unittest.TestCase):
    def setUp(self):
        self.now = 0.0
        self.stream = io.StringIO()

    def lines(self):
        return self.stream.getvalue().splitlines()

    def test_prints_at_most_every_ten_seconds_with_rate_and_time_left(self):
        shown = progress.PlainLines("trace", 100, "modules", self.stream, clock=lambda: self.now)
        for _ in range(25):
            self.now += 1.0
            shown.advance(2, "0 failed")
        self.now = 50.0
        shown.close()
        self.assertEqual(
            self.lines(),
            [
                "trace: 100 modules",
                "trace: 20 of 100 modules, 2 modules/s, 0:40 left (0 failed)",
                "trace: 40 of 100 modules, 2 modules/s, 0:30 left (0 failed)",
                "trace: 50 of 100 modules in 0:50 (0 failed)",
            ],
        )

    def test_a_minute_without_a_line_ends_with_one(self):
        shown = progress.PlainLines("verify", 3, "modules", self.stream, clock=lambda: self.now)
        for self.now, count, note in ((5.0, 1, ""), (59.0, 0, "at slow.c"), (100.0, 0, "")):
            shown.advance(count, note)
            shown.say_alive()
        self.now = 150.0
        shown.say_alive()
        shown.close()
        self.now = 300.0
        shown.say_alive()
        self.assertEqual(
            self.lines(),
            [
                "verify: 3 modules",
                "verify: 1 of 3 modules after 1:40 (at slow.c)",
                "verify: 1 of 3 modules in 2:30 (at slow.c)",
            ],
        )

    def test_what_is_started_is_watched_until_it_is_closed(self):
        with mock.patch.object(progress, "SILENT_SECONDS", 0.0):
            shown = progress.start("verify", 3, "modules", stream=self.stream)
            while len(self.lines()) < 3:
                pass
            shown.close()
        self.assertRegex(self.lines()[1], r"verify: 0 of 3 modules after \d:\d\d")

    def test_resumed_work_does_not_count_into_the_rate(self):
        shown = progress.PlainLines("trace", 100, "modules", self.stream, done=60, clock=lambda: self.now)
        self.now = 10.0
        shown.advance(10)
        self.assertEqual(
            self.lines(), ["trace: 100 modules, resuming after 60", "trace: 70 of 100 modules, 1 modules/s, 0:30 left"]
        )

    def test_a_short_part_of_a_stage_prints_nothing(self):
        shown = progress.PlainLines("part", 3, "objects", self.stream, clock=lambda: self.now, is_inner=True)
        self.now = 9.0
        shown.advance()
        shown.close()
        self.assertEqual(self.lines(), [])

    def test_a_long_part_of_a_stage_prints_lines(self):
        shown = progress.PlainLines("part", 3, "objects", self.stream, clock=lambda: self.now, is_inner=True)
        self.now = 10.0
        shown.advance()
        self.now = 12.0
        shown.advance(2)
        shown.close()
        self.assertEqual(
            self.lines(), ["part: 1 of 3 objects, 0.1 objects/s, 0:20 left", "part: 3 of 3 objects in 0:12"]
        )

    def test_start_prints_lines_where_there_is_no_terminal(self):
        self.assertIsInstance(progress.start("x", 1, "units", stream=self.stream), progress.PlainLines)

    def test_start_shows_a_bar_on_a_terminal(self):
        stream = Terminal()
        bar = progress.start("warm start", 2, "epochs", stream=stream)
        bar.advance(2, "loss 0.5")
        bar.close()
        self.assertIn("warm start", stream.getvalue())
        self.assertIn("loss 0.5", stream.getvalue())

    def test_durations(self):
        self.assertEqual(
            [progress.format_duration(seconds) for seconds in (0, 59.6, 3599, 3600)],
            ["0:00", "1:00", "59:59", "1:00:00"],
        )


class HostileNamesTest(unittest.TestCase):
    """Module names are shown by all of these, and may hold what a terminal obeys."""

    NAME, SHOWN = "\x1b[2Ja\rb\u202e.o", r"\x1b[2Ja\rb\u202e.o"

    def test_lines_of_progress(self):
        stream = io.StringIO()
        progress.PlainLines(self.NAME, 1, "modules", stream, clock=lambda: 0.0).close()
        self.assertEqual(stream.getvalue(), f"{self.SHOWN}: 1 modules\n{self.SHOWN}: 0 of 1 modules in 0:00\n")

    def test_note_of_a_bar(self):
        stream = Terminal()
        bar = progress.start("trace", 2, "modules", stream=stream)
        bar.advance(1, f"[/] {self.NAME}")
        bar.close()
        self.assertIn("[/] ", stream.getvalue())
        self.assertNotIn(self.NAME, stream.getvalue())

    def test_messages_and_results(self):
        for say in (lambda: progress.tell(self.NAME), lambda: progress.show([self.NAME])):
            stream = io.StringIO()
            with contextlib.redirect_stderr(stream), contextlib.redirect_stdout(stream):
                say()
            self.assertEqual(stream.getvalue(), f"{self.SHOWN}\n")


if __name__ == "__main__":
    unittest.main()
