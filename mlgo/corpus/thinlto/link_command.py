"""The one command (`global_command_override`) which compiles every module of a local ThinLTO build."""

import dataclasses
import pathlib
from collections.abc import Callable, Sequence

from mlgo.corpus.thinlto import find_link, lld_options
from mlgo.run.exit_codes import RunError

# -m of ld.lld; the driver, where there is one, knows better. Code generation reads architecture, system and environment.
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
    """What a link command means to its modules.

    Attributes:
      command: cc1 arguments for `global_command_override`, without input, output and index.
      differences: why objects made with it cannot be the linker's own, in sentences; empty when they are, byte for byte.
    """

    command: tuple[str, ...]
    differences: tuple[str, ...]


def command_override(
    link: Sequence[str],
    working_directory: pathlib.Path,
    add_file: Callable[[pathlib.Path], str] | None = None,
    triple: str | None = None,
) -> tuple[str, ...]:
    """`link_override` for callers that do not tell anybody about differences."""
    return link_override(link, working_directory, add_file, triple).command


def link_override(
    link: Sequence[str],
    working_directory: pathlib.Path,
    add_file: Callable[[pathlib.Path], str] | None = None,
    triple: str | None = None,
) -> LinkOverride:
    """Derives the override from the command that linked the program.

    Args:
      link: the command of ld.lld or of a clang driver, which is then asked for the linker's; one single word is a shell line.
      working_directory: where it ran.
      add_file: carries a file (a profile) into the corpus and returns its relative name there; None: that is an error.
      triple: the modules' target; None: as the driver or -m says.

    Raises: RunError: the command cannot be read, or needs a file that does not exist.
    """

    def carry(option: str, path: str) -> str:
        source = line.working_directory / path
        if not source.is_file() or add_file is None:
            wrong = f"names the file {source}, which " + ("nobody carries" if source.is_file() else "does not exist")
            raise RunError(f"link option {option}", wrong, "derive the override where the build ran, into a corpus")
        return add_file(source)

    line = find_link.linker_line(link, pathlib.Path(working_directory))
    back_end = lld_options.back_end(line.arguments, carry)
    triple = triple or line.triple or _TRIPLES.get(back_end.emulation or "")
    if triple is None:
        raise RunError(
            f"the link command, -m {back_end.emulation}",
            "does not tell the target",
            "give the compiler driver's link line instead",
        )
    return LinkOverride(("-cc1", "-triple", triple, *back_end.options, "-emit-obj"), back_end.differences)
