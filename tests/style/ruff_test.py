"""Every Python file of the workspace passes `ruff ARGUMENTS`, the arguments of this test."""

import subprocess
import sys
import unittest

from tests.clones import clone
from tests.style import run_ruff

ARGUMENTS: list[str] = []


class RuffTest(unittest.TestCase):
    def test_every_file(self):
        root = clone.root()
        files = [str(path) for path in clone.files(root) if path.suffix == ".py"]
        self.assertGreater(len(files), 500, f"only {len(files)} Python files below {root}")
        command = [str(run_ruff.PROGRAM), *ARGUMENTS, "--no-cache", f"--config={root / 'ruff.toml'}", "--", *files]
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, f"ruff {' '.join(ARGUMENTS)}\n{done.stdout[-8000:]}{done.stderr[-2000:]}")


if __name__ == "__main__":
    ARGUMENTS += sys.argv[1:]
    unittest.main(argv=sys.argv[:1])
