"""The settings of a training run, read from a problem's own gin files, the user's gin files and bindings, and flags."""

import dataclasses
import importlib.util
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

import gin

from mlgo.compiler.request import CompileLimits
from mlgo.learning.algorithms.registry import ALGORITHMS, algorithm_named
from mlgo.learning.cloning_config import BcConfig
from mlgo.learning.divergence import DivergenceRules
from mlgo.learning.network import NetworkConfig
from mlgo.run.determinism import DEFAULT_SEED
from mlgo.run.exit_codes import RunError
from mlgo.trace.outcomes import DEFAULT_MAX_FAILURE_RATIO
from mlgo.trace.vocabulary import VocabularyConfig
from mlgo.training.gin_files import set_configuration

#: Values of RunSettings.warm_start and .on_divergence.
WARM_STARTS, ON_DIVERGENCE = ("bc", "none", "policy"), ("stop", "roll_back")


@gin.configurable
@dataclasses.dataclass(frozen=True)
class RunSettings:
    """What determines the result of a run, besides the settings of its parts. Every field is part of its identity."""

    problem: str = "regalloc_eviction"
    algorithm: str = "ppo"
    reward: str = ""  #: one of the problem's rewards; "": its default.
    #: "bc": clone the default heuristic's decisions first, as the papers do; "none": start from random weights;
    #: "policy": start from a policy of an earlier run.
    warm_start: str = "bc"
    seed: int = DEFAULT_SEED
    #: rounds of compiling and learning, >= 0; the papers: thousands. 80 iterations of eviction at the default size take
    #: 8 CPU minutes with compile servers: the whole command ends within 6 minutes on 2 cores.
    iterations: int = 80
    modules_per_iteration: int = 12  #: modules compiled in each iteration, >= 1; the papers: 512 and more.
    #: modules of the training corpus that are not learned from and choose the policy, >= 1. With fewer than a dozen,
    #: noise determines the choice.
    validation_modules: int = 16
    validation_interval: int = 5  #: iterations between two validations, >= 1.
    #: fraction of a stage's compiles that may fail before the run stops, in [0, 1].
    max_failure_ratio: float = DEFAULT_MAX_FAILURE_RATIO
    compile_cpu_seconds: int = CompileLimits.cpu_seconds  #: CPU time that one compile may use.
    #: "stop": the run stops with an error; "roll_back": it continues from the weights before the update, with the next
    #: iteration's modules and a smaller learning rate, at most DivergenceRules.most_rollbacks times.
    on_divergence: str = "stop"

    def __post_init__(self):
        object.__setattr__(self, "algorithm", algorithm_named(self.algorithm).name)
        counts = ("modules_per_iteration", "validation_modules", "validation_interval", "compile_cpu_seconds")
        for name, bound in {**dict.fromkeys(counts, 1), "seed": 0, "iterations": 0}.items():
            if getattr(self, name) < bound:
                raise ValueError(f"RunSettings.{name}={getattr(self, name)}: must be at least {bound}")
        if not 0 <= self.max_failure_ratio <= 1:
            raise ValueError(f"RunSettings.max_failure_ratio={self.max_failure_ratio}: must lie in [0, 1]")
        for name, allowed in (("warm_start", WARM_STARTS), ("on_divergence", ON_DIVERGENCE)):
            if getattr(self, name) not in allowed:
                raise ValueError(f"RunSettings.{name}={getattr(self, name)!r}: must be one of {', '.join(allowed)}")

    @property
    def limits(self) -> CompileLimits:
        return CompileLimits(cpu_seconds=self.compile_cpu_seconds)


@dataclasses.dataclass(frozen=True)
class Configurations:
    """The settings of all parts of a run, `learner` the algorithm's. Every field is part of its identity."""

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
    learners = [algorithm.config.__name__ for algorithm in ALGORITHMS.values()]
    return ", ".join(["RunSettings", "VocabularyConfig", "NetworkConfig", "BcConfig", "DivergenceRules", *learners])


def configure(given: Mapping[str, Any], gin_files: Sequence[pathlib.Path], bindings: Sequence[str]) -> Configurations:
    """The settings of a run.

    Later ones win: the defaults of the classes; the problem's own files in mlgo/problems/<problem>, if they exist:
    defaults.gin, which may name an algorithm, the algorithm's shared settings, <algorithm>.gin, and the files of the
    problem's setting; the user's files; bindings, `CLASS.FIELD=VALUE`; flags.

    Args: given: fields of RunSettings that flags set; they include `problem`.
    Raises: RunError: the settings are not usable.
    """
    try:
        users = [str(path) for path in gin_files]
        defaults = _own_files(given["problem"], "defaults")
        # Twice, because the problem's own files depend on the algorithm, which the user's files may set.
        set_configuration([*defaults, *users], bindings)
        algorithm = algorithm_named(dataclasses.replace(RunSettings(), **given).algorithm)
        names = [*algorithm.shared_settings, algorithm.name]
        own = [path for name in names for path in _own_files(given["problem"], name)]
        set_configuration([*defaults, *own, *users], bindings)
        run = dataclasses.replace(RunSettings(), **given)
        learner = algorithm_named(run.algorithm).config()
        if run.warm_start == "policy":
            learner = _from_policy(learner)
        return Configurations(run, VocabularyConfig(), NetworkConfig(), BcConfig(), learner, DivergenceRules())
    except (ValueError, TypeError, AttributeError, SyntaxError) as error:
        wrong = f"gives unusable settings: {error}"
        remedy = f"Correct it; `CLASS.FIELD=VALUE` with CLASS one of {gin_classes()}"
        raise RunError("--gin_files, --gin_bindings or a flag", wrong, remedy) from error


def _from_policy(learner: Any) -> Any:
    """An algorithm's settings for --warm_start=FOLDER: without `start` and `start_bias`, and the first update does not
    overwrite the weights of that policy.
    """
    names = {field.name for field in dataclasses.fields(learner)}
    changed: dict[str, Any] = {"start": {}, "start_bias": 0.0, "first_step": getattr(learner, "step", 1.0)}
    return dataclasses.replace(learner, **{name: value for name, value in changed.items() if name in names})


def _own_files(problem: str, name: str) -> list[str]:
    """The paths of those of mlgo/problems/<folder>/<name>.gin and <name>+<setting>.gin that exist, for the problem
    <folder>+<setting>. Raises: ValueError: there is no such problem.
    """
    folder, plus, setting = problem.partition("+")
    try:
        specification = importlib.util.find_spec(f"mlgo.problems.{folder}.problem")
    except ModuleNotFoundError:
        specification = None
    if specification is None or specification.origin is None:
        raise ValueError(f"problem {problem!r} is no folder below mlgo/problems")
    paths = [pathlib.Path(specification.origin).with_name(f"{name}{end}.gin") for end in ("", plus + setting)]
    return [str(path) for path in dict.fromkeys(paths) if path.exists()]
