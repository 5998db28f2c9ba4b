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
    """A line of ld.lld."""

    #: Without the program's name, response files expanded.
    arguments: tuple[str, ...]
    working_directory: pathlib.Path
    #: The target as the driver said it; None when there was no driver.
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


def ninja_link(folder: pathlib.Path, target: str, ninja: str = "ninja") -> tuple[tuple[str, ...], pathlib.Path]:
    """The command that links `target` in a ninja build folder, as words, and where it runs.
    Raises: RunError: ninja does not run, or does not know the target, or links nothing for it."""
    read = f"target {target} of {folder}"
    for line in reversed(_run([ninja, "-C", str(folder), "-t", "commands", target], folder, read).splitlines()):
        command, where = _command_of_shell_line(line, folder)
        if not _links(command):
            continue
        if all((where / word[1:]).is_file() for word in command if word.startswith("@")):
            return tuple(command), where
        # ninja deletes its response files, and shows their content only here.
        database = _run([ninja, "-C", str(folder), "-t", "compdb", "-x"], folder, read)
        output = output_of(command[1:], None)
        for entry in files.parse_json(os.fsencode(database), read, "check the command where the build ran"):
            # ninja's name of `./lib.so` is `lib.so`.
            if output is not None and os.path.normpath(entry.get("output") or ".") == os.path.normpath(output):
                command, place = _command_of_shell_line(entry["command"], where)
                if _links(command):
                    return tuple(command), place
        wrong = "is linked through a response file that ninja does not show"
        raise RunError(read, wrong, "build with ninja -d keeprsp")
    wrong = "is linked by no command of ninja"
    raise RunError(read, wrong, "give the name of a program or library (ninja -t targets all)")


def _command_of_shell_line(line: str, where: pathlib.Path) -> tuple[list[str], pathlib.Path]:
    """The last command of a shell line that links or compiles (`: && clang++ ... && :` is what CMake writes)."""
    found: tuple[list[str], pathlib.Path] = ([], where)
    for command in map(quoting.split_shell, _simple_commands(line)):
        while command and _ASSIGNMENT.fullmatch(command[0]):
            command.pop(0)
        # `python3 link_wrapper.py --output=app -- clang++ ...` is how Chromium links.
        inner = command[command.index("--") + 1 :] if "--" in command else []
        if len(command) == 2 and command[0] == "cd":
            where = where / command[1]
        elif _is_tool(command):
            found = (command, where)
        elif _is_tool(inner):
            found = (inner, where)
    return found


def _simple_commands(line: str) -> list[str]:
    """The parts of a shell line between `&&`, `;` and their like, where these are not quoted."""
    parts = [""]
    for piece in _SHELL_PIECE.finditer(line):
        if piece["operator"]:
            parts.append("")
        else:
            parts[-1] += piece[0]
    return parts


def _is_tool(command: Sequence[str]) -> bool:
    name = os.path.basename(command[0]) if command else ""
    return _LINKER.fullmatch(name) is not None or _DRIVER.fullmatch(name) is not None


def _links(command: Sequence[str]) -> bool:
    return _is_tool(command) and not {"-c", "-S", "-E", "-fsyntax-only", "-cc1"} & set(command)


def _lld_arguments(link: Sequence[str], working_directory: pathlib.Path) -> tuple[str, ...]:
    if not _LLD_FOR_ELF.fullmatch(os.path.basename(link[0])):
        wrong = "is not of ld.lld, the only linker whose ThinLTO back end is known here"
        remedy = "link with -fuse-ld=lld, or build with distributed ThinLTO (--thinlto_build=distributed)"
        raise RunError(f"link command {link[0]} ...", wrong, remedy)

    def read(name: str) -> str:
        path = working_directory / name
        try:
            return os.fsdecode(read_regular(path, _RESPONSE_FILE_LIMIT))
        except OSError as error:
            wrong = "does not exist" if isinstance(error, FileNotFoundError) else f"cannot be read: {error.strerror}"
            remedy = "keep it (ninja -d keeprsp), or give --ninja_dir and --target"
            raise RunError(f"response file {path} of the link command", wrong, remedy) from error

    return tuple(quoting.expand_response_files(link[1:], read))


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


def _run(command: Sequence[str], where: pathlib.Path, read: str, may_fail: bool = False) -> str:
    """Standard output and error of a command; it must end well unless it `may_fail`."""
    try:
        null, pipe, env = subprocess.DEVNULL, subprocess.PIPE, {**os.environ, "LC_ALL": "C"}
        done = subprocess.run(
            command,
            cwd=where,
            env=env,
            stdin=null,
            stdout=pipe,
            stderr=subprocess.STDOUT,
            check=False,
            timeout=_SECONDS,
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


def link_override(
    link: Sequence[str], working_directory: pathlib.Path, add_file: Callable[[pathlib.Path], str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Derives the override from the command that linked the program.

    Args:
      link: the command of ld.lld, or of a clang driver, which then prints the linker's; a single word is a shell line.
      add_file: copies a file (a profile) into the corpus and returns its relative name there.

    Returns: cc1 arguments for `global_command_override`, without input, output and index; and why objects of this
      command differ from the linker's, as sentences.
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
    return ("-cc1", "-triple", triple, *back_end.options, "-emit-obj"), back_end.differences
