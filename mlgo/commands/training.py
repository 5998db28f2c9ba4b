"""What the training commands share: flags, and the way from flags to a run that has ended."""

import dataclasses
import os
import pathlib
import sys
from collections.abc import Callable
from typing import Any

from absl import app, flags

from mlgo.commands.compiling import cache_given, clang_given, define_cache_flags, define_compiler_flags, executor_given
from mlgo.compiler.executor import available_cores
from mlgo.corpus import split
from mlgo.corpus.corpus import Corpus
from mlgo.corpus.parts import write_parts
from mlgo.learning.algorithms.registry import ACCEPTED_NAMES, ALGORITHMS
from mlgo.problems.problem import Problem, load_problem
from mlgo.run import locate, run_folder
from mlgo.run.exit import RESUMABLE, exit_code_of
from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.score.problem_score import score_of
from mlgo.training import configuration, summary, training_run
from mlgo.training.estimated_reward import define_estimation_flags, estimation_given
from mlgo.training.run_inputs import RunInputs
from mlgo.training.settings import ON_DIVERGENCE, RunSettings

FLAGS = flags.FLAGS
flags.disclaim_key_flags()  # --help of a command lists the flags that this module defines for it.

#: Flags that override a field of RunSettings of the same name.
_SETTING_FLAGS = (
    "algorithm",
    "seed",
    "iterations",
    "modules_per_iteration",
    "validation_modules",
    "validation_interval",
    "max_failure_ratio",
    "on_divergence",
)


@dataclasses.dataclass(frozen=True)
class Defaults:
    """What a command does when nothing is said.

    Attributes:
      problems: the problems that --problem may name; the first is the default.
      corpus: runfile of the built-in corpora, to which "_train" and "_held_out" are added.
      output: name below out/ in the workspace.
    """

    problems: tuple[str, ...]
    corpus: str
    output: str


def define_flags(defaults: Defaults) -> None:
    """Defines all flags of a training command."""
    problem = defaults.problems[0]
    if len(defaults.problems) > 1:
        flags.DEFINE_enum("problem", problem, defaults.problems, "What to learn.")
    flags.DEFINE_string(
        "output_dir",
        None,
        f"Folder of the run. Default: out/{defaults.output} in the workspace; with --problem, out/PROBLEM.",
    )
    flags.DEFINE_string(
        "corpus",
        None,
        "Corpus to learn from and to measure on: split as //mlgo:split_corpus does. As for the two below, a path, or the label of a target that "
        "is built. Default: two built-in ones.",
    )
    flags.DEFINE_string("train_corpus", None, "Corpus to learn from. Default: the built-in one.")
    flags.DEFINE_string(
        "held_out_corpus", None, "Corpus to measure on; no module may be in both. Default: the built-in one."
    )
    flags.DEFINE_string(
        "vocabulary", None, "Folder with FEATURE.buckets files. Default: one is made from the default trace."
    )
    define_compiler_flags()
    define_learning_flags()


def define_learning_flags() -> None:
    """Defines the flags that decide how is learned, and from what again."""
    define_cache_flags()
    define_estimation_flags()
    flags.DEFINE_enum(
        "algorithm",
        None,
        ACCEPTED_NAMES,
        f"Learning algorithm. Default: that of defaults.gin in the problem's folder, else {RunSettings.algorithm}.",
    )
    flags.DEFINE_string(
        "warm_start",
        None,
        "What to start from: bc (clone the default's decisions first), none (random weights), or the folder of a policy that"
        f" an earlier run has left. Default: the algorithm's own for the problem, else {RunSettings.warm_start}.",
    )
    flags.DEFINE_multi_string(
        "imitate",
        [],
        "With --algorithm=bc_max: the folder of a policy whose decisions are imitated where they are best; repeatable.",
    )
    flags.DEFINE_integer(
        "iterations",
        None,
        f"Rounds of compiling and learning. Default: {RunSettings.iterations}; papers: thousands.",
        lower_bound=0,
    )
    flags.DEFINE_alias("ppo_iterations", "iterations")
    flags.DEFINE_integer(
        "modules_per_iteration",
        None,
        f"Modules compiled per iteration. Default: {RunSettings.modules_per_iteration}; papers: 512 and more.",
        lower_bound=1,
    )
    flags.DEFINE_integer(
        "validation_interval",
        None,
        f"Iterations between two validations. Default: {RunSettings.validation_interval}.",
        lower_bound=1,
    )
    flags.DEFINE_float(
        "max_failure_ratio",
        None,
        f"Part of a stage's compiles that may fail. Default: {RunSettings.max_failure_ratio}.",
        lower_bound=0.0,
        upper_bound=1.0,
    )
    flags.DEFINE_enum(
        "on_divergence",
        None,
        ON_DIVERGENCE,
        "When an update breaks down: end the run and say so, or go on from the weights before it, more slowly. A policy that no longer"
        f" explores, or rewards that are all equal, end the run in any case. Default: {RunSettings.on_divergence}.",
    )
    flags.DEFINE_bool(
        "resume",
        True,
        "Go on with the run in the output folder when it has these settings. --noresume refuses a folder that holds a run.",
    )
    define_seed_flags()


