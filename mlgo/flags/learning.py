"""Flags that choose the algorithm, its settings, and what training starts from."""

import pathlib
from typing import Any

from absl import flags

from mlgo.flags.help import flag_group
from mlgo.learning.algorithms.registry import ALGORITHMS, algorithm_named
from mlgo.policy.directory import policy_folder
from mlgo.run import locate
from mlgo.run.exit_codes import RunError
from mlgo.training.settings import ON_DIVERGENCE, Configurations, RunSettings, configure, gin_classes

FLAGS = flags.FLAGS
flags.disclaim_key_flags()  # --help of a command lists the flags that this module defines for it.

#: Flags that override a field of RunSettings of the same name.
_SETTING_FLAGS = (
    *("algorithm", "seed", "iterations", "modules_per_iteration", "validation_modules", "validation_interval"),
    *("max_failure_ratio", "on_divergence"),
)


@flag_group("Learning")
def define_learning_flags() -> None:
    """Defines the algorithm, start and resume flags, and what `define_settings_flags` defines."""
    text = f"Learning algorithm. Default: that of defaults.gin in the problem's folder, else {RunSettings.algorithm}."
    flags.DEFINE_enum("algorithm", None, tuple(ALGORITHMS), text)
    text = (
        "Start: bc (clone the default heuristic's decisions), none (random weights), or the folder of a policy of an"
        f" earlier run. Default: that of the problem's settings for the algorithm, else {RunSettings.warm_start}."
    )
    flags.DEFINE_string("warm_start", None, text)
    text = "With --algorithm=bc_max: folder of a policy to imitate where it is the best; repeatable. Default: none."
    flags.DEFINE_multi_string("imitate", [], text)
    text = f"Rounds of compiling and learning. Default: {RunSettings.iterations}; papers: thousands."
    flags.DEFINE_integer("iterations", None, text, lower_bound=0)
    flags.DEFINE_alias("ppo_iterations", "iterations")
    text = f"Modules compiled per iteration. Default: {RunSettings.modules_per_iteration}; papers: 512 and more."
    flags.DEFINE_integer("modules_per_iteration", None, text, lower_bound=1)
    text = f"Iterations between two validations. Default: {RunSettings.validation_interval}."
    flags.DEFINE_integer("validation_interval", None, text, lower_bound=1)
    default = RunSettings.max_failure_ratio
    text = f"Fraction of a stage's compiles that may fail before the run stops. Default: {default}."
    flags.DEFINE_float("max_failure_ratio", None, text, lower_bound=0.0, upper_bound=1.0)
    text = (
        "What to do if an update diverges: stop the run, or roll back to the weights before it and continue with a"
        " smaller learning rate. A policy that no longer explores, or rewards that are all equal, always stop the run."
        f" Default: {RunSettings.on_divergence}."
    )
    flags.DEFINE_enum("on_divergence", None, ON_DIVERGENCE, text)
    text = "Continue a run with the same settings in the output folder. --noresume refuses a folder that holds a run."
    flags.DEFINE_bool("resume", True, text)
    define_settings_flags()


@flag_group("Settings")
def define_settings_flags() -> None:
    """Defines the flags of every command that learns."""
    flags.DEFINE_integer("seed", None, f"Random seed. Default: {RunSettings.seed}.", lower_bound=0)
    default = RunSettings.validation_modules
    text = f"Modules of the training corpus that are not learned from and choose the policy. Default: {default}."
    flags.DEFINE_integer("validation_modules", None, text, lower_bound=1)
    flags.DEFINE_multi_string("gin_files", [], "Gin files with settings. --gin_bindings and flags take precedence.")
    text = f"Single settings, CLASS.FIELD=VALUE. Classes: {gin_classes()}. Their docstrings describe the fields."
    flags.DEFINE_multi_string("gin_bindings", [], text)


def configurations_from_flags(problem: str) -> tuple[Configurations, pathlib.Path | None]:
    """The settings for `problem`, and the policy to start from, if one is named. Raises: RunError: not usable."""
    known = [name for name in _SETTING_FLAGS if name in FLAGS]
    given: dict[str, Any] = {name: FLAGS[name].value for name in known if FLAGS[name].value is not None}
    given["problem"] = problem
    policy = None
    if "warm_start" in FLAGS and (start := FLAGS.warm_start) is not None:
        given["warm_start"] = start
        if start not in ("bc", "none"):
            policy = policy_folder(locate.user_path(start))
            given["warm_start"] = "policy"
            if not policy.is_dir():
                raise RunError(f"--warm_start={start}", "is not a folder", "Give bc, none, or the folder of a policy")
    gin_files = [locate.user_path(path) for path in FLAGS.gin_files]
    return configure(given, gin_files, FLAGS.gin_bindings), policy


def imitated_from_flags(algorithm: str) -> tuple[pathlib.Path, ...]:
    """The policies that --imitate names. Raises: RunError: there are some, and the algorithm does not imitate."""
    if FLAGS.imitate and not algorithm_named(algorithm).imitates:
        wrong = f"is not supported by --algorithm={algorithm}"
        raise RunError(f"--imitate={FLAGS.imitate[0]}", wrong, "Add --algorithm=bc_max, or remove it")
    return tuple(locate.user_path(path) for path in FLAGS.imitate)
