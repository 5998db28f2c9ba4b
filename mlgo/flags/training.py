"""The commands that train: their flags, and a run from these flags to its summary."""

import dataclasses
import os
import pathlib

from absl import flags

from mlgo.compiler.executor import available_cores
from mlgo.compiler.symbols import Demangler
from mlgo.flags import compiling
from mlgo.flags.help import flag_group
from mlgo.flags.learning import configurations_from_flags, define_learning_flags, imitated_from_flags
from mlgo.flags.main import problem_from_flags, refuse_arguments, run_command
from mlgo.problems import executed_cost
from mlgo.problems.problem import Problem, problem_names
from mlgo.run import locate, run_folder
from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.run.progress import show
from mlgo.score.code_size import ESTIMATED_CODE
from mlgo.score.problem_score import score_of
from mlgo.training import summary, training_run
from mlgo.training.run_inputs import Estimation, RunInputs
from mlgo.training.settings import Configurations

FLAGS = flags.FLAGS
# Of functions in the closing lines; held_out/functions.csv has the whole ones.
_NAME_WIDTH = 60
_WEIGHTS_EXAMPLE = f"{executed_cost.SETTING}.{executed_cost.ExecutedCost()}"
flags.disclaim_key_flags()  # --help of a command lists the flags that this module defines for it.


@dataclasses.dataclass(frozen=True)
class Defaults:
    """Defaults of a training command."""

    problems: tuple[str, ...] = ()  #: values of --problem, the first is the default; (): any, and it is required.
    #: label of the built-in corpora, to which "_train" and "_held_out" are added; None: a corpus is required.
    corpus: str | None = None
    output: str | None = None  #: name below out/ in the workspace; None: --output_dir is required.


def define_flags(defaults: Defaults) -> None:
    """Defines all flags of a training command."""
    if not defaults.problems:
        flags.DEFINE_string("problem", None, f"What to learn: {', '.join(problem_names())}.", required=True)
    elif len(defaults.problems) > 1:
        known, names = defaults.problems, ", ".join(defaults.problems)
        text = f"What to learn: {names}; weights may follow, as in {_WEIGHTS_EXAMPLE}."
        flags.DEFINE_string("problem", known[0], text)
        flags.register_validator("problem", lambda name: name.partition(".")[0] in known, f"is none of {names}")
    default = f" Default: out/{defaults.output} in the workspace; with --problem, out/PROBLEM."
    text = f"Folder of the run.{default if defaults.output else ''}"
    flags.DEFINE_string("output_dir", None, text, required=not defaults.output)
    text = (
        "Corpus to learn from and to measure on; it is split as //mlgo:split_corpus does. A path, or a label, which is"
        " built, as for --train_corpus and --held_out_corpus."
    )
    flags.DEFINE_string("corpus", None, text)
    train, held_out = (f"Default: {_default_part(defaults, part) or 'none'}." for part in ("train", "held_out"))
    flags.DEFINE_string("train_corpus", None, f"Corpus to learn from. {train if defaults.corpus else ''}")
    flags.DEFINE_string("held_out_corpus", None, f"Corpus to measure on; no module may be in both. {held_out}")
    if not defaults.corpus:
        flags.mark_flags_as_mutual_exclusive(["corpus", "train_corpus"], required=True)
    text = "Folder with FEATURE.buckets files. Default: one is made from the default trace."
    flags.DEFINE_string("vocabulary", None, text)
    compiling.define_compiler_flags()
    compiling.define_module_filter("Learn only from modules")
    compiling.define_cache_flags()
    define_estimation_flags()
    define_learning_flags()


def run_main(defaults: Defaults) -> None:
    """Parses the flags, trains, prints the summary and exits."""
    run_command(lambda arguments: _main(defaults, arguments))


def _main(defaults: Defaults, arguments: list[str]) -> int:
    refuse_arguments(arguments)
    problem = problem_from_flags(FLAGS["problem"].value if "problem" in FLAGS else defaults.problems[0])
    configurations, policy = configurations_from_flags(problem.name)
    is_default = not defaults.problems or problem.name == defaults.problems[0]
    output = defaults.output if is_default else problem.name.removeprefix("regalloc_")
    train_corpus, held_out_corpus, split_corpus = _corpora_from_flags(defaults)
    inputs = RunInputs(
        clang=compiling.clang_from_flags(),
        train_corpus=train_corpus,
        held_out_corpus=held_out_corpus,
        vocabulary=locate.user_path(FLAGS.vocabulary) if FLAGS.vocabulary else None,
        policy=policy,
        output=locate.output_directory(FLAGS.output_dir, output or ""),
        cache=compiling.cache_from_flags(),
        imitated=imitated_from_flags(configurations.run.algorithm),
        estimation=estimation_from_flags(problem, configurations.run.reward),
        allowed_options=tuple(FLAGS.allow_option),
        changes=compiling.changes_from_flags(),
        module_filter=FLAGS.module_filter,
        split_corpus=split_corpus,
    )
    return _train(inputs, configurations)


