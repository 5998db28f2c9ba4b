"""Settings: the papers' gin files are readable and set what they name; wrong values are refused by name."""

import pathlib
import unittest
from typing import Any

import gin

from mlgo.learning.algorithms.bc_max.algorithm import BcMaxConfig
from mlgo.learning.algorithms.dqn.algorithm import DqnConfig
from mlgo.learning.algorithms.effect_regression.algorithm import EffectConfig
from mlgo.learning.algorithms.es.algorithm import EsConfig
from mlgo.learning.algorithms.ppo.algorithm import PpoConfig
from mlgo.learning.cloning_config import BcConfig
from mlgo.learning.network import NetworkConfig

_FOLDER = pathlib.Path(__file__).parent


class PapersTest(unittest.TestCase):
    def _read(self, name: str) -> None:
        self.addCleanup(gin.clear_config)
        with gin.unlock_config():
            gin.parse_config_file(str(_FOLDER / name))

    def test_every_file_is_about_settings_that_exist(self):
        names = sorted(str(path.relative_to(_FOLDER)) for path in _FOLDER.glob("*/papers*.gin"))
        self.assertEqual(len(names), 5)
        for name in names:
            with self.subTest(name):
                self._read(name)
                for config in (BcConfig, BcMaxConfig, DqnConfig, EsConfig, NetworkConfig, PpoConfig):
                    config()  # What is bound is checked.
                gin.clear_config()

    def test_what_they_set(self):
        cases: tuple[tuple[str, type, dict[str, object]], ...] = (
            ("ppo/papers_inlining.gin", NetworkConfig, {"fc_layer_params": (40, 40, 20)}),
            ("ppo/papers_inlining.gin", PpoConfig, {"learning_rate": 3e-5, "value_loss": 0.5}),
            ("ppo/papers_eviction.gin", PpoConfig, {"minibatch": 4096, "learning_rate": 3e-4}),
            ("es/papers_inlining.gin", EsConfig, {"pairs": 50, "sigma": 0.5, "last_layers": None}),
            ("dqn/papers_inlining.gin", DqnConfig, {"minibatch": 256, "gradient_clipping": None}),
        )
        for name, config, expected in cases:
            self._read(name)
            found = vars(config())
            self.assertEqual({field: found[field] for field in expected}, expected, name)
            gin.clear_config()

    def test_wrong_values_are_named(self):
        cases: tuple[tuple[type, dict[str, Any], str], ...] = (
            (BcConfig, {"label_smoothing": 1.0}, "label_smoothing=1.0 must lie in"),
            (PpoConfig, {"samples_per_module": 0}, "samples_per_module=0 must be at least 1"),
            (PpoConfig, {"temperature": float("nan")}, "temperature=nan must be positive"),
            (PpoConfig, {"clip": -1}, "clip=-1 must be positive"),
            (PpoConfig, {"baseline": "mean"}, "baseline='mean' is none of"),
            (DqnConfig, {"replay_iterations": 0}, "replay_iterations=0"),
            (DqnConfig, {"discount": 0.0}, ".*discount=0.0"),
            (DqnConfig, {"temperature": 0}, "temperature=0"),
            (BcMaxConfig, {"deviation": -1.0}, "deviation=-1.0"),
            (BcMaxConfig, {"granularity": "function"}, "granularity='function' is neither"),
            (EsConfig, {"optimizer": "momentum"}, "optimizer='momentum' is neither adam nor plain"),
            (EsConfig, {"sigma": 0}, ".*: sigma and learning_rate must be positive"),
            (EffectConfig, {"first_step": 0.0}, "first_step=0"),
            (EffectConfig, {"preferred_below": {"gain": (1.0,)}}, ".*must be .limit, preference."),
            (EffectConfig, {"preferred_below": {"gain": (0.0, float("inf"))}}, ".*must be .limit, preference."),
        )
        for config, wrong, message in cases:
            with self.subTest(config.__name__, **wrong):
                with self.assertRaisesRegex(ValueError, f"^{config.__name__}.{message}"):
                    config(**wrong)
