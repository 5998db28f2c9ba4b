"""Which ends of a program come from outside, and where results would otherwise change silently."""

import signal
import unittest

from mlgo.run import signals


class SignalsTest(unittest.TestCase):
    def test_signals_from_outside(self):
        for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
            self.assertEqual(signals.from_outside(-number), number.name)
        self.assertEqual(signals.from_outside(-40), "signal 40")

    def test_other_ends(self):
        for exit_code in (0, 1, 127, 137, -signal.SIGSEGV, -signal.SIGABRT, -signal.SIGXCPU, -signal.SIGSYS):
            self.assertIsNone(signals.from_outside(exit_code), exit_code)
            signals.check_not_killed("ld.lld", exit_code)

    def test_the_message_says_what_to_do(self):
        message = r"program ld\.lld: was ended from outside, by SIGKILL\. .* the same command again"
        with self.assertRaisesRegex(signals.KilledFromOutside, message):
            signals.check_not_killed("ld.lld", -signal.SIGKILL)
