"""The learning loop: figures and candidates of a run, and a resumed run that equals an uninterrupted one."""

import pathlib
from typing import Any

import numpy as np

from mlgo.compiler.request import CompileFailure, CompileLimits, CompileRequest, CompileResult, FailureKind
from mlgo.compiler.testing import fake_clang
from mlgo.compiler.training_log import TrainingLog
from mlgo.corpus.corpus import Corpus
from mlgo.learning.algorithms.es.algorithm import EsConfig
from mlgo.learning.algorithms.registry import ALGORITHMS
from mlgo.learning.checkpoint import digest_of, load_checkpoint, save_checkpoint
from mlgo.learning.cloning_config import BcConfig
from mlgo.learning.network import NetworkConfig, initial_network
from mlgo.learning.testing import synthetic
from mlgo.run import determinism
from mlgo.run.exit_codes import RunError
from mlgo.run.testing.folder_case import FolderCase
from mlgo.score.function_scores import FunctionScore
from mlgo.trace.outcomes import ModuleRecord, Outcome
from mlgo.trace.setup import CompileSetup
from mlgo.trace.vocabulary import VocabularyConfig
from mlgo.training.figures import METRICS_NAME, Metrics, read_records
from mlgo.training.learning_loop import LearningInputs, LearningLoop
from mlgo.training.settings import Configurations, RunSettings

setUpModule = determinism.configure_tensorflow

DEFAULT_SCORE = 5.5

_ES = EsConfig(pairs=1)
_SIZES = NetworkConfig((4,), (4,))


class FakeExecutor:
    """Compiles in this process: one function with one decision, whose score follows from the bytes of the policy."""

    def __init__(self, requests: int | None = None):
        """Args: requests: stops with KeyboardInterrupt after so many; None: never."""
        self._left = requests

    def run_ordered(self, requests):
        for request in requests:
            if self._left == 0:
                raise KeyboardInterrupt
            self._left = self._left and self._left - 1
            yield self.outcome(request)

    def outcome(self, request: CompileRequest) -> CompileResult | CompileFailure:
        assert request.model_dir is not None
        model = (request.model_dir / "model.tflite").read_bytes()
        return result_of(request.module.name, 5.0 + sum(model) % 101 / 100)

    def close(self):
        pass


def result_of(module: str, score: float) -> CompileResult:
    features = synthetic.features(np.random.default_rng(1), 1)
    one = np.zeros(1, np.int32)
    log = TrainingLog(["f"], one, features, synthetic.best(features), np.array([score], np.float32), {})
    return CompileResult(module, log, None, 0.0)


class ValidationExecutor(FakeExecutor):
    """The same, with given ratios of the validation modules m4 and m5, by validation; None: the compile fails."""

    def __init__(self, **ratios: list[float | None]):
        super().__init__()
        self._ratios = ratios

    def outcome(self, request: CompileRequest) -> CompileResult | CompileFailure:
        name = request.module.name
        if name not in self._ratios:
            return super().outcome(request)
        ratio = self._ratios[name].pop(0)
        if ratio is None:
            return CompileFailure(name, FailureKind.CRASH, "SIGSEGV")
        return result_of(name, ratio * DEFAULT_SCORE)