def _corpora_from_flags(defaults: Defaults) -> tuple[pathlib.Path | None, pathlib.Path | None, pathlib.Path | None]:
    """The corpus to learn from and the one to measure on, or the one to split. Raises: RunError: both are given."""
    if not FLAGS.corpus:
        return _part_from_flags(defaults, "train"), _part_from_flags(defaults, "held_out"), None
    if FLAGS.train_corpus or FLAGS.held_out_corpus:
        wrong = "is split, and a part is given too"
        raise RunError(f"--corpus={FLAGS.corpus}", wrong, "Give --corpus alone, or both parts")
    return None, None, locate.user_path(FLAGS.corpus)


def _part_from_flags(defaults: Defaults, part: str) -> pathlib.Path | None:
    value = FLAGS[f"{part}_corpus"].value or _default_part(defaults, part)
    return locate.user_path(value) if value else None


def _default_part(defaults: Defaults, part: str) -> str | None:
    """Label of the corpus that is taken without a flag: that of the command's target, or the built-in one."""
    if not defaults.corpus:
        return None
    return os.environ.get(f"MLGO_{part.upper()}_CORPUS") or f"{defaults.corpus}_{part}"


def _train(inputs: RunInputs, configurations: Configurations) -> int:
    """Runs or resumes the run and prints its summary to stdout."""
    if not FLAGS.resume and (inputs.output / run_folder.CONFIGURATION_NAME).exists():
        remedy = "Remove --noresume to continue it, or give another --output_dir"
        raise RunError(f"folder {inputs.output}", "holds a run", remedy)
    if (configurations.run.warm_start == "policy") != (inputs.policy is not None):
        raise RunError("RunSettings.warm_start", "is 'policy', and no policy is given", "Give --warm_start=FOLDER")
    with compiling.executor_from_flags(inputs.clang, FLAGS.workers) as executor:
        run = training_run.TrainingRun(inputs, configurations, FLAGS.workers or available_cores(), executor)
        comparison = run.run()
    estimated = inputs.estimation is not None
    lines = summary.closing_lines(
        inputs.output, comparison, run.seconds, run.problem, run.learned, estimated, inputs.policy
    )
    show(Demangler.of_command().texts(lines, _NAME_WIDTH))
    return ExitCode.DONE


_ESTIMATED_REWARD = f"--gin_bindings=\"RunSettings.reward='{ESTIMATED_CODE}'\""


@flag_group("Learning")
def define_estimation_flags() -> None:
    """Defines --size_estimator and --opt."""
    text = "estimator.json of //mlgo:train_size_estimator. Its estimates replace the sizes of generated code."
    flags.DEFINE_string("size_estimator", None, f"With {_ESTIMATED_REWARD}: {text}")
    text = "With --size_estimator: LLVM's opt, of the same version as the clang. Default: //development:opt."
    flags.DEFINE_string("opt", None, text)


def estimation_from_flags(problem: Problem, reward: str) -> Estimation | None:
    """The estimation that the flags select; None if `reward`, a field of the settings, is not an estimate.

    Raises: RunError: the flags and the reward do not go together, or the problem has no such reward.
    """
    unsupported = None
    if ESTIMATED_CODE not in score_of(problem).rewards:
        unsupported = (f"is not supported for {problem.name}, whose score is never estimated", "Remove it")
    elif reward != ESTIMATED_CODE:
        name = f"reward {reward}" if reward else "the default reward"
        unsupported = (f"is not supported for {name}", f"Add {_ESTIMATED_REWARD}, or remove it")
    if unsupported:
        given = [f"--{flag}" for flag in ("size_estimator", "opt") if FLAGS[flag].value is not None]
        given += [_ESTIMATED_REWARD] if reward == ESTIMATED_CODE else []
        if given:
            raise RunError(given[0], *unsupported)
        return None
    if FLAGS.size_estimator is None:
        remedy = "Train one with ./bazelw run //mlgo:train_size_estimator, and give its estimator.json"
        raise RunError(f"reward {reward}", "needs an estimator, and --size_estimator is missing", remedy)
    opt = locate.user_path(FLAGS.opt) if FLAGS.opt else locate.runfile("development/opt")
    if not opt.is_file():
        raise RunError(f"--opt={opt}", "is not a file", "Give opt of the LLVM that the clang is of")
    return Estimation(locate.user_path(FLAGS.size_estimator), opt)
