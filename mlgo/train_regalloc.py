"""Trains a register-allocation eviction policy and tells what it is worth.

Without flags it trains on the built-in corpus (LLVM's own libraries) and writes to out/regalloc in the workspace:

    ./bazelw run //mlgo:train_regalloc

It compiles every module once with the development clang to record what the default heuristic decides, learns to repeat
that, improves on it by PPO, chooses the best weights on modules set aside, and compares them with the default on held-out
modules. Ctrl-C or worse: the same command goes on, losing at most the current iteration. The result depends on the
corpora, the settings and --seed only, not on --workers or the machine's load.

    ./bazelw run //mlgo:train_regalloc -- --ppo_iterations=300 --modules_per_iteration=64 --output_dir=out/long
    ./bazelw run //mlgo:train_regalloc -- --train_corpus=/data/train --held_out_corpus=/data/held_out
    ./bazelw run //mlgo:train_regalloc -- --gin_bindings="PpoConfig.learning_rate=1e-4"

A corpus is a folder with corpus_description.json ({"modules": ["a/b.cpp", ...]}) and, per module, NAME.bc (bitcode before
optimisation) and NAME.cmd (cc1 arguments, each followed by a NUL), or a .zip, .tar, .tar.gz or .tar.zst file of it. Relative paths
are relative to where you type the command. Exit codes: 0 done, 2 something is not as it should be and nothing was trained, 10 input
empty, 11 too many modules failed, 130 interrupted.
"""

import dataclasses
import os
import sys

import gin
from absl import app
from absl import flags

from mlgo.compiler.executor import available_cores
from mlgo.learning.configuration import BcConfig, PpoConfig
from mlgo.learning.network import NetworkConfig
from mlgo.run import files, locate
from mlgo.run.ending import RESUMABLE, exit_code_of
from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.pipeline import summary, training_run
from mlgo.pipeline.settings import RunSettings
from mlgo.trace.vocabulary import VocabularyConfig

FLAGS = flags.FLAGS

flags.DEFINE_string("output_dir", None, "Folder of the run. Default: out/regalloc in the workspace.")
flags.DEFINE_string("train_corpus", None, "Corpus to learn from. Default: the built-in one.")
flags.DEFINE_string("held_out_corpus", None, "Corpus to measure on; no module may be in both. Default: the built-in one.")
flags.DEFINE_string("clang", None, "Development clang. Default: //development:clang.")
flags.DEFINE_string("vocabulary", None, "Folder with FEATURE.buckets files. Default: one is made from the default trace.")
flags.DEFINE_integer("workers", None, "Compiles at a time. Default: one per core. Changes no result.", lower_bound=1)
flags.DEFINE_integer("seed", None, f"Of everything random. Default: {RunSettings.seed}.", lower_bound=0)
flags.DEFINE_integer(
    "ppo_iterations", None, f"Rounds of collecting and learning. Default: {RunSettings.ppo_iterations}; papers: thousands.",
    lower_bound=0,
)
flags.DEFINE_integer(
    "modules_per_iteration", None,
    f"Modules compiled per iteration. Default: {RunSettings.modules_per_iteration}; papers: 512 and more.", lower_bound=1,
)
flags.DEFINE_integer(
    "samples_per_module", None,
    f"Compiles of each module per iteration. Default: {RunSettings.samples_per_module}; papers: 1.", lower_bound=1,
)
flags.DEFINE_integer(
    "validation_modules", None,
    f"Training modules set aside to choose the policy. Default: {RunSettings.validation_modules}.", lower_bound=1,
)
flags.DEFINE_float(
    "max_failure_ratio", None,
    f"Part of a stage's modules that may fail. Default: {RunSettings.max_failure_ratio}.", lower_bound=0.0, upper_bound=1.0,
)
flags.DEFINE_multi_string("gin_files", [], "Gin files with settings; a flag wins over them.")
flags.DEFINE_multi_string(
    "gin_bindings", [],
    "Single settings: RunSettings, VocabularyConfig, NetworkConfig, BcConfig, PpoConfig, each .FIELD=VALUE; the fields are"
    " described where these classes are.",
)

#: Flags that override a field of the same name.
_SETTING_FLAGS = (
    "seed",
    "ppo_iterations",
    "modules_per_iteration",
    "samples_per_module",
    "validation_modules",
    "max_failure_ratio",
)


def _configurations() -> training_run.Configurations:
    gin_files = [str(locate.user_path(path)) for path in FLAGS.gin_files]
    try:
        gin.parse_config_files_and_bindings(gin_files, FLAGS.gin_bindings)
        settings = RunSettings()
        given = {name: FLAGS[name].value for name in _SETTING_FLAGS if FLAGS[name].value is not None}
        return training_run.Configurations(
            run=dataclasses.replace(settings, **given),
            vocabulary=VocabularyConfig(),
            network=NetworkConfig(),
            behavioural_cloning=BcConfig(),
            ppo=PpoConfig(),
        )
    except (OSError, ValueError, TypeError, AttributeError, SyntaxError) as error:
        raise RunError(
            "--gin_files, --gin_bindings or a flag",
            f"does not give usable settings: {error}",
            "Correct it; `CLASS.FIELD=VALUE` with CLASS one of RunSettings, VocabularyConfig, NetworkConfig, BcConfig, PpoConfig",
        ) from error


def _places() -> training_run.Places:
    def given_or(flag: str, runfile: str):
        value = FLAGS[flag].value
        return locate.user_path(value) if value else locate.runfile(runfile)

    return training_run.Places(
        clang=given_or("clang", "development/clang"),
        train_corpus=given_or("train_corpus", "mlgo/corpus/llvm_small_train"),
        held_out_corpus=given_or("held_out_corpus", "mlgo/corpus/llvm_small_held_out"),
        vocabulary=locate.user_path(FLAGS.vocabulary) if FLAGS.vocabulary else None,
        output=locate.output_directory(FLAGS.output_dir, "regalloc"),
    )


def main(arguments: list[str]) -> int:
    """Runs the command; returns its exit code. Stopped, it leaves no compiler behind."""
    return exit_code_of(lambda: _train(arguments), RESUMABLE)


def _train(arguments: list[str]) -> int:
    if len(arguments) > 1:
        raise RunError(f"argument {arguments[1]!r}", "is not a flag", "See --help")
    places = _places()
    comparison = training_run.TrainingRun(places, _configurations(), FLAGS.workers or available_cores()).run()
    timings = files.read_json(places.output / training_run.TIMINGS_NAME, "timings", "Delete the file")
    for line in summary.closing_lines(places.output, locate.workspace(), comparison, timings):
        print(line)
    return ExitCode.DONE


def _parse_flags(arguments: list[str]) -> list[str]:
    try:
        return FLAGS(arguments)
    except flags.Error as error:
        print(f"error: {error}. See --help", file=sys.stderr)
        raise SystemExit(int(ExitCode.MISUSE)) from error


if __name__ == "__main__":
    # tf-agents 0.19 runs on Keras 2 only; TensorFlow's start-up messages tell a user nothing.
    os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    app.run(main, flags_parser=_parse_flags)
