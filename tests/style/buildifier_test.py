"""BUILD and .bzl files of the workspace have the layout that buildifier gives them."""

import os
import subprocess
import unittest

from mlgo.run import locate
from tests.clones import clone


class BuildifierTest(unittest.TestCase):
    def test_every_file(self):
        program = locate.rlocation(os.environ["BUILDIFIER"])
        if not os.access(program, os.X_OK):
            self.skipTest(program.read_text(encoding="utf-8"))
        root = clone.root()
        files = [path for path in clone.files(root) if path.suffix in (".bazel", ".bzl")]
        self.assertGreater(len(files), 100, f"only {len(files)} BUILD and .bzl files below {root}")
        done = subprocess.run([program, "-mode=check", *files], cwd=root, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, f"{done.stdout}{done.stderr}\nSee tests/style/README.md.")


if __name__ == "__main__":
    unittest.main()
