"""Runs of earlier versions: names of algorithms and figures are renamed, so that the run can be resumed."""

import json
import pathlib
import tempfile
import unittest

from mlgo.learning.algorithms.registry import algorithm_named, current_names
from mlgo.run.run_folder import claim_configuration
from mlgo.training import former_runs
from mlgo.training.figures import parse_metrics
from mlgo.training.settings import configure

_FORMER = {"run": {"algorithm": "effects", "seed": 1}, "effects": {"step": 0.5}}
_CURRENT = {"run": {"algorithm": "effect_regression", "seed": 1}, "effect_regression": {"step": 0.5}}


class FormerRunsTest(unittest.TestCase):
    def test_names(self):
        self.assertEqual(current_names(_FORMER), _CURRENT)
        self.assertEqual(
            current_names([{"strays": 0.04, "effects": None}]), [{"exploration_rate": 0.04, "effect_regression": None}]
        )
        self.assertEqual(current_names(_CURRENT), _CURRENT)
        self.assertIs(algorithm_named("effects"), algorithm_named("effect_regression"))

    def test_a_run_is_claimed_under_its_current_names(self):
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            claim_configuration(folder, _FORMER)
            former_runs.rename(folder)
            self.assertTrue(claim_configuration(folder, _CURRENT))

    def test_settings_and_metrics(self):
        settings = configure({"problem": "inlining_for_size", "algorithm": "effects"}, [], ["EffectConfig.step = 0.25"])
        self.assertEqual((settings.run.algorithm, settings.learner.step), ("effect_regression", 0.25))
        line = json.dumps({"kind": "iteration", "iteration": 0, "strays": 0.04}) + "\n"
        self.assertEqual(parse_metrics(line.encode(), "metrics")[0], [{"iteration": 0, "exploration_rate": 0.04}])


if __name__ == "__main__":
    unittest.main()