class LearningLoopTest(FolderCase):
    def setUp(self):
        super().setUp()
        names = [f"m{index}" for index in range(6)]
        fake_clang.write_corpus(self.folder, {name: fake_clang.FakeModule.bitcode({"f": 1}) for name in names})
        self.corpus = Corpus.load(self.folder)

    def run_loop(
        self, name: str, executor: FakeExecutor, iterations: int = 3, algorithm: str = "es", config: Any = _ES
    ) -> dict:
        setup = CompileSetup(pathlib.Path("clang"), synthetic.PROBLEM, CompileLimits(), 1, 0.1, executor)
        default = ModuleRecord(Outcome.TRACED, None, {"f": FunctionScore(1, DEFAULT_SCORE)})
        names = [module.name for module in self.corpus.modules]
        train, validation = (self.corpus.select(part) for part in (names[:4], names[4:]))
        inputs = LearningInputs(train, validation, dict.fromkeys(names, default), setup)
        settings = RunSettings(
            algorithm=algorithm, iterations=iterations, modules_per_iteration=2, validation_interval=2
        )
        output = self.folder / name
        configurations = Configurations(settings, VocabularyConfig(), _SIZES, BcConfig(), config)
        start, work = initial_network(synthetic.normalizer(), 1, _SIZES), output / "work"
        return dict(LearningLoop(output / "learning", start, inputs, configurations, work, Metrics(output)).run())

    def state(self, name: str) -> tuple:
        folder = self.folder / name / "learning"
        found = load_checkpoint(folder, "latest")
        assert found is not None
        arrays, facts = found
        return digest_of(arrays), facts, read_records(folder)

    def test_figures_and_the_choice(self):
        summary = self.run_loop("run", FakeExecutor())
        _, facts, (iterations, validations) = self.state("run")
        self.assertEqual((facts["iteration"], facts["algorithm"]), (3, "es"))
        self.assertEqual([record["compiles"] for record in iterations], [4, 4, 4])
        self.assertEqual([record["iteration"] for record in validations], [0, 2, 3])
        ratios = {record["iteration"]: record["geometric_mean"] for record in validations}
        self.assertEqual(summary["validation_ratio"], min(ratios.values()))
        self.assertEqual(ratios[summary["chosen_iteration"]], summary["validation_ratio"])

    def test_weights_under_which_a_module_fails_are_not_chosen_for_it(self):
        """The module that was 30 % worse fails later, and the other one is worse than before."""
        ratios: dict[str, list[float | None]] = {"m4": [1.05, 1.3, None], "m5": [1.0, 0.7, 0.75]}
        summary = self.run_loop("run", ValidationExecutor(**ratios), iterations=4)
        self.assertEqual(summary["chosen_iteration"], 2)
        self.assertAlmostEqual(summary["validations"]["4"], (10 * 0.75) ** 0.5, places=2)
        _, _, (_, validations) = self.state("run")
        self.assertEqual([each["failed_compiles"] for each in validations], [{}, {}, {"m4": "crash"}])
        # However good the other module becomes, and after a resumption.
        ratios = {"m4": [None, 3.0], "m5": [0.01, 1.0]}
        self.assertEqual(self.run_loop("run", ValidationExecutor(**ratios), iterations=8)["chosen_iteration"], 2)

    def test_a_module_that_fails_with_the_first_weights_chooses_nothing(self):
        ratios: dict[str, list[float | None]] = {"m4": [None, 1.3], "m5": [1.0, 0.9]}
        self.assertEqual(self.run_loop("run", ValidationExecutor(**ratios), iterations=2)["chosen_iteration"], 2)
        ratios = {"m4": [None, 0.1], "m5": [0.8, 0.85]}
        summary = self.run_loop("run", ValidationExecutor(**ratios), iterations=6)
        self.assertEqual(summary["chosen_iteration"], 4)
        self.assertAlmostEqual(summary["validations"]["6"], 0.85, places=2)

    def run_interrupted(self, name: str, iterations: int) -> dict:
        for requests in (3, 7, 7):
            with self.assertRaises(KeyboardInterrupt):
                self.run_loop(name, FakeExecutor(requests), iterations)
        return self.run_loop(name, FakeExecutor(), iterations)

    def test_a_resumed_run_equals_an_uninterrupted_one(self):
        whole = self.run_loop("whole", FakeExecutor())
        self.assertEqual(self.run_interrupted("stopped", 3), whole)
        self.assertEqual(self.state("stopped"), self.state("whole"))

    def files(self, name: str) -> dict[str, bytes]:
        """Every file of the stage and its figures."""
        output = self.folder / name
        paths = [*(output / "learning").rglob("*"), output / METRICS_NAME]
        return {str(path.relative_to(output)): path.read_bytes() for path in paths if path.is_file()}

    def test_a_run_of_every_algorithm_grows_into_a_longer_one(self):
        for algorithm, description in ALGORITHMS.items():
            with self.subTest(algorithm):
                config = description.config()
                for total in (3, 4, 5):
                    grown = self.run_loop(f"{algorithm} grown", FakeExecutor(), total, algorithm, config)
                whole = self.run_loop(f"{algorithm} whole", FakeExecutor(), 5, algorithm, config)
                self.assertEqual(grown, whole)
                self.assertEqual(list(grown["validations"]), ["0", "2", "4", "5"])
                self.assertEqual(self.files(f"{algorithm} grown"), self.files(f"{algorithm} whole"))

    def test_a_run_interrupted_while_it_grows(self):
        whole = self.run_loop("whole", FakeExecutor(), 7)
        self.run_loop("grown", FakeExecutor(), 3)
        self.assertEqual(self.run_interrupted("grown", 7), whole)
        self.assertEqual(self.files("grown"), self.files("whole"))

    def test_a_checkpoint_of_another_network_or_without_a_count_is_refused(self):
        sizes = NetworkConfig((8,), (8,)), _SIZES
        other, own = (dict(initial_network(synthetic.normalizer(), 1, each).weights) for each in sizes)
        for weights, facts, message in (
            (other, {"iteration": 1, "roll_backs": 0}, "holds the weights of another network"),
            (own, {"iteration": "1", "roll_backs": 0}, "has a field 'iteration' that is not an integer"),
            (own, {"iteration": 1}, "has no field 'roll_backs'"),
        ):
            save_checkpoint(self.folder / "run" / "learning", "latest", weights, facts)
            with self.assertRaisesRegex(RunError, f"the checkpoint latest in .*: {message}. Delete the folder"):
                self.run_loop("run", FakeExecutor())
