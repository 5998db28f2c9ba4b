"""The reinforcement stage: collect decisions under the current policy, learn from them, validate now and then.

Below the stage's folder: `latest.json` with its arrays (the checkpoint after the last finished iteration),
`candidates/NNNNN.json` with theirs (weights that were validated), `validations/NNNNN.json` and `iterations/NNNNN.json`
(figures). Each iteration ends with its checkpoint, so an interrupted run repeats at most one.
"""

import dataclasses
import pathlib
from collections.abc import Mapping
from typing import Any

from mlgo.corpus.corpus import Corpus
from mlgo.evaluation.held_out import compare
from mlgo.learning import checkpoint
from mlgo.learning.network import PolicyNetwork
from mlgo.learning.ppo import PpoConfig, PpoLearner, TrainingBatch
from mlgo.policy.collection import CollectionPolicy
from mlgo.run import files, progress
from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.pipeline.collection import collect
from mlgo.pipeline.figures import TensorBoard
from mlgo.pipeline.module_order import modules_of_iteration
from mlgo.pipeline.settings import RunSettings
from mlgo.run.quiet import quiet_libraries
from mlgo.trace.outcomes import ModuleRecord
from mlgo.trace.setup import CompileSetup
from mlgo.trace.trace import score_corpus

LATEST = "latest"
_OPTIMISER_PREFIX = "optimiser:"


@dataclasses.dataclass(frozen=True)
class Candidate:
    """Weights that were validated.

    Attributes:
      iteration: how many iterations they had learned from; 0 is the warm start.
      ratio: geometric mean of the score ratio over the validation modules' functions; below 1 is better than the default.
    """

    iteration: int
    ratio: float


