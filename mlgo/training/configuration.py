"""The settings of a run, put together: a problem's own gin file, the user's gin files and bindings, and flags."""

import dataclasses
import importlib.util
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

import gin

from mlgo.learning.algorithms.registry import ALGORITHMS, algorithm_named
from mlgo.learning.cloning_config import BcConfig
from mlgo.learning.divergence import DivergenceRules
from mlgo.learning.network import NetworkConfig
from mlgo.run.exit_codes import RunError
from mlgo.trace.vocabulary import VocabularyConfig
from mlgo.training.settings import RunSettings


@dataclasses.dataclass(frozen=True)
class Configurations:
    """The settings of all parts; every field of every part belongs to the run's identity.

    Attributes:
      learner: of the algorithm that `run` names.
    """

    run: RunSettings
    vocabulary: VocabularyConfig
    network: NetworkConfig
    behavioural_cloning: BcConfig
    learner: Any
    divergence: DivergenceRules = DivergenceRules()

    def to_json(self) -> dict[str, Any]:
        """Every field of every part by name; the learner's under the algorithm's name."""
        parts = {field.name: dataclasses.asdict(getattr(self, field.name)) for field in dataclasses.fields(self)}
        parts[self.run.algorithm] = parts.pop("learner")
        return parts


def gin_classes() -> str:
    """For messages: the classes that a binding may name."""
    learners = [algorithm.config.__name__ for algorithm in ALGORITHMS.values()]
    return ", ".join(["RunSettings", "VocabularyConfig", "NetworkConfig", "BcConfig", "DivergenceRules", *learners])


def configure(given: Mapping[str, Any], gin_files: Sequence[pathlib.Path], bindings: Sequence[str]) -> Configurations:
    """The settings of a run.

    Later ones win: the defaults of the classes; the problem's own files in mlgo/problems/<problem>, if they exist, defaults.gin, which
    may name an algorithm, the algorithm's shared settings and <algorithm>.gin; the user's files; bindings; flags.

    Args:
      given: fields of RunSettings that flags have set; `problem` is among them.
      gin_files: the user's.
      bindings: `CLASS.FIELD=VALUE`.

    Raises: RunError: they do not give usable settings.
    """
    try:
        users = [str(path) for path in gin_files]
        defaults = own_files(given["problem"], "defaults")
        # Twice: which file is the problem's own depends on the algorithm, which the user's files may say.
        gin.clear_config()
        gin.parse_config_files_and_bindings([*defaults, *users], list(bindings))
        algorithm = algorithm_named(dataclasses.replace(RunSettings(), **given).algorithm)
        names = [*algorithm.shared_settings, algorithm.former_name, algorithm.name]
        own = [path for name in names if name for path in own_files(given["problem"], name)]
        gin.clear_config()
        gin.parse_config_files_and_bindings([*defaults, *own, *users], list(bindings))
        run = dataclasses.replace(RunSettings(), **given)
        return Configurations(
            run=run,
            vocabulary=VocabularyConfig(),
            network=NetworkConfig(),
            behavioural_cloning=BcConfig(),
            learner=algorithm_named(run.algorithm).config(),
            divergence=DivergenceRules(),
        )
    except (OSError, ValueError, TypeError, AttributeError, SyntaxError) as error:
        raise RunError(
            "--gin_files, --gin_bindings or a flag",
            f"does not give usable settings: {error}",
            f"Correct it; `CLASS.FIELD=VALUE` with CLASS one of {gin_classes()}",
        ) from error


def own_files(problem: str, name: str) -> list[str]:
    """The path of the problem's own settings `name`, if it has any.

    Raises: ValueError: there is no such problem.
    """
    try:
        specification = importlib.util.find_spec(f"mlgo.problems.{problem}.problem")
    except ModuleNotFoundError:
        specification = None
    if specification is None or specification.origin is None:
        raise ValueError(f"problem {problem!r} is no folder below mlgo/problems")
    path = pathlib.Path(specification.origin).parent / f"{name}.gin"
    return [str(path)] if path.exists() else []
