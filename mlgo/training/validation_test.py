"""Candidates: saved weights come back, and the lowest ratio is chosen; figures: a resumed run drops what it repeats."""

from mlgo.learning.checkpoint import digest_of
from mlgo.learning.network import NetworkConfig, initial_network
from mlgo.learning.testing import synthetic
from mlgo.run.exit_codes import RunError
from mlgo.run.testing.folder_case import FolderCase
from mlgo.training import validation
from mlgo.training.figures import LearningRecords, read_records
from mlgo.training.validation import Candidate


class CandidatesTest(FolderCase):
    def test_the_lowest_ratio_is_chosen_and_the_earlier_of_equals(self):
        found = [Candidate(0, 1.0), Candidate(5, 0.9), Candidate(10, 0.9)]
        self.assertEqual(validation.choose(found).iteration, 5)
        with self.assertRaisesRegex(ValueError, "no weights were validated"):
            validation.choose([])

    def test_weights_and_figures_come_back(self):
        networks = {n: initial_network(synthetic.normalizer(), n, NetworkConfig((4,), (4,))) for n in (1, 2)}
        records = LearningRecords(self.folder, 3)
        for iteration, network in networks.items():
            validation.save_candidate(self.folder, iteration, network)
            records.add_validation({"iteration": iteration, "geometric_mean": 1.0 - iteration / 10})
        self.assertEqual(validation.read_candidates(self.folder), [Candidate(1, 0.9), Candidate(2, 0.8)])
        network = validation.candidate_network(self.folder, 2, template=networks[1])
        self.assertEqual(digest_of(network.weights), digest_of(networks[2].weights))
        not_an_integer = ({"iteration": "1"}, "'iteration' that is not an integer")
        for changed, message in (not_an_integer, ({"iteration": 1}, "no f")):
            records.add_validation(changed)
            with self.assertRaisesRegex(RunError, f"validation .*{message}.*Delete"):
                validation.read_candidates(self.folder)
            (self.folder / "validations.jsonl").unlink()
        with self.assertRaisesRegex(RunError, "weights of iteration 3 in .*: are absent"):
            validation.candidate_network(self.folder, 3, template=networks[1])

    def test_only_the_best_weights_stay(self):
        network = initial_network(synthetic.normalizer(), 1, NetworkConfig((4,), (4,)))
        for iteration in (1, 12, 120, 123):
            validation.save_candidate(self.folder, iteration, network)
        # A process was killed between the two files of a checkpoint.
        (self.folder / "candidates" / "00124-0123456789abcdef.npz").write_bytes(b"arrays")
        validation.keep_only(self.folder, [Candidate(12, 0.9), Candidate(120, 0.8)])
        self.assertEqual(len(list((self.folder / "candidates").iterdir())), 4)
        validation.candidate_network(self.folder, 12, template=network)

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
        # Two files, whatever the number of iterations.
        self.assertEqual(len(list(self.folder.rglob("*"))), 2)
