"""Flags of the commands that compile corpora with and without a policy, and the compile setup that they select."""

import contextlib
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from absl import flags

from mlgo.compiler.executor import available_cores
from mlgo.compiler.preflight import preflight
from mlgo.flags.compiling import clang_from_flags, define_compile_limit, executor_from_flags, limits_from_flags
from mlgo.flags.help import flag_group
from mlgo.identity.code import run_identity
from mlgo.identity.programs import compiler_identity
from mlgo.problems.problem import Problem
from mlgo.run import locate
from mlgo.run.determinism import DEFAULT_SEED
from mlgo.run.run_folder import RunFolder
from mlgo.score.problem_score import score_of
from mlgo.trace.outcomes import DEFAULT_MAX_FAILURE_RATIO
from mlgo.trace.setup import CompileSetup

FLAGS = flags.FLAGS
flags.disclaim_key_flags()  # --help of a command lists the flags that this module defines for it.


@flag_group("Measuring")
def define_measuring_flags() -> None:
    """Defines --seed and the limits of compiles."""
    flags.DEFINE_integer("seed", DEFAULT_SEED, "Seed of bootstraps and of random samples.", lower_bound=0)
    text = "Fraction of a corpus's modules that may fail to compile before the command stops."
    flags.DEFINE_float("max_failure_ratio", DEFAULT_MAX_FAILURE_RATIO, text, lower_bound=0.0, upper_bound=1.0)
    define_compile_limit()


@contextlib.contextmanager
def compiling_from_flags(
    problem: Problem, output: str, inputs: Mapping[str, Any], settings: Mapping[str, Any], grows: Collection[str] = ()
) -> Iterator[tuple[RunFolder, CompileSetup, str]]:
    """Starts the executor that the flags select; yields the output folder, the setup, and the compiler's digest.

    Args:
      output: default name of the output folder below out/.
      inputs, settings: for the folder's identity, besides the compiler and the flags of this module.
      grows: of {"inputs": `inputs`, "configuration": `settings`}, as in RunFolder.claim.

    Raises: RunError: the compiler is not usable for `problem`, or the folder holds other results.
    """
    clang = clang_from_flags()
    preflight(clang, problem)
    folder = RunFolder(locate.output_directory(FLAGS.output_dir, output))
    compiler = compiler_identity(clang)
    flag_values = {name: FLAGS[name].value for name in ("seed", "max_failure_ratio", "compile_cpu_seconds")}
    configuration = {"problem": problem.name, **flag_values, **settings}
    folder.claim(run_identity({"inputs": {"clang": compiler, **inputs}, "configuration": configuration}), grows=grows)
    with executor_from_flags(clang, FLAGS.workers) as executor:
        workers = FLAGS.workers or available_cores()
        setup = CompileSetup(clang, problem, limits_from_flags(), workers, FLAGS.max_failure_ratio, executor)
        yield folder, setup, compiler
    folder.remove_work()


def held_out_corpus(problem: Problem) -> str:
    """Label of the built-in corpus on which policies of `problem` are evaluated."""
    return f"{score_of(problem).built_in_corpus}_held_out"
