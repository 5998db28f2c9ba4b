"""Figures of the learning stage: a resumed run drops what it repeats and keeps the rest, also of earlier versions."""

import pathlib
import tempfile
import unittest

from mlgo.run import files
from mlgo.training.learning_records import LearningRecords, read_records


class LearningRecordsTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def test_what_came_after_the_checkpoint_is_dropped(self):
        records = LearningRecords(self.folder, 0)
        self.assertIsNone(records.last_validated)
        for number in range(3):
            records.add_validation({"iteration": number})
            records.add_iteration({"iteration": number, "kl": 0.5})
        # The process was killed before the checkpoint after iteration 1.
        resumed = LearningRecords(self.folder, 1)
        iterations, validations = read_records(self.folder)
        self.assertEqual(iterations, [{"iteration": 0, "kl": 0.5}])
        self.assertEqual([record["iteration"] for record in validations], [0, 1])
        self.assertEqual(resumed.last_validated, 1)

    def test_two_files_whatever_the_number_of_iterations(self):
        records = LearningRecords(self.folder, 0)
        for number in range(50):
            records.add_validation({"iteration": number})
            records.add_iteration({"iteration": number})
        self.assertEqual(len(list(self.folder.rglob("*"))), 2)

    def test_an_interrupted_run_of_an_earlier_version(self):
        for number in range(3):
            record = {"iteration": number, "strays": 0.25}
            files.write_json_atomically(self.folder / "iterations" / f"{number:05}.json", record)
        before = read_records(self.folder)
        self.assertEqual(before[0][2], {"iteration": 2, "exploration_rate": 0.25})
        LearningRecords(self.folder, 3).add_iteration({"iteration": 3})
        self.assertEqual(read_records(self.folder)[0], [*before[0], {"iteration": 3}])
        self.assertFalse((self.folder / "iterations").exists())


if __name__ == "__main__":
    unittest.main()
