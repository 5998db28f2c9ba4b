"""Settings: the papers' gin files are readable and set what they name; wrong values are refused by name."""

import pathlib
import unittest

import gin

from mlgo.learning.algorithms.bc_max.algorithm import BcMaxConfig
from mlgo.learning.algorithms.dqn.algorithm import DqnConfig
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
        self._read("ppo/papers_inlining.gin")
        self.assertEqual((NetworkConfig().fc_layer_params, PpoConfig().learning_rate), ((40, 40, 20), 3e-5))
        gin.clear_config()
        self._read("es/papers_inlining.gin")
        self.assertEqual((EsConfig().pairs, EsConfig().sigma, EsConfig().last_layers), (50, 0.5, None))
        gin.clear_config()
        self._read("dqn/papers_inlining.gin")
        self.assertEqual((DqnConfig().minibatch, DqnConfig().gradient_clipping), (256, None))

    def test_wrong_values_are_named(self):
        for config, wrong in (
            (BcConfig, {"label_smoothing": 1.0}),
            (PpoConfig, {"samples_per_module": 0}),
            (PpoConfig, {"temperature": float("nan")}),
            (DqnConfig, {"replay_iterations": 0}),
            (DqnConfig, {"discount": 0.0}),
            (BcMaxConfig, {"deviation": -1.0}),
        ):
            message = f"{config.__name__}.*{next(iter(wrong))}"
            with self.subTest(config.__name__, **wrong), self.assertRaisesRegex(ValueError, message):
                config(**wrong)


if __name__ == "__main__":
    unittest.main()
