"""The table, and that a missed target or a broken benchmark changes the exit code."""

import json
import pathlib
import sys
import tempfile
import types
import unittest
from unittest import mock

from mlgo.run.exit_codes import ExitCode
from tests.benchmarks import main
from tests.benchmarks.row import Row, at_least, at_most


class TableTest(unittest.TestCase):
    def test_rows(self):
        rows = [at_least("fast", 812345.6, "x/s", 400_000), at_most("slow", 1.25, "x", 1.1), Row("plain", 0.5, "s")]
        self.assertEqual(
            main.table(rows).splitlines(),
            [
                "name     value  unit   target  held",
                "fast   812,346  x/s   400,000  yes",
                "slow      1.25  x         1.1  NO",
                "plain      0.5  s",
            ],
        )

    def test_a_row_with_half_a_target(self):
        with self.assertRaisesRegex(ValueError, "must both be given or both not"):
            Row("x", 1.0, "s", 2.0)


class ExitCodeTest(unittest.TestCase):
    def run_with(self, rows, *arguments: str) -> int:
        module = types.ModuleType("fake_benchmark")
        vars(module)["measure"] = rows if callable(rows) else lambda: rows
        with (
            mock.patch.dict(sys.modules, fake_benchmark=module),
            mock.patch.object(main, "BENCHMARKS", {"fake": "fake_benchmark"}),
        ):
            return main.main(list(arguments))

    def test_codes(self):
        self.assertEqual(self.run_with([at_least("a", 2, "x", 1)]), ExitCode.DONE)
        self.assertEqual(self.run_with([at_least("a", 1, "x", 2)]), ExitCode.OUTPUT_DIFFERS)
        self.assertEqual(self.run_with(lambda: 1 / 0), ExitCode.INTERNAL_ERROR)

    def test_json(self):
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory, "rows.json")
            self.run_with([at_least("a", 2, "x", 1)], "--only", "fake", "--json", str(path))
            self.assertEqual(
                json.loads(path.read_text()), [{"name": "a", "value": 2, "unit": "x", "target": 1, "held": True}]
            )


if __name__ == "__main__":
    unittest.main()
