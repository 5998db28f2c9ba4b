"""Trains an estimator of code size from IR (the RFC's IR2Native) and measures its error on held-out functions.

    ./bazelw run //mlgo:train_size_estimator
    ./bazelw run //mlgo:train_size_estimator -- --train_corpus=/data/train --held_out_corpus=/data/held_out \\
        --output_dir=out/sizes

Every module of both corpora is optimised, its functions' properties are read by `opt -passes='print<func-properties>'`,
and their bytes of code from the object. Functions whose name is in the training corpus are not held-out functions. It
writes estimator.json (for --size_estimator of the training commands) and accuracy.json below --output_dir. After an
interruption, the same command resumes. Exit codes: 0 done, 2 wrong input or flags, 11 too many modules failed, 130
interrupted.
"""

import dataclasses

from absl import app, flags

from mlgo.flags import compiling
from mlgo.flags.main import parse_flags, refuse_arguments
from mlgo.identity.code import run_identity
from mlgo.identity.programs import compiler_identity, program_identity
from mlgo.problems.inlining_for_size.problem import PROBLEM
from mlgo.run import files, locate
from mlgo.run.exit import RESUMABLE, exit_code_of
from mlgo.run.exit_codes import ExitCode
from mlgo.run.run_folder import RunFolder
from mlgo.size_estimator.estimator import EstimatorConfig, accuracy, fit, instructions_alone
from mlgo.size_estimator.examples import collect
from mlgo.trace.outcomes import DEFAULT_MAX_FAILURE_RATIO
from mlgo.trace.setup import CompileSetup

FLAGS = flags.FLAGS

_PARTS = ("train", "held_out")


def main(arguments: list[str]) -> int:
    return exit_code_of(lambda: _train(arguments), RESUMABLE)


def _define_flags() -> None:
    label = PROBLEM.score.built_in_corpus
    flags.DEFINE_string("train_corpus", f"{label}_train", "Corpus to learn from: a path or a label.")
    flags.DEFINE_string("held_out_corpus", f"{label}_held_out", "Corpus to measure on: a path or a label.")
    flags.DEFINE_string("output_dir", None, "Folder of the result. Default: out/size_estimator in the workspace.")
    flags.DEFINE_string("opt", None, "LLVM's opt, of the same version as the clang. Default: //development:opt.")
    flags.DEFINE_integer("seed", 1, "Seed of the network's initial weights.", lower_bound=0)
    compiling.define_compiler_flags()
    compiling.define_compile_limit()
    compiling.define_gin_flags()


def _train(arguments: list[str]) -> int:
    refuse_arguments(arguments)
    folder = RunFolder(locate.output_directory(FLAGS.output_dir, "size_estimator"))
    output, clang = folder.path, compiling.clang_from_flags()
    opt = locate.user_path(FLAGS.opt) if FLAGS.opt else locate.runfile("development/opt")
    corpora = {
        part: compiling.corpus_from_flags(locate.user_path(FLAGS[f"{part}_corpus"].value), PROBLEM) for part in _PARTS
    }
    inputs = {f"{part}_corpus": corpus.digest for part, corpus in corpora.items()}
    inputs |= {"clang": compiler_identity(clang), "opt": program_identity(opt)}
    folder.claim(run_identity({"inputs": inputs, "seed": FLAGS.seed}))
    with compiling.executor_from_flags(clang, FLAGS.workers) as executor:
        setup = CompileSetup(
            clang, PROBLEM, compiling.limits_from_flags(), FLAGS.workers or 1, DEFAULT_MAX_FAILURE_RATIO, executor
        )
        training, held_out = (collect(output / "optimised" / part, corpora[part], setup, opt, part) for part in _PARTS)
    held_out = held_out.without_names_of(training)
    estimator = fit(training, EstimatorConfig(), FLAGS.seed)
    estimator.save(output / "estimator.json")
    found = {
        "estimator": accuracy(held_out, estimator.estimate(held_out.features)),
        "instructions alone": accuracy(held_out, instructions_alone(training, held_out)),
    }
    files.write_json_atomically(
        output / "accuracy.json", {name: dataclasses.asdict(value) for name, value in found.items()}
    )
    for name, value in found.items():
        print(
            f"{name}: {value.functions} held-out functions off by {value.median:.1f} % (median),"
            f" {value.mean:.1f} % (mean); sums of {value.modules} modules by {value.module_mean:.1f} %,"
            f" of all by {value.total:+.1f} %"
        )
    print(f"done: {len(training.functions)} functions learned from -> {output / 'estimator.json'}")
    return ExitCode.DONE


if __name__ == "__main__":
    _define_flags()
    app.run(main, flags_parser=parse_flags)
