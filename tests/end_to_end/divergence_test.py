"""An update that breaks down ends a run, or is rolled back and goes on more slowly; either way nothing on disk is
harmed.
"""

import dataclasses
import json
import pathlib
import tempfile
import unittest
from unittest import mock

from mlgo.compiler.testing import fake_clang
from mlgo.learning.algorithm import Algorithm
from mlgo.learning.algorithms.es.algorithm import EsConfig
from mlgo.learning.algorithms.es.learner import EsLearner
from mlgo.learning.cloning_config import BcConfig
from mlgo.learning.divergence import Divergence, DivergenceError
from mlgo.learning.network import NetworkConfig
from mlgo.problems.regalloc_eviction.problem import PROBLEM
from mlgo.trace.vocabulary import VocabularyConfig
from mlgo.training.figures import read_records
from mlgo.training.run_inputs import RunInputs
from mlgo.training.settings import Configurations, RunSettings
from mlgo.training.training_run import TrainingRun

#: Learning rates of the learners that were made, in their order.
_RATES: list[float] = []


class ExplodingLearner(EsLearner):
    """Explodes in iteration 1."""

    def prepare(self, network, state):
        super().prepare(network, state)
        _RATES.append(self.config.learning_rate)

    def update(self, iteration, samples):
        metrics = super().update(iteration, samples)
        if iteration == 1:
            raise DivergenceError(Divergence.EXPLODED, "the update", "has loss 1e9", "Learn more slowly")
        return metrics


class DivergenceTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        for name in ("bin", "train"):
            (self.folder / name).mkdir()
        clang = pathlib.Path(fake_clang.install(self.folder / "bin", PROBLEM))
        modules = {f"m{index}": fake_clang.FakeModule.bitcode({f"f{index}": 4, f"g{index}": 3}) for index in range(4)}
        fake_clang.write_corpus(self.folder / "train", modules)
        self.inputs = RunInputs(clang, self.folder / "train", None, None, None, self.folder / "output")
        self.enterContext(mock.patch.object(Algorithm, "learner_class", lambda self: ExplodingLearner))
        _RATES.clear()

    def run_with(self, on_divergence: str, iterations: int = 3) -> list[dict]:
        """The records of all iterations of a run."""
        settings = RunSettings(
            algorithm="es",
            warm_start="none",
            iterations=iterations,
            modules_per_iteration=2,
            validation_modules=1,
            validation_interval=1,
            on_divergence=on_divergence,
        )
        configurations = Configurations(
            settings, VocabularyConfig(quantiles=50), NetworkConfig(fc_layer_params=(4,)), BcConfig(), EsConfig(pairs=1)
        )
        TrainingRun(self.inputs, configurations, workers=2).run()
        return self.records()

    def records(self) -> list[dict]:
        iterations, _ = read_records(self.inputs.output / "learning")
        return iterations

    def test_stop(self):
        for _ in range(2):
            with self.assertRaisesRegex(DivergenceError, "the update: has loss 1e9. Learn more slowly"):
                self.run_with("stop")
        latest = json.loads((self.inputs.output / "learning" / "latest.json").read_text(encoding="utf-8"))
        self.assertEqual(latest["facts"]["iteration"], 1)
        self.assertEqual([record["iteration"] for record in self.records()], [0])

    def test_roll_back(self):
        records = self.run_with("roll_back")
        self.assertEqual([record.get("diverged") for record in records], [None, "exploded", None])
        self.assertEqual(_RATES, [0.02, 0.01])
        self.assertEqual(self.run_with("roll_back"), records)
        # Without its checkpoint a run begins again, and comes to the same.
        weights = (self.inputs.output / "policy" / "weights.npz").read_bytes()
        self.inputs = dataclasses.replace(self.inputs, output=self.folder / "again")
        self.assertEqual(self.run_with("roll_back"), records)
        self.assertEqual((self.inputs.output / "policy" / "weights.npz").read_bytes(), weights)


if __name__ == "__main__":
    unittest.main()
