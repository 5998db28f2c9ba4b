"""Parts of an inventory."""

import contextlib
import io
import json
import pathlib
import tempfile
import unittest

import inventory_part

_REPOSITORIES: dict[str, dict] = {"b": {"entries": [1]}, "a": {"entries": [2]}, "other": {"entries": [3]}}
_INVENTORY = {"bazel": "7", "repositories": _REPOSITORIES}


class InventoryPartTest(unittest.TestCase):
    def run_on(self, inventory: dict, *names: str) -> str:
        with tempfile.TemporaryDirectory() as folder:
            source, target = pathlib.Path(folder, "in.json"), pathlib.Path(folder, "out.json")
            source.write_text(json.dumps(inventory), encoding="utf-8")
            self.assertEqual(inventory_part.main([str(source), str(target), *names]), 0)
            return target.read_text(encoding="utf-8")

    def test_changes_with_its_repositories_only(self):
        changed = {"bazel": "8", "repositories": {**_REPOSITORIES, "other": {}}}
        self.assertEqual(self.run_on(_INVENTORY, "b", "a"), self.run_on(changed, "a", "b"))
        self.assertNotEqual(self.run_on(_INVENTORY, "other"), self.run_on(changed, "other"))

    def test_unknown_repository(self):
        with (
            tempfile.NamedTemporaryFile("w", suffix=".json") as file,
            contextlib.redirect_stderr(io.StringIO()) as said,
        ):
            json.dump(_INVENTORY, file)
            file.flush()
            self.assertEqual(inventory_part.main([file.name, "/dev/null", "c"]), 1)
        self.assertIn("has no repository c; add it to MODULE.bazel", said.getvalue())


if __name__ == "__main__":
    unittest.main()
