"""Derives the command that compiles all modules of a local ThinLTO build (`global_command_override`)."""

import dataclasses
import os
import pathlib
from collections.abc import Callable, Sequence

from mlgo.corpus.thinlto import find_link, lld_options
from mlgo.run.exit_codes import RunError

# By -m of ld.lld; a driver gives a more exact triple. Code generation reads architecture, system and environment.
_TRIPLES = {
    "elf_x86_64": "x86_64-unknown-linux-gnu",
    "elf32_x86_64": "x86_64-unknown-linux-gnux32",
    "elf_i386": "i386-unknown-linux-gnu",
    "aarch64linux": "aarch64-unknown-linux-gnu",
    "aarch64elf": "aarch64-unknown-linux-gnu",
    "armelf_linux_eabi": "armv7-unknown-linux-gnueabihf",
    "elf64lriscv": "riscv64-unknown-linux-gnu",
    "elf64lppc": "powerpc64le-unknown-linux-gnu",
    "elf64loongarch": "loongarch64-unknown-linux-gnu",
}


@dataclasses.dataclass(frozen=True)
class LinkOverride:
    """The compile command that follows from a link command.

    Attributes:
      command: cc1 arguments for `global_command_override`, without input, output and index.
      differences: why objects of this command differ from the linker's, as sentences; empty: they are equal.
    """

    command: tuple[str, ...]
    differences: tuple[str, ...]


def link_override(
    link: Sequence[str],
    working_directory: pathlib.Path,
    add_file: Callable[[pathlib.Path], str] | None = None,
    triple: str | None = None,
) -> LinkOverride:
    """Derives the override from the command that linked the program.

    Args:
      link: the command of ld.lld, or of a clang driver, which then prints the linker's; a single word is a shell line.
      working_directory: folder in which it ran.
      add_file: copies a file (a profile) into the corpus and returns its relative name there; None: files are errors.
      triple: the modules' target; None: from the driver or -m.

    Raises: RunError: the command cannot be read, or needs a file that does not exist.
    """

    def carry(option: str, path: str) -> str:
        source = line.working_directory / path
        # Not `source.is_file()`, which raises for a name that is too long.
        exists = os.path.isfile(source)
        if not exists or add_file is None:
            wrong = f"names the file {source}, which " + ("cannot be copied" if exists else "does not exist")
            raise RunError(f"link option {option}", wrong, "derive the override where the build ran, into a corpus")
        return add_file(source)

    line = find_link.linker_line(link, pathlib.Path(working_directory))
    back_end = lld_options.back_end(line.arguments, carry)
    triple = triple or line.triple or _TRIPLES.get(back_end.emulation or "")
    if triple is None:
        remedy = "give the compiler driver's link line instead"
        raise RunError(f"the link command, -m {back_end.emulation}", "does not tell the target", remedy)
    return LinkOverride(("-cc1", "-triple", triple, *back_end.options, "-emit-obj"), back_end.differences)
