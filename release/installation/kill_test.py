"""An installation that is killed before any change of the file system leaves the old compiler or the new one."""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

from release.installation import install
from release.installation.testing import archives

#: Audit events of Python for changes of the file system (docs.python.org/3/library/audit_events.html).
CHANGES = ("open", "os.chmod", "os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.symlink", "shutil.rmtree")


def install_until(archive: pathlib.Path, prefix: pathlib.Path, change: int) -> bool:
    """Installs in another process, which kills itself before change number `change`; whether it came to the end."""
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        changes = iter(range(change, -1, -1))

        def hook(event, arguments):
            if event not in CHANGES or (event == "open" and arguments[2] & (os.O_WRONLY | os.O_RDWR) == 0):
                return
            if any(os.fspath(prefix) in str(argument) for argument in arguments) and next(changes) == 0:
                os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(hook)
        install.install(archive, prefix)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return False
    assert os.waitstatus_to_exitcode(status) == 0, status
    return True


class KillTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.archives = [archives.write(self.folder / f"{said}.tar", said) for said in ("one", "two", "three", "four")]

    def says(self, prefix):
        done = subprocess.run([prefix / "bin/clang", "--version"], env={}, capture_output=True, text=True, check=True)
        return done.stdout.splitlines()[0]

    def check_ends(self, prefix):
        """The next installation repairs everything."""
        self.assertTrue(install_until(self.archives[3], prefix, 10**6))
        self.assertEqual(self.says(prefix), "four")
        self.assertEqual([path for path in prefix.rglob("*") if path.name.endswith(".partial")], [])
        self.assertEqual(
            sorted(os.listdir(prefix / "versions")),
            sorted({os.path.basename(os.readlink(prefix / name)) for name in ("current", "previous")}),
        )

    def test_killed_anywhere(self):
        seen = set()
        for change in range(1000):
            prefix = self.folder / f"prefix {change}"
            for archive in self.archives[:2]:
                install.install(archive, prefix)
            ended = install_until(self.archives[2], prefix, change)
            seen.add(self.says(prefix))
            self.check_ends(prefix)
            if ended:
                break
        self.assertEqual(seen, {"two", "three"})
        # As many changes as an installation has, so the loop met all of them.
        self.assertGreater(change, 15)

    def test_first_installation_killed_anywhere(self):
        for change in range(1000):
            prefix = self.folder / f"prefix {change}"
            ended = install_until(self.archives[0], prefix, change)
            self.assertTrue(install_until(self.archives[1], prefix, 10**6))
            self.assertEqual(self.says(prefix), "two")
            if ended:
                break
        self.assertGreater(change, 15)


if __name__ == "__main__":
    unittest.main()
