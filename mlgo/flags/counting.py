"""Flags of the commands that build and count programs, and what //mlgo:evaluate counts with them."""

import pathlib
from collections.abc import Sequence
from typing import Any

from absl import flags

from mlgo.compiler.executor import available_cores
from mlgo.evaluation.policies import ModelOf, Policies
from mlgo.evaluation.programs.building import Toolchain, sysroot_from_flags
from mlgo.evaluation.programs.catalogue import Catalogue, packages_from_flags
from mlgo.evaluation.programs.counters import cachegrind_from_flags
from mlgo.evaluation.programs.evaluation import ProgramEvaluation
from mlgo.evaluation.programs.policy_counts import NONE, PolicyCounts, count_policies
from mlgo.evaluation.programs.program import Program, load_program
from mlgo.evaluation.programs.target import HOST, Target
from mlgo.evaluation.sides import CalleeSavedCost, with_costs
from mlgo.flags.compiling import clang_from_flags
from mlgo.flags.help import flag_group
from mlgo.problems.problem import Problem
from mlgo.run import locate
from mlgo.run.exit_codes import RunError
from mlgo.run.progress import show
from mlgo.run.run_folder import RunFolder
from mlgo.score.problem_score import score_of

FLAGS = flags.FLAGS
flags.disclaim_key_flags()  # --help of a command lists the flags that this module defines for it.

#: Folder of the builds in the output folder of //mlgo:evaluate.
_PROGRAMS = "programs"


@flag_group("Programs")
def define_program_tool_flags() -> None:
    """Defines the flags of the tools that build and count programs."""
    flags.DEFINE_string(
        "packaged_clang",
        None,
        "Clang that links programs, and the default of a size comparison. Default: the packaged one.",
    )
    flags.DEFINE_string(
        "sysroot", None, "Headers and libraries. Default: the packaged Debian 12; empty: the machine's."
    )
    flags.DEFINE_string("valgrind", None, "Path of Valgrind. Default: the packaged one.")


@flag_group("Programs")
def define_program_choice_flags() -> None:
    """Defines the flags that name programs."""
    flags.DEFINE_list(
        "programs",
        [],
        "Names of built-in programs and of groups: all, those that are neither slow nor of the exam; exam, those that a"
        " released policy is judged by (nothing is tuned on them). Default: those of the published results; with"
        " --program_file: none.",
    )
    flags.DEFINE_multi_string("program_file", [], "JSON description of a further program; repeatable.")
    flags.DEFINE_multi_string("package", [], "Source tree that descriptions name, as NAME=FOLDER; repeatable.")
    flags.DEFINE_bool("list", False, "List the built-in programs and exit.")


def catalogue_unless_listed() -> Catalogue | None:
    """The built-in programs; None: --list asked for them alone, and they are shown."""
    catalogue = Catalogue.of_command()
    if not FLAGS.list:
        return catalogue
    show(catalogue.lines())
    return None


def chosen_programs(catalogue: Catalogue, work: pathlib.Path) -> list[Program]:
    """The programs of these flags.

    Args: work: a folder for the build of a gn project's programs.
    Raises: RunError: a name is unknown or comes twice, or a description is not usable.
    """
    described = [locate.user_path(path) for path in FLAGS.program_file]
    return catalogue.programs(FLAGS.programs, described, packages_from_flags(FLAGS.package), work)


@flag_group("Programs")
def define_counting_flags() -> None:
    """Defines --program and the flags of its tools."""
    flags.DEFINE_multi_string(
        "program",
        [],
        "For register allocation: JSON description of a program (mlgo/evaluation/programs/README.md), built under the"
        " default and under every policy at -O2; the instructions that it executes are counted and join the verdict."
        " Repeatable.",
    )
    define_program_tool_flags()


def programs_from_flags(problem: Problem) -> list[Program]:
    """The programs of --program.

    Raises: RunError: a description cannot be read, two have one name, or `problem` is not about executed code.
    """
    if FLAGS.program and score_of(problem).links_images:
        remedy = "Remove it; //mlgo:evaluate_programs compares the sizes of programs"
        raise RunError("--program", f"counts executed instructions, which {problem.name} is not about", remedy)
    packages = packages_from_flags([])
    found = [load_program(locate.user_path(path), packages) for path in FLAGS.program]
    names = [program.name for program in found]
    if twice := [name for name in names if names.count(name) > 1]:
        raise RunError("--program", f"describes {twice[0]!r} twice", "Give one of them another name")
    return found


def counting_inputs(programs: Sequence[Program]) -> dict[str, Any]:
    """Digests of the tools of `counts_from_flags`, and the names of `programs`, for the identity of the output folder.

    Raises: RunError: a tool is missing.
    """
    if not programs:
        return {}
    return {
        "programs": [program.name for program in programs],
        "toolchain": toolchain_from_flags().digest(),
        "counter": cachegrind_from_flags(FLAGS.valgrind).digest(),
    }


def toolchain_from_flags(target: Target = HOST, objects: pathlib.Path | None = None) -> Toolchain:
    """The tools that build programs for `target`. Args: objects: folder of objects that programs share.

    Raises: RunError: a tool is missing.
    """
    driver = locate.program(FLAGS.packaged_clang, "--packaged_clang", "MLGO_PACKAGED_CLANG").resolve()
    linker = locate.program(FLAGS.linker, "--linker", "MLGO_PACKAGED_LINKER")
    workers = FLAGS.workers or available_cores()
    return Toolchain(sysroot_from_flags(FLAGS.sysroot, target), linker, driver, workers, objects, target)


def counts_from_flags(
    programs: Sequence[Program],
    folder: RunFolder,
    policies: Policies,
    model_of: ModelOf,
    callee_saved_costs: Sequence[CalleeSavedCost] = (),
) -> PolicyCounts:
    """What `programs` execute under the default and under `policies`, in stages of `folder`.

    Args: model_of: of `policies`; callee_saved_costs: for further sides, the default and each policy with each of them.
    Raises: RunError: a tool is missing.
    """
    if not programs:
        return NONE
    toolchain = toolchain_from_flags(objects=folder.path / _PROGRAMS / "objects")
    sides = policies.program_sides(clang_from_flags().resolve(), model_of)
    sides += with_costs(sides, callee_saved_costs)
    evaluation = ProgramEvaluation(folder, toolchain, below=_PROGRAMS)
    return count_policies(evaluation, programs, sides, cachegrind_from_flags(FLAGS.valgrind))
