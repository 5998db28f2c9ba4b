"""Derives the command that compiles all modules of a local ThinLTO build (`global_command_override`)."""

import dataclasses
import os
import pathlib
import re
import subprocess
from collections.abc import Callable, Sequence

from mlgo.corpus.extraction import quoting
from mlgo.corpus.options.driver import output_of
from mlgo.corpus.thinlto import lld_options
from mlgo.run import files, signals
from mlgo.run.exit_codes import RunError
from mlgo.run.regular_file import read_regular

_LINKER = re.compile(r"(.*-)?(ld|lld|ld\.lld|ld\.gold|ld\.bfd|ld64|ld64\.lld|lld-link|wasm-ld)(-[0-9.]+)?(\.exe)?")
_LLD_FOR_ELF = re.compile(r"(.*-)?(ld|lld|ld\.lld)(-[0-9.]+)?(\.exe)?")
_DRIVER = re.compile(r"(.*-)?(clang|clang\+\+|cc|c\+\+)(-[0-9.]+)?(\.exe)?")
# What splits a shell line into commands, and the quoting in which it does not. Redirections do not occur on link lines.
_SHELL_PIECE = re.compile(
    r"""(?P<operator>&&|\|\||[;&|]) | '[^']*'? | "(?:[^"\\]|\\.)*"? | \\.? | [^;&|'"\\]+""", re.VERBOSE | re.DOTALL
)
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=.*", re.DOTALL)
_RESPONSE_FILE_LIMIT = 64 * 1024 * 1024
_SECONDS = 300


@dataclasses.dataclass(frozen=True)
class LinkLine:
    """A line of ld.lld.

    Attributes:
      arguments: without the program's name, response files expanded.
      working_directory: where relative paths count from.
      triple: the target as the driver said it; None when there was no driver.
    """

    arguments: tuple[str, ...]
    working_directory: pathlib.Path
    triple: str | None = None


def linker_line(link: Sequence[str], working_directory: pathlib.Path) -> LinkLine:
    """The line of ld.lld that the command `link`, the linker's or a driver's, stands for. A driver is asked with -###.

    Args: link: program and arguments; one single word is a shell line, as ninja and compile databases have it.

    Raises: RunError: no link is in it, the linker is not ld.lld, a response file is missing or the driver does not run.
    """
    if len(link) == 1:
        link, working_directory = _command_of_shell_line(link[0], working_directory)
    if not link:
        raise RunError("the link command", "is empty", "give the line that links the program")
    program = os.path.basename(link[0])
    if _LINKER.fullmatch(program):
        return LinkLine(_lld_arguments(link, working_directory), working_directory)
    if not _DRIVER.fullmatch(program):
        remedy = "give the line of ld.lld or of clang that links the program"
        raise RunError(f"link command {link[0]} ...", "starts neither a linker nor a clang driver", remedy)
    return _ask_driver(link, working_directory)


def ninja_link(
    ninja_directory: pathlib.Path, target: str, ninja: str = "ninja"
) -> tuple[tuple[str, ...], pathlib.Path]:
    """The command that links `target` in a ninja build directory, as words, and where it runs.

    Raises: RunError: ninja does not run, or does not know the target, or links nothing for it.
    """
    read = f"target {target} of {ninja_directory}"
    lines = _run([ninja, "-C", str(ninja_directory), "-t", "commands", target], ninja_directory, read).splitlines()
    for line in reversed(lines):
        command, where = _command_of_shell_line(line, ninja_directory)
        if not command or not _links(command):
            continue
        missing = [word for word in command if word.startswith("@") and not (where / word[1:]).is_file()]
        if missing:
            # ninja deletes its response files, and shows their content only here.
            database = _run([ninja, "-C", str(ninja_directory), "-t", "compdb", "-x"], ninja_directory, read)
            return _from_database(database, output_of(command[1:], None), where, read)
        return tuple(command), where
    wrong = "is linked by no command of ninja"
    raise RunError(read, wrong, "give the name of a program or library (ninja -t targets all)")


def _from_database(
    database: str, output: str | None, where: pathlib.Path, read: str
) -> tuple[tuple[str, ...], pathlib.Path]:
    entries = files.parse_json(os.fsencode(database), read, "check the command where the build ran")
    for entry in entries:
        # ninja's name of `./lib.so` is `lib.so`.
        if output is not None and os.path.normpath(entry.get("output") or ".") == os.path.normpath(output):
            command, place = _command_of_shell_line(entry["command"], where)
            if command and _links(command):
                return tuple(command), place
    raise RunError(read, "is linked through a response file that ninja does not show", "build with ninja -d keeprsp")


def _command_of_shell_line(line: str, where: pathlib.Path) -> tuple[list[str], pathlib.Path]:
    """The last command of a shell line that links or compiles (`: && clang++ ... && :` is what CMake writes)."""
    found: tuple[list[str], pathlib.Path] = ([], where)
    for command in map(quoting.split_shell, _simple_commands(line)):
        while command and _ASSIGNMENT.fullmatch(command[0]):
            command.pop(0)
        command = _unwrapped(command)
        if len(command) == 2 and command[0] == "cd":
            where = where / command[1]
        elif command and _is_tool(command[0]):
            found = (command, where)
    return found


