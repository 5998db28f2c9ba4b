"""Stages that run once (mlgo/run/run_folder.py)."""

import pathlib
import tempfile
import unittest

from mlgo.run import manifest, run_folder


class RunOnceTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()), "stage")
        self.found, self.told = [], []
        self.is_interrupted = False

    def work(self, folder):
        self.found.append(sorted(path.name for path in folder.iterdir() if path.name != run_folder.STARTED_NAME))
        (folder / f"file{len(self.found)}").write_text("content")
        if self.is_interrupted:
            (folder / ".half.x.partial").touch()
            raise KeyboardInterrupt
        return {"runs": len(self.found)}

    def run_once(self, **changes):
        asked = {"stage": "trace", "inputs": {"corpus": "1"}, "configuration": {"seed": 1}, **changes}
        return run_folder.run_once(self.folder, work=self.work, tell=self.told.append, **asked)

    def test_second_run_is_skipped(self):
        first = self.run_once()
        self.assertEqual(self.run_once(), first)
        self.assertEqual(self.found, [[]])
        self.assertEqual(sorted(first.outputs), ["file1", run_folder.STARTED_NAME])

    def test_interrupted_stage_continues_without_unfinished_files(self):
        self.is_interrupted = True
        with self.assertRaises(KeyboardInterrupt):
            self.run_once()
        self.is_interrupted = False
        self.assertEqual(self.run_once().summary, {"runs": 2})
        self.assertEqual(self.found, [[], ["file1"]])

    def test_other_inputs_begin_anew(self):
        self.run_once()
        self.run_once(inputs={"corpus": "2"})
        self.run_once(inputs={"corpus": "2"}, configuration={"seed": 2})
        self.assertEqual(self.found, [[], [], []])
        self.assertEqual(
            self.told, ["trace: runs again, for corpus changed", "trace: runs again, for seed changed"], "in silence"
        )

    def test_a_stage_that_does_not_say_what_it_is_of_begins_anew(self):
        self.run_once()
        (self.folder / run_folder.STARTED_NAME).unlink()
        self.run_once()
        self.assertIn("does not say what its results rest on", self.told[0])

    def test_damaged_output_runs_the_stage_again(self):
        self.run_once()
        (self.folder / "file1").write_text("other")
        self.assertEqual(self.run_once().summary, {"runs": 2})
        self.assertIsNotNone(manifest.read(self.folder))


if __name__ == "__main__":
    unittest.main()
