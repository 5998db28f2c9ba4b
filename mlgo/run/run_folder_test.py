"""Lock, identity and timings of a run folder."""

import pathlib
import tempfile
import unittest

from mlgo.run import files
from mlgo.run.exit_codes import RunError
from mlgo.run.run_folder import TIMINGS_NAME, RunFolder


class RunFolderTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.path = pathlib.Path(scratch.name, "run")

    def open(self):
        folder = RunFolder(self.path)
        self.addCleanup(folder.close)
        return folder

    def test_one_process_at_a_time(self):
        first = RunFolder(self.path)
        with self.assertRaisesRegex(RunError, "is in use by another run. Wait for it, or: Give another --output_dir"):
            RunFolder(self.path)
        first.close()
        self.open()

    def test_only_the_same_run_is_resumed(self):
        folder = self.open()
        (folder.work / "x").mkdir(parents=True)
        self.assertFalse(folder.claim({"seed": 1, "corpus": {"digest": "a", "sizes": (1, 2)}}))
        self.assertFalse(folder.work.exists())
        self.assertTrue(folder.claim({"seed": 1, "corpus": {"digest": "a", "sizes": [1, 2]}}))
        with self.assertRaisesRegex(
            RunError, r"another configuration:\n  corpus.digest: was 'a', now 'b'\n  seed: was 1"
        ):
            folder.claim({"seed": None, "corpus": {"digest": "b", "sizes": [1, 2]}})

    def test_a_stage_runs_once_and_its_seconds_are_kept(self):
        folder = self.open()
        folder.claim({})
        runs = []
        for _ in range(2):
            done = folder.stage("trace", {}, {}, lambda path: runs.append(path) or {"modules": 3})
        self.assertEqual((runs, done.summary), ([self.path / "trace"], {"modules": 3}))
        files.write_json_atomically(self.path / TIMINGS_NAME, {"trace": 5.0})
        folder.claim({})
        self.assertEqual(folder.seconds, {"trace": 5.0})


if __name__ == "__main__":
    unittest.main()
