import unittest

import pace

LIMITS = pace.Limits(silence_seconds=20, window_seconds=30, least_rate=2000, race_bytes=1_000_000)


class PaceTest(unittest.TestCase):
    def given_up_at(self, rate, seconds=100, size=10**9, answered_at=0):
        """(second, reason) at which a download of this rate (bytes per second) is given up, or None."""
        watched = pace.Pace(LIMITS, size)
        for second in range(1, seconds + 1):
            reason = watched.look(1, rate * (second - answered_at) if second >= answered_at else None)
            if reason:
                return second, reason
        return None

    def test_no_answer(self):
        self.assertEqual(self.given_up_at(0, answered_at=1000), (20, "silent for 20 s"))

    def test_an_answer_and_then_nothing(self):
        self.assertEqual(self.given_up_at(0, answered_at=15), (35, "silent for 20 s"))

    def test_one_byte_a_second(self):
        self.assertEqual(self.given_up_at(1), (31, "slower than 2 kB/s"))

    def test_the_wait_for_the_answer_does_not_count_as_slow(self):
        self.assertIsNone(self.given_up_at(2500, answered_at=19))

    def test_a_slow_line_is_fast_enough(self):
        self.assertIsNone(self.given_up_at(2000))

    def test_a_fast_beginning_does_not_excuse_a_slow_rest(self):
        watched = pace.Pace(LIMITS, 10**9)
        watched.look(1, 10**8)
        reasons = [watched.look(1, 10**8 + second) for second in range(1, 100)]
        self.assertEqual(reasons.index("slower than 2 kB/s"), 29)

    def test_time_in_which_this_process_was_stopped_is_not_the_mirrors_silence(self):
        watched = pace.Pace(LIMITS, 10**9)
        self.assertIsNone(watched.look(3600, None))
        self.assertIsNone(watched.look(3600, 10**6))

    def test_time_for_the_disk_is_not_the_mirrors_silence(self):
        watched = pace.Pace(LIMITS, 10**9)
        for _ in range(100):
            self.assertIsNone(watched.look(1, 10**6, waiting=False))

    def test_only_large_and_slow_downloads_are_raced(self):
        for size, rate, seconds, expected in (
            (100 * 10**6, 10**6, 15, True),  # 85 s left
            (100 * 10**6, 10**6, 5, False),  # too young to judge
            (30 * 10**6, 10**6, 15, False),  # 15 s left
            (900_000, 2100, 15, False),  # too small
        ):
            with self.subTest(size=size, rate=rate, seconds=seconds):
                watched = pace.Pace(LIMITS, size)
                for second in range(seconds + 1):
                    watched.look(1, rate * second)
                self.assertEqual(watched.is_slow(rate * seconds), expected)

    def test_a_large_archive_without_an_answer_is_raced(self):
        watched = pace.Pace(LIMITS, 10**9)
        for _ in range(10):
            watched.look(1, None)
        self.assertTrue(watched.is_slow(0))


if __name__ == "__main__":
    unittest.main()
