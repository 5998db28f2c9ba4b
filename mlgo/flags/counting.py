"""Flags of the commands that build and count programs."""

import pathlib

from absl import flags

from mlgo.compiler.executor import available_cores
from mlgo.evaluation.programs.building import Toolchain, sysroot_from_flags
from mlgo.evaluation.programs.catalogue import Catalogue, packages_from_flags
from mlgo.evaluation.programs.program import Program
from mlgo.evaluation.programs.target import HOST, Target
from mlgo.flags.help import flag_group
from mlgo.run import locate
from mlgo.run.progress import show

FLAGS = flags.FLAGS
flags.disclaim_key_flags()  # --help of a command lists the flags that this module defines for it.


@flag_group("Programs")
def define_program_tool_flags() -> None:
    """Defines the flags of the tools that build and count programs."""
    text = "Clang that links programs, and the default of a size comparison. Default: the packaged one."
    flags.DEFINE_string("packaged_clang", None, text)
    text = "Headers and libraries. Default: the packaged Debian 12; empty: the machine's."
    flags.DEFINE_string("sysroot", None, text)
    flags.DEFINE_string("valgrind", None, "Path of Valgrind. Default: the packaged one.")


@flag_group("Programs")
def define_program_choice_flags() -> None:
    """Defines the flags that name programs."""
    text = (
        "Names of built-in programs and of groups: all, those that are neither slow nor of the exam; exam, those that a"
        " released policy is judged by (nothing is tuned on them). Default: those of the published results; with"
        " --program_file: none."
    )
    flags.DEFINE_list("programs", [], text)
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
    """The chosen programs; those of gn projects are built in `work`. Raises: RunError: a name or file is not usable."""
    described = [locate.user_path(path) for path in FLAGS.program_file]
    return catalogue.programs(FLAGS.programs, described, packages_from_flags(FLAGS.package), work)


def toolchain_from_flags(target: Target = HOST, objects: pathlib.Path | None = None) -> Toolchain:
    """The tools that build programs, which share the folder `objects`. Raises: RunError: a tool is missing."""
    driver = locate.program(FLAGS.packaged_clang, "--packaged_clang", "MLGO_PACKAGED_CLANG").resolve()
    linker = locate.program(FLAGS.linker, "--linker", "MLGO_PACKAGED_LINKER")
    workers = FLAGS.workers or available_cores()
    return Toolchain(sysroot_from_flags(FLAGS.sysroot, target), linker, driver, workers, objects, target)
