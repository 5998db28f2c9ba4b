import os
import signal
import subprocess
import sys
import unittest

from mlgo.compiler.hang import Activity, HangGuard, activity_of_family
from mlgo.run.testing.folder_case import FolderCase

_SLEEPS = Activity(7, False)


class HangGuardTest(unittest.TestCase):
    def setUp(self):
        self.now = 0.0
        self.activity = Activity(0, False)

    def guard(self) -> HangGuard:
        return HangGuard(1, 10.0, lambda _: self.activity, lambda: self.now)

    def hung_after(self, guard: HangGuard, seconds: float, activity: Activity) -> bool:
        self.now += seconds
        self.activity = activity
        return guard.is_hung()

    def test_a_window_without_cpu_time(self):
        guard = self.guard()
        self.assertFalse(self.hung_after(guard, 9.0, _SLEEPS))
        self.assertFalse(self.hung_after(guard, 2.0, _SLEEPS), "it was active in the first window")
        self.assertAlmostEqual(guard.seconds_left(), 10.0)
        self.assertFalse(self.hung_after(guard, 9.0, _SLEEPS))
        self.assertTrue(self.hung_after(guard, 2.0, _SLEEPS))

    def test_one_that_never_did_anything(self):
        self.assertTrue(self.hung_after(self.guard(), 10.0, Activity(0, False)))

    def test_a_slow_one_is_not_hung(self):
        guard = self.guard()
        for ticks in range(1, 1000):
            self.assertFalse(self.hung_after(guard, 100.0, Activity(ticks, False)))

    def test_one_that_waits_for_the_machine_is_not_hung(self):
        guard = self.guard()
        for _ in range(3):
            self.assertFalse(self.hung_after(guard, 10000.0, Activity(5, True)))
        self.assertTrue(self.hung_after(guard, 10.0, Activity(5, False)))


class ActivityTest(FolderCase):
    def process(self, number: int, parent: int, state: str, user: int, system: int) -> None:
        fields = [state, parent, *[0] * 9, user, system, *[0] * 30]
        for folder in (str(number), f"{number}/task/{number}"):
            self.file(f"{folder}/stat", f"{number} (a b) c) {' '.join(map(str, fields))}\n")

    def test_descendants_count_and_strangers_do_not(self):
        self.process(10, 1, "S", 1, 2)
        self.process(11, 10, "S", 10, 20)
        self.process(5, 11, "S", 100, 200)
        self.process(20, 1, "R", 1000, 2000)
        self.assertEqual(activity_of_family(10, self.folder), Activity(333, False))

    def test_states(self):
        for state, waits in {"S": False, "Z": False, "I": False, "R": True, "D": True, "T": True, "t": True}.items():
            self.process(10, 1, state, 0, 0)
            self.assertEqual(activity_of_family(10, self.folder).waits_for_machine, waits, state)

    def test_a_process_that_is_gone(self):
        self.assertEqual(activity_of_family(10, self.folder), Activity(0, False))

    def test_true_processes(self):
        code = "import time\nwhile time.process_time() < 0.1: pass\nprint(flush=True)\ntime.sleep(3600)"
        with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            try:
                process.stdout.readline()
                os.kill(process.pid, signal.SIGSTOP)
                os.waitid(os.P_PID, process.pid, os.WSTOPPED)
                found = activity_of_family(process.pid)
            finally:
                process.kill()
        self.assertGreater(found.cpu_ticks, 0)
        self.assertTrue(found.waits_for_machine)