class Reinforcement:
    """One run of the stage.

    Args:
      folder: the stage's folder.
      warm_start: the weights to start from.
      training, validation: modules to learn from and to validate on, optimised.
      default: module name -> what the compiler's default makes of it.
      setup: how to compile.
      settings, config: what decides the result.
      work: a folder for policies that are needed for one compile only.
      tensorboard: a folder for TensorBoard events.
    """

    def __init__(
        self,
        folder: pathlib.Path,
        warm_start: PolicyNetwork,
        training: Corpus,
        validation: Corpus,
        default: Mapping[str, ModuleRecord],
        setup: CompileSetup,
        settings: RunSettings,
        config: PpoConfig,
        work: pathlib.Path,
        tensorboard: pathlib.Path,
    ):
        self._folder, self._training, self._validation = folder, training, validation
        self._default, self._setup, self._settings = default, setup, settings
        self._collection = CollectionPolicy(setup.problem, work)
        self._tensorboard = TensorBoard(tensorboard)
        weights, state, self._iteration = dict(warm_start.weights), None, 0
        loaded = checkpoint.load_checkpoint(folder, LATEST)
        if loaded is not None:
            arrays, facts = loaded
            self._iteration = int(facts["iteration"])
            weights = {name: arrays[name] for name in weights}
            state = {
                name.removeprefix(_OPTIMISER_PREFIX): value
                for name, value in arrays.items()
                if name.startswith(_OPTIMISER_PREFIX)
            }
        with quiet_libraries():
            self._learner = PpoLearner(
                warm_start.with_weights(weights), setup.problem, settings.seed, config, state
            )
            # Both kinds of model are converted once; here, where no progress bar is disturbed.
            for exploration_seed in (None, 1):
                self._collection.write(warm_start, "first", exploration_seed)
        self._collection.remove("first")

    def run(self) -> Mapping[str, Any]:
        """Does what is left of the iterations.

        Returns: the summary: the chosen candidate and the figures of all validations.
        Raises: RunError: too many modules of an iteration failed, or the update diverged.
        """
        total = self._settings.ppo_iterations
        shown = progress.start("ppo", total, "iterations", done=self._iteration)
        try:
            while self._iteration < total:
                if self._iteration % self._settings.validation_interval == 0:
                    self._validate()
                shown.advance(1, self._iterate())
            self._validate()
        finally:
            shown.close()
        candidates = read_candidates(self._folder)
        best = choose(candidates)
        return {
            "chosen_iteration": best.iteration,
            "validation_ratio": best.ratio,
            "validations": {str(candidate.iteration): candidate.ratio for candidate in candidates},
        }

    def _iterate(self) -> str:
        iteration = self._iteration
        settings = self._settings
        names = modules_of_iteration(
            [module.name for module in self._training.modules], iteration, settings.modules_per_iteration, settings.seed
        )
        collected = collect(
            f"ppo iteration {iteration}",
            self._training.select(names).modules,
            settings.samples_per_module,
            self._learner.network,
            self._collection,
            self._default,
            self._setup,
            settings.seed,
            iteration,
            self._learner.config.lowest_return,
        )
        metrics = self._learner.learn(TrainingBatch(collected.observations, collected.returns))
        record = {
            "iteration": iteration,
            "modules": len(names),
            "failed_compiles": dict(collected.failed),
            "score_change_percent": collected.score_change_percent,
            **dataclasses.asdict(metrics),
        }
        files.write_json_atomically(self._folder / "iterations" / f"{iteration:05}.json", record)
        self._tensorboard.write("iteration", record)
        self._iteration += 1
        self._save(self._folder, LATEST, with_state=True)
        return f"score {collected.score_change_percent:+.2f} %, entropy {metrics.entropy:.2f}, kl {metrics.kl:.4f}"

    def _validate(self) -> None:
        iteration = self._iteration
        path = self._folder / "validations" / f"{iteration:05}.json"
        if path.exists():
            return
        model_dir = self._collection.write(self._learner.network, "validation", exploration_seed=None)
        records = score_corpus(self._validation, self._setup, f"validation after {iteration}", model_dir)
        self._collection.remove("validation")
        default = {name: self._default[name] for name in records}
        comparison = compare(self._setup.problem, default, {"policy": records}, frozenset(), self._settings.seed)
        summary = comparison.summaries["policy"]
        if summary is None:
            raise RunError(
                f"validation after iteration {iteration}",
                f"no function of {len(records)} modules could be compared",
                "Raise --validation_modules",
                ExitCode.NOTHING_PRODUCED,
            )
        self._save(self._folder / "candidates", f"{iteration:05}", with_state=False)
        record = {"iteration": iteration, **dataclasses.asdict(summary)}
        files.write_json_atomically(path, record)
        self._tensorboard.write("validation", record)

    def _save(self, folder: pathlib.Path, name: str, with_state: bool) -> None:
        arrays = dict(self._learner.network.weights)
        if with_state:
            arrays |= {f"{_OPTIMISER_PREFIX}{key}": value for key, value in self._learner.state().items()}
        checkpoint.save_checkpoint(folder, name, arrays, {"iteration": self._iteration})


def read_candidates(folder: pathlib.Path) -> list[Candidate]:
    """The validated weights of the stage in `folder`, by iteration."""
    found = []
    for path in sorted((folder / "validations").glob("*.json")):
        content = files.read_json(path, "validation", f"Delete {path} and run the same command again")
        found.append(Candidate(content["iteration"], content["geometric_mean"]))
    return found


def choose(candidates: list[Candidate]) -> Candidate:
    """The candidate with the lowest ratio; the earlier one of equals.

    Raises: ValueError: there is none.
    """
    if not candidates:
        raise ValueError("no weights were validated")
    return min(candidates, key=lambda candidate: (candidate.ratio, candidate.iteration))


def candidate_network(folder: pathlib.Path, candidate: Candidate, like: PolicyNetwork) -> PolicyNetwork:
    """The network of `candidate`, with the normaliser of `like`."""
    arrays, _ = checkpoint.load_checkpoint(folder / "candidates", f"{candidate.iteration:05}")
    return like.with_weights(arrays)
