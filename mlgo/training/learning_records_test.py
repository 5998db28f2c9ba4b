"""Figures of the learning stage: a resumed run drops what it repeats and keeps the rest."""

import pathlib
import tempfile
import unittest

from mlgo.training.learning_records import LearningRecords, read_records


class LearningRecordsTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

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


if __name__ == "__main__":
    unittest.main()
