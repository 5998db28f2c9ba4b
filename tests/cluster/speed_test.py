import errno
import pathlib
import subprocess
import tempfile
import unittest
from unittest import mock

from mlgo.run.exit_codes import RunError
from tests.cluster import speed


class SpeedTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def test_controller_of_version_1_is_preferred(self):
        mounts = "cgroup2 /c/unified cgroup2 rw 0 0\ncgroup /c/cpu cgroup rw,cpu,cpuacct 0 0\n"
        self.assertEqual(speed.controller(mounts), (pathlib.Path("/c/cpu"), 1))

    def test_controller_of_version_2(self):
        self.assertEqual(speed.controller("cgroup2 /c cgroup2 rw,nsdelegate 0 0\n"), (pathlib.Path("/c"), 2))

    def test_no_controller(self):
        self.assertIsNone(speed.controller("cgroup /c/cpuset cgroup rw,cpuset 0 0\nproc /proc proc rw 0 0\n"))

    def test_limit_in_version_1(self):
        speed.Group(self.folder).limit(0.25)
        self.assertEqual((self.folder / "cpu.cfs_period_us").read_text(), "100000")
        self.assertEqual((self.folder / "cpu.cfs_quota_us").read_text(), "25000")

    def test_limit_in_version_2(self):
        (self.folder / "cpu.max").touch()
        speed.Group(self.folder).limit(1.5)
        self.assertEqual((self.folder / "cpu.max").read_text(), "150000 100000")

    def test_group_is_removed_when_its_processes_are_gone(self):
        (self.folder / "group").mkdir()
        busy = OSError(errno.EBUSY, "busy")
        with mock.patch("os.rmdir", side_effect=[busy, busy, None]) as removed:
            speed._remove(self.folder / "group")  # pylint: disable=protected-access
        self.assertEqual(removed.call_count, 3)
        with self.assertRaisesRegex(RunError, "cannot be removed: No such file"):
            speed._remove(self.folder / "absent")  # pylint: disable=protected-access

    def test_command_enters_first(self):
        command = speed.Group(self.folder).entering(["sh", "-c", "echo $$"])
        said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        self.assertEqual((self.folder / "cgroup.procs").read_text(), said)


if __name__ == "__main__":
    unittest.main()