def _unwrapped(command: list[str]) -> list[str]:
    """The command that a script runs: `python3 link_wrapper.py --output=app -- clang++ ...` is how Chromium links."""
    if command and not _is_tool(command[0]) and "--" in command:
        inner = command[command.index("--") + 1 :]
        if inner and _is_tool(inner[0]):
            return inner
    return command


def _simple_commands(line: str) -> list[str]:
    """The parts of a shell line between `&&`, `;` and their like, where these are not quoted."""
    parts = [""]
    for piece in _SHELL_PIECE.finditer(line):
        if piece["operator"]:
            parts.append("")
        else:
            parts[-1] += piece[0]
    return parts


def _is_tool(program: str) -> bool:
    name = os.path.basename(program)
    return _LINKER.fullmatch(name) is not None or _DRIVER.fullmatch(name) is not None


def _links(command: Sequence[str]) -> bool:
    return _is_tool(command[0]) and not {"-c", "-S", "-E", "-fsyntax-only", "-cc1"} & set(command)


def _lld_arguments(link: Sequence[str], working_directory: pathlib.Path) -> tuple[str, ...]:
    if not _LLD_FOR_ELF.fullmatch(os.path.basename(link[0])):
        wrong = "is not of ld.lld, the only linker whose ThinLTO back end is known here"
        remedy = "link with -fuse-ld=lld, or build with distributed ThinLTO (--thinlto_build=distributed)"
        raise RunError(f"link command {link[0]} ...", wrong, remedy)
    return tuple(_expanded(link[1:], working_directory))


def _ask_driver(link: Sequence[str], working_directory: pathlib.Path) -> LinkLine:
    # The driver prints the link even if objects are missing, but not without any object.
    for inputs in ([], [os.devnull]):
        lines = _run([*link, *inputs, "-###"], working_directory, f"compiler {link[0]}", may_fail=True).splitlines()
        target = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("Target:")), None)
        for line in reversed(lines):
            words = quoting.split_shell(line) if line.startswith(' "') else []
            if words and _LINKER.fullmatch(os.path.basename(words[0])):
                return LinkLine(_lld_arguments(words, working_directory), working_directory, target)
    errors = "; ".join(line for line in lines if "error:" in line)[:500]
    wrong = "links nothing, says the driver (-###)" + (f": {errors}" if errors else "")
    raise RunError(f"link command {link[0]} ...", wrong, "give the line that links the program")


def _expanded(words: Sequence[str], working_directory: pathlib.Path) -> list[str]:
    """`words` with response files replaced by what is in them. Raises: RunError: one is missing, or names itself."""

    def read(name: str) -> str:
        path = working_directory / name
        try:
            return os.fsdecode(read_regular(path, _RESPONSE_FILE_LIMIT))
        except OSError as error:
            wrong = "does not exist" if isinstance(error, FileNotFoundError) else f"cannot be read: {error.strerror}"
            remedy = "keep it (ninja -d keeprsp), or give --ninja_dir and --target"
            raise RunError(f"response file {path} of the link command", wrong, remedy) from error

    return list(quoting.expand_response_files(words, read))


def _run(command: Sequence[str], where: pathlib.Path, read: str, may_fail: bool = False) -> str:
    """Standard output and error of a command; it must end well unless it `may_fail`."""
    try:
        done = subprocess.run(
            command,
            cwd=where,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
            timeout=_SECONDS,
            env={**os.environ, "LC_ALL": "C"},
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        wrong = f"cannot be asked: {error}"
        raise RunError(read, wrong, "give the linker's own line: the driver prints it with -###") from error
    signals.check_not_killed(command[0], done.returncode)
    said = os.fsdecode(done.stdout)
    if done.returncode != 0 and not may_fail:
        wrong = f"{os.path.basename(command[0])} fails: {said.strip()[-500:]}"
        raise RunError(read, wrong, "check the command where the build ran")
    return said


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
    link: Sequence[str], working_directory: pathlib.Path, add_file: Callable[[pathlib.Path], str]
) -> LinkOverride:
    """Derives the override from the command that linked the program.

    Args:
      link: the command of ld.lld, or of a clang driver, which then prints the linker's; a single word is a shell line.
      add_file: copies a file (a profile) into the corpus and returns its relative name there.

    Raises: RunError: the command cannot be read, or needs a file that does not exist.
    """

    def carry(option: str, path: str) -> str:
        source = line.working_directory / path
        # Not `source.is_file()`, which raises for a name that is too long.
        if not os.path.isfile(source):
            wrong = f"names the file {source}, which does not exist"
            raise RunError(f"link option {option}", wrong, "derive the override where the build ran, into a corpus")
        return add_file(source)

    line = linker_line(link, working_directory)
    back_end = lld_options.back_end(line.arguments, carry)
    triple = line.triple or _TRIPLES.get(back_end.emulation or "")
    if triple is None:
        remedy = "give the compiler driver's link line instead"
        raise RunError(f"the link command, -m {back_end.emulation}", "does not tell the target", remedy)
    return LinkOverride(("-cc1", "-triple", triple, *back_end.options, "-emit-obj"), back_end.differences)
