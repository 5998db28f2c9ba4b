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

    def shown(self, stage, total, unit, **more):
        return progress.PlainLines(stage, total, unit, self.stream, clock=lambda: self.now, **more)

    def assert_lines(self, *lines):
        self.assertEqual(self.stream.getvalue().splitlines(), list(lines))

    def test_prints_at_most_every_ten_seconds_with_rate_and_time_left(self):
        shown = self.shown("trace", 100, "modules")
        for _ in range(25):
            self.now += 1.0
            shown.advance(2, "0 failed")
        self.now = 50.0
        shown.close()
        self.assert_lines(
            "trace: 100 modules",
            "trace: 20 of 100 modules, 2 modules/s, 0:40 left (0 failed)",
            "trace: 40 of 100 modules, 2 modules/s, 0:30 left (0 failed)",
            "trace: 50 of 100 modules in 0:50 (0 failed)",
        )

    def test_a_minute_without_a_line_ends_with_one(self):
        shown = self.shown("verify", 3, "modules")
        for self.now, count, note in ((5.0, 1, ""), (59.0, 0, "at slow.c"), (100.0, 0, "")):
            shown.advance(count, note)
            shown.say_alive()
        self.now = 150.0
        shown.say_alive()
        shown.close()
        self.now = 300.0
        shown.say_alive()
        self.assert_lines(
            "verify: 3 modules",
            "verify: 1 of 3 modules after 1:40 (at slow.c)",
            "verify: 1 of 3 modules in 2:30 (at slow.c)",
        )

    def test_what_is_started_is_watched_until_it_is_closed(self):
        with mock.patch.object(progress, "SILENT_SECONDS", 0.0):
            shown = progress.start("verify", 3, "modules", stream=self.stream)
            self.assertIsInstance(shown, progress.PlainLines)
            while self.stream.getvalue().count("\n") < 3:
                pass
            shown.close()
        self.assertRegex(self.stream.getvalue(), r"\nverify: 0 of 3 modules after \d:\d\d\n")

    def test_resumed_work_does_not_count_into_the_rate(self):
        shown = self.shown("trace", 100, "modules", done=60)
        self.now = 10.0
        shown.advance(10)
        self.assert_lines("trace: 100 modules, resuming after 60", "trace: 70 of 100 modules, 1 modules/s, 0:30 left")

    def test_only_a_long_part_of_a_stage_prints_lines(self):
        for seconds, lines in (
            (9.0, []),
            (10.0, ["part: 1 of 3 objects, 0.1 objects/s, 0:20 left", "part: 3 of 3 objects in 0:12"]),
        ):
            self.now = 0.0
            shown = self.shown("part", 3, "objects", is_inner=True)
            self.now = seconds
            shown.advance()
            self.now += 2.0
            shown.advance(2)
            shown.close()
            self.assert_lines(*lines)

    def test_start_shows_a_bar_on_a_terminal(self):
        stream = Terminal()
        bar = progress.start("warm start", 2, "epochs", stream=stream)
        bar.advance(2, "loss 0.5")
        bar.close()
        self.assertIn("warm start", stream.getvalue())
        self.assertIn("loss 0.5", stream.getvalue())

    def test_durations(self):
        for seconds, shown in ((0, "0:00"), (59.6, "1:00"), (3599, "59:59"), (3600, "1:00:00")):
            self.assertEqual(progress.format_duration(seconds), shown)


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
