"""Every Python file of the workspace passes the type checker."""

import os
import unittest

from mypy import api

from tests.clones import clone


class TypesTest(unittest.TestCase):
    def test_every_file(self):
        root = clone.root()
        files = [str(path.relative_to(root)) for path in clone.files(root) if path.suffix == ".py"]
        self.assertGreater(len(files), 500, f"only {len(files)} Python files below {root}")
        os.chdir(root)
        arguments = [f"--config-file={root / 'mypy.toml'}", "--cache-dir=/dev/null", "--no-color-output", "--", *files]
        report, errors, code = api.run(arguments)
        self.assertEqual(code, 0, report + errors)
        self.assertIn(f"Success: no issues found in {len(files)} source files", report)


if __name__ == "__main__":
    unittest.main()
