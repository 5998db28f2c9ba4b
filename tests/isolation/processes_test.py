import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from tests.isolation import processes


class ProcessesTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def root(self, *names):
        """A root folder with empty folders of these names."""
        root = self.folder / "a root"
        for name in names:
            (root / name).mkdir(parents=True)
        for name in ("bin", "lib", "lib64"):
            (root / name).symlink_to(f"usr/{name}")
        return root

    def test_process_ends_with_the_block(self):
        log = self.folder / "log"
        with processes.process([sys.executable, "-c", "import time; time.sleep(600)"], log) as started:
            self.assertIsNone(started.poll())
        self.assertIsNotNone(started.poll())

    def test_process_sees_its_own_root_folder(self):
        possible = subprocess.run(["unshare", "--mount", "--pid", "--fork", "true"], capture_output=True, check=False)
        if os.geteuid() or possible.returncode:
            self.skipTest("no root, or no mount namespaces on this machine")
        root = self.root("dev", "old", "usr", "etc")
        (root / "etc/mark").write_text("inside", "ascii")
        command = processes.in_root(
            root, '/bin/sh -c "cat /etc/mark; echo; echo $$; echo /*"', ["mount --bind /usr usr"]
        )
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        self.assertEqual(text.split("\n")[:3], ["inside", "1", "/bin /dev /etc /lib /lib64 /old /usr"])
        self.assertEqual(list((root / "usr").iterdir()), [])


if __name__ == "__main__":
    unittest.main()
