"""Tests of mlgo.run.progress."""

import io
import unittest

from mlgo.run import progress


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

    def test_resumed_work_does_not_count_into_the_rate(self):
        shown = progress.PlainLines("trace", 100, "modules", self.stream, done=60, clock=lambda: self.now)
        self.now = 10.0
        shown.advance(10)
        self.assertEqual(
            self.lines(), ["trace: 100 modules, resuming after 60", "trace: 70 of 100 modules, 1 modules/s, 0:30 left"]
        )

    def test_start_prints_lines_where_there_is_no_terminal(self):
        self.assertIsInstance(progress.start("x", 1, "units", stream=self.stream), progress.PlainLines)

    def test_start_shows_a_bar_on_a_terminal(self):
        self.stream.isatty = lambda: True
        bar = progress.start("warm start", 2, "epochs", stream=self.stream)
        bar.advance(2, "loss 0.5")
        bar.close()
        self.assertIn("warm start", self.stream.getvalue())
        self.assertIn("loss 0.5", self.stream.getvalue())

    def test_durations(self):
        self.assertEqual(
            [progress.format_duration(seconds) for seconds in (0, 59.6, 3599, 3600)],
            ["0:00", "1:00", "59:59", "1:00:00"],
        )


if __name__ == "__main__":
    unittest.main()