def define_seed_flags() -> None:
    """Defines the flags of everything that learns."""
    flags.DEFINE_integer("seed", None, f"Of everything random. Default: {RunSettings.seed}.", lower_bound=0)
    flags.DEFINE_integer(
        "validation_modules",
        None,
        f"Training modules set aside to choose the policy. Default: {RunSettings.validation_modules}.",
        lower_bound=1,
    )
    flags.DEFINE_multi_string("gin_files", [], "Gin files with settings; --gin_bindings and flags win over them.")
    flags.DEFINE_multi_string(
        "gin_bindings",
        [],
        f"Single settings, CLASS.FIELD=VALUE, of {configuration.gin_classes()}; the fields are described where these classes are.",
    )


def run_main(defaults: Defaults) -> None:
    """Parses the flags, trains, tells the result and exits. Stopped, it leaves no compiler behind."""
    run_command(lambda arguments: _train(defaults, arguments))


def run_command(main: Callable[[list[str]], int]) -> None:
    """Parses the flags, calls `main` with what is none, and exits with the code it returns or that its error has."""
    # tf-agents 0.19 runs on Keras 2 only; TensorFlow's start-up messages tell a user nothing.
    os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    app.run(lambda arguments: exit_code_of(lambda: main(arguments), RESUMABLE), flags_parser=parse_flags)


def parse_flags(arguments: list[str]) -> list[str]:
    """For app.run: a wrong flag is one sentence and ExitCode.USER_ERROR."""
    try:
        return FLAGS(arguments)
    except flags.Error as error:
        print(f"error: {error}. See --help", file=sys.stderr)
        raise SystemExit(int(ExitCode.USER_ERROR)) from error


def problem_given(name: str) -> Problem:
    """Raises: RunError: there is no such problem."""
    try:
        return load_problem(name)
    except ValueError as error:
        raise RunError(
            f"--problem={name}", str(error), "Give one of these, or add a folder below mlgo/problems"
        ) from error


def held_out_corpus(problem: Problem) -> str:
    """Runfile of the built-in corpus on which policies of `problem` are evaluated."""
    return f"{score_of(problem).built_in_corpus}_held_out"


def refuse_arguments(arguments: list[str]) -> None:
    """Raises: RunError: there is a word that is no flag."""
    if len(arguments) > 1:
        raise RunError(f"argument {arguments[1]!r}", "is not a flag", "See --help")


def configurations_given(problem: str) -> tuple[configuration.Configurations, pathlib.Path | None]:
    """The settings that gin files and flags give for `problem`, and the policy to start from, if one is named.

    Raises: RunError: they are not usable.
    """
    given: dict[str, Any] = {
        name: FLAGS[name].value for name in _SETTING_FLAGS if name in FLAGS and FLAGS[name].value is not None
    }
    given["problem"] = problem
    policy = None
    if "warm_start" in FLAGS and (start := FLAGS.warm_start) is not None:
        given["warm_start"] = start
        if start not in ("bc", "none"):
            policy = locate.user_path(start)
            given["warm_start"] = "policy"
            if not policy.is_dir():
                raise RunError(f"--warm_start={start}", "is not a folder", "Give bc, none, or the folder of a policy")
    gin_files = [locate.user_path(path) for path in FLAGS.gin_files]
    return configuration.configure(given, gin_files, FLAGS.gin_bindings), policy


