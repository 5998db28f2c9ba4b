import os
import pathlib
import signal
import subprocess
import sys
import tempfile
from unittest import mock

from mlgo.compiler import scratch
from mlgo.run.exit_codes import RunError
from mlgo.run.testing.folder_case import FolderCase

_OWNER = """
import os, sys, unittest.mock
sys.path[:0] = {path!r}
from mlgo.compiler import scratch
scratch._MEMORY_DISK = {base!r}
scratch._MIN_FREE_BYTES = 0
with scratch.scratch_directory() as directory:
    print(directory, flush=True)
    {action}
"""


class ScratchTest(FolderCase):
    def setUp(self):
        super().setUp()
        self.addCleanup(scratch._process_directory.cache_clear)  # pylint: disable=protected-access
        for name, value in (("_MEMORY_DISK", str(self.folder)), ("_MIN_FREE_BYTES", 0)):
            self.enterContext(mock.patch.object(scratch, name, value))
        scratch._process_directory.cache_clear()  # pylint: disable=protected-access

    def run_owner(self, action: str) -> tuple[pathlib.Path, int]:
        program = _OWNER.format(path=sys.path, base=str(self.folder), action=action)
        ended = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, check=False)
        return pathlib.Path(ended.stdout.decode().strip()), ended.returncode

    def test_removed_after_use(self):
        with scratch.scratch_directory() as first, scratch.scratch_directory() as second:
            self.assertNotEqual(first, second)
            pathlib.Path(first, "file").write_bytes(b"x")
            self.assertTrue(first.startswith(str(self.folder)))
        self.assertFalse(os.path.exists(first))

    def test_a_process_that_ends_leaves_nothing(self):
        directory, code = self.run_owner("pass")
        self.assertEqual(code, 0)
        self.assertEqual(list(directory.parent.parent.glob("process-*")), [])

    def test_what_a_killed_process_left_is_removed_and_the_living_are_spared(self):
        left, code = self.run_owner("os.kill(os.getpid(), 9)")
        self.assertEqual(code, -signal.SIGKILL)
        self.assertTrue(left.exists())
        with scratch.scratch_directory() as mine:
            self.assertFalse(left.exists())
            self.run_owner("pass")
            self.assertTrue(os.path.exists(mine))

    def test_no_room_in_memory(self):
        with tempfile.TemporaryDirectory() as other, mock.patch.object(tempfile, "tempdir", other):
            with mock.patch.object(scratch, "_MIN_FREE_BYTES", 1 << 62), scratch.scratch_directory() as directory:
                self.assertTrue(directory.startswith(other))

    def test_a_place_of_somebody_else(self):
        (self.folder / f"mlgo-{os.getuid()}").symlink_to(self.folder)
        with tempfile.TemporaryDirectory() as other, mock.patch.object(tempfile, "tempdir", other):
            with scratch.scratch_directory() as directory:
                self.assertTrue(directory.startswith(other))

    def test_a_given_parent_that_is_absent(self):
        with self.assertRaisesRegex(RunError, "cannot be made: No such file or directory. free space"):
            with scratch.scratch_directory(self.folder / "absent"):
                pass
