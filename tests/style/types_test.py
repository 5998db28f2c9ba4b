"""The folders that mypy.toml lists pass the type checker."""

import os
import unittest

from mypy import api

from tests.clones import clone


class TypesTest(unittest.TestCase):
    def test_public_surface(self):
        root = clone.root()
        os.chdir(root)
        arguments = [f"--config-file={root / 'mypy.toml'}", "--cache-dir=/dev/null", "--no-color-output"]
        report, errors, code = api.run(arguments)
        self.assertEqual(code, 0, report + errors)
        self.assertIn("Success: no issues found in", report)


if __name__ == "__main__":
    unittest.main()
