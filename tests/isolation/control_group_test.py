import errno
import pathlib
import subprocess
import tempfile
import unittest
from unittest import mock

from mlgo.run.exit_codes import RunError
from tests.isolation import control_group


class ControlGroupTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def test_controller_of_version_1_is_preferred(self):
        mounts = "cgroup2 /c/unified cgroup2 rw 0 0\ncgroup /c/cpu cgroup rw,cpu,cpuacct 0 0\n"
        self.assertEqual(control_group.controller(mounts, "cpu"), (pathlib.Path("/c/cpu"), 1))

    def test_controller_of_version_2(self):
        mounts = "cgroup2 /c cgroup2 rw,nsdelegate 0 0\n"
        self.assertEqual(control_group.controller(mounts, "cpu"), (pathlib.Path("/c"), 2))

    def test_no_controller(self):
        mounts = "cgroup /c/cpuset cgroup rw,cpuset 0 0\nproc /proc proc rw 0 0\n"
        self.assertIsNone(control_group.controller(mounts, "cpu"))

    def test_group_of_version_2(self):
        mounts = self.folder / "mounts"
        mounts.write_text(f"cgroup2 {self.folder} cgroup2 rw 0 0\n", "utf-8")
        for of, enabled in (("memory", "+memory"), (control_group.CPU_TIME, "untouched")):
            (self.folder / "cgroup.subtree_control").write_text("untouched", "ascii")
            with (
                mock.patch.object(control_group, "_MOUNTS", mounts),
                control_group.made("group", of) as (folder, version),
            ):
                self.assertEqual((folder, version, folder.is_dir()), (self.folder / "group", 2, True))
            self.assertEqual((self.folder / "cgroup.subtree_control").read_text("ascii"), enabled)
            self.assertFalse(folder.exists())

    def test_group_is_removed_when_its_processes_are_gone(self):
        (self.folder / "group").mkdir()
        busy = OSError(errno.EBUSY, "busy")
        with mock.patch("os.rmdir", side_effect=[busy, busy, None]) as removed:
            control_group._remove(self.folder / "group")  # pylint: disable=protected-access
        self.assertEqual(removed.call_count, 3)
        with self.assertRaisesRegex(RunError, "cannot be removed: No such file"):
            control_group._remove(self.folder / "absent")  # pylint: disable=protected-access

    def test_command_enters_first(self):
        command = control_group.ControlGroup(self.folder).entering(["sh", "-c", "echo $$"])
        said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        self.assertEqual((self.folder / "cgroup.procs").read_text(), said)


if __name__ == "__main__":
    unittest.main()