def _train(defaults: Defaults, arguments: list[str]) -> int:
    refuse_arguments(arguments)
    problem = FLAGS["problem"].value if "problem" in FLAGS else defaults.problems[0]
    configurations, policy = configurations_given(problem)
    output = defaults.output if problem == defaults.problems[0] else problem.removeprefix("regalloc_")
    imitated = imitated_given(configurations.run.algorithm)
    inputs = _run_inputs(defaults, policy, output, imitated)
    inputs = dataclasses.replace(inputs, estimation=estimation_given(problem_given(problem), configurations.run.reward))
    return train(inputs, configurations, FLAGS.workers)


def train(inputs: RunInputs, configurations: configuration.Configurations, workers: int | None) -> int:
    """One run to its end; tells the result on stdout."""
    if not FLAGS.resume and (inputs.output / run_folder.CONFIGURATION_NAME).exists():
        raise RunError(
            f"folder {inputs.output}", "holds a run", "Leave --noresume out to go on with it, or give another folder"
        )
    if (configurations.run.warm_start == "policy") != (inputs.policy is not None):
        raise RunError("RunSettings.warm_start", "is 'policy', and no policy is given", "Give --warm_start=FOLDER")
    with executor_given(inputs.clang, workers) as executor:
        run = training_run.TrainingRun(inputs, configurations, workers or available_cores(), executor)
        comparison = run.run()
    lines = summary.closing_lines(
        inputs.output,
        locate.workspace(),
        comparison,
        run.seconds,
        run.problem,
        run.learned,
        inputs.estimation is not None,
    )
    print("\n".join(lines))
    return ExitCode.DONE


def imitated_given(algorithm: str) -> tuple[pathlib.Path, ...]:
    """Raises: RunError: there are some, and the algorithm does not imitate."""
    if FLAGS.imitate and not ALGORITHMS[algorithm].imitates:
        raise RunError(
            f"--imitate={FLAGS.imitate[0]}", f"means nothing to {algorithm}", "Add --algorithm=bc_max, or leave it out"
        )
    return tuple(locate.user_path(path) for path in FLAGS.imitate)


def _parts_given(folder: pathlib.Path) -> tuple[pathlib.Path, pathlib.Path]:
    """The two parts of --corpus, written beside the run's folder: what is in that belongs to the run.

    Raises: RunError: parts are given too, or the corpus cannot be split.
    """
    if FLAGS.train_corpus or FLAGS.held_out_corpus:
        raise RunError(
            f"--corpus={FLAGS.corpus}", "is split, and a part is given too", "Give --corpus alone, or both parts"
        )
    corpus = Corpus.load(locate.user_path(FLAGS.corpus))
    parts = folder.with_name(f"{folder.name}.corpus")
    write_parts(corpus, split.by_hash(module.name for module in corpus.modules), parts)
    return parts / split.TRAIN, parts / split.HELD_OUT


def _run_inputs(
    defaults: Defaults, policy: pathlib.Path | None, output: str, imitated: tuple[pathlib.Path, ...]
) -> RunInputs:
    def given_or(flag: str, runfile: str) -> pathlib.Path:
        if value := FLAGS[flag].value:
            return locate.user_path(value)
        return locate.of_environment(f"MLGO_{flag.upper()}") or locate.runfile(runfile)

    folder = locate.output_directory(FLAGS.output_dir, output)
    if FLAGS.corpus:
        train_corpus, held_out_corpus = _parts_given(folder)
    else:
        train_corpus = given_or("train_corpus", f"{defaults.corpus}_train")
        held_out_corpus = given_or("held_out_corpus", f"{defaults.corpus}_held_out")
    return RunInputs(
        clang=clang_given(),
        train_corpus=train_corpus,
        held_out_corpus=held_out_corpus,
        vocabulary=locate.user_path(FLAGS.vocabulary) if FLAGS.vocabulary else None,
        policy=policy,
        output=folder,
        cache=cache_given(),
        imitated=imitated,
    )
