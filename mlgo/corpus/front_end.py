"""Runs a compiler's front end for one module of a corpus: bitcode before optimisation, and the command that made it.

    front_end --llvm_major 22 --bitcode FILE.bc --command FILE.cmd [--level Oz] -- CLANG ARGUMENT...

The arguments are those of an ordinary compile to an object. No code is generated, which saves half of the time. The
bitcode is the complete input of code generation; the bitcode of `-fembed-bitcode` is not, because LLVM removes
`llvm.compiler.used` before it writes (embedBitcodeInModule, llvm/lib/Bitcode/Writer/BitcodeWriter.cpp), and a static
function kept by `__attribute__((used))` with it.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
from collections.abc import Sequence

# Nothing else of mlgo: a change to a file named here compiles every module again.
from mlgo.run.exit_codes import ExitCode, RunError

LEVELS = ("O0", "O1", "O2", "O3", "Os", "Oz")

# Bitcode as it was before -fembed-bitcode: use lists in order, so that the same module is the same bytes.
_TO_BITCODE = ("-emit-llvm-bc", "-emit-llvm-uselists", "-disable-llvm-passes")

_ACTIONS = frozenset({"-emit-obj", "-S", "-emit-llvm", "-emit-llvm-bc"})
_OUTPUTS = frozenset({"-MD", "-MMD", "-save-temps", "-c", "-S", "-emit-llvm"})
_OUTPUTS_WITH_VALUE = frozenset({"-o", "-MF", "-MT", "-MQ", "-MJ", "--serialize-diagnostics"})

# Flags that enable embedded policies of the build's clang; compiles of the corpus choose their own policies.
_POLICY = re.compile(r"--?(enable-ml-inliner|regalloc-enable-advisor|regalloc-enable-priority-advisor)=.*")

_VERSION = re.compile(r"\bclang version (?P<major>\d+)\.[^\s]*")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)


def driver_arguments(arguments: Sequence[str], level: str) -> list[str]:
    """The driver's arguments without those which name outputs or policies, at optimisation level `level` if not ""."""
    kept: list[str] = []
    rest = iter(arguments)
    for argument in rest:
        if argument in _OUTPUTS_WITH_VALUE:
            next(rest, None)
        elif argument == "-mllvm":
            option = next(rest, "")
            if not _POLICY.fullmatch(option):
                kept += [argument, option]
        elif argument not in _OUTPUTS and not argument.startswith("-fembed-bitcode"):
            kept.append(argument)
    return [*kept, *([f"-{level}"] if level else []), "-w", "-c", "-o", "-"]


def front_end_command(shown: str, llvm_major: int) -> list[str]:
    """The one `-cc1` command, without the program, in what `clang -### -c` shows.

    Raises: RunError: this is no clang of LLVM `llvm_major`, it does not compile with one front end, or the front end
      writes no file: a flag such as -fsyntax-only or -mcpu=help asks for something else than an object.
    """
    version = _VERSION.search(shown)
    if version is None or int(version["major"]) != llvm_major:
        found = version[0] if version else f"something that shows {shown.strip().splitlines()[:1]}"
        wrong = f"is {found}; a corpus is made by clang {llvm_major}, which also compiles it"
        toolchain = "@mlgo//toolchains/cc:clang_toolchain"
        remedy = f"register {toolchain}, or build with --extra_toolchains={toolchain}"
        raise RunError("the C++ toolchain's compiler", wrong, remedy)
    jobs = [
        [re.sub(r"\\(.)", r"\1", word, flags=re.DOTALL) for word in _QUOTED.findall(line)]
        for line in re.split(r'\n(?= ")', shown)
        if line.startswith(' "')
    ]
    commands = [words[1:] for words in jobs if words[1:2] == ["-cc1"]]
    if len(commands) != 1 or "-x" not in commands[0]:
        wrong = f"has {len(commands)} front ends, not 1: {shown.strip().splitlines()[-1:]}"
        raise RunError("the compile", wrong, "compile for one target and from source in this configuration")
    if "-o" not in commands[0] or not _ACTIONS.intersection(commands[0]):
        wrong = f"has a front end that writes no object: {' '.join(commands[0])[:80]} ..."
        remedy = "remove flags that only check or print something, such as -fsyntax-only, -mcpu=help or -M"
        raise RunError("the compile", wrong, remedy)
    return commands[0]


def recorded_command(cc1: Sequence[str]) -> tuple[str, ...]:
    """The command as clang records it in `.llvmcmd`: without output, language and input, which stand last."""
    return tuple(cc1[: _end(cc1)])


def bitcode_command(cc1: Sequence[str], bitcode: str) -> list[str]:
    """`cc1` made to write the module's bitcode to the file `bitcode` and to stop there."""
    end = _end(cc1)
    options = [word for word in cc1[:end] if word not in _ACTIONS]
    return [options[0], *_TO_BITCODE, *options[1:], "-o", bitcode, *cc1[end + 2 :]]


def _end(cc1: Sequence[str]) -> int:
    return len(cc1) - 1 - list(reversed(cc1)).index("-o")


def run(
    clang: str, llvm_major: int, arguments: Sequence[str], level: str, bitcode: pathlib.Path, command: pathlib.Path
) -> None:
    """Writes the files `bitcode` and `command`.
    Raises: RunError: the compiler is another one, or it fails; what it said is on standard error already."""
    shown = _run([clang, "-###", *driver_arguments(arguments, level)], capture_output=True)
    cc1 = front_end_command(shown.stderr, llvm_major)
    _run([clang, *bitcode_command(cc1, str(bitcode))])
    command.write_bytes(b"".join(os.fsencode(argument) + b"\0" for argument in recorded_command(cc1)))


def _run(command: Sequence[str], **options) -> subprocess.CompletedProcess:
    compiler = f"compiler {command[0]}"
    try:
        done = subprocess.run(command, text=True, errors="surrogateescape", check=False, **options)
    except OSError as error:
        raise RunError(compiler, f"cannot be run: {error.strerror}", "mend the C++ toolchain") from error
    if done.returncode:
        sys.stderr.write(done.stderr or "")
        raise RunError(compiler, f"ended with status {done.returncode}", "mend the source: it must compile")
    return done


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--llvm_major", type=int, required=True, help="major version that the compiler must have")
    add("--bitcode", type=pathlib.Path, required=True, help="bitcode file to write")
    add("--command", type=pathlib.Path, required=True, help="command file to write, arguments ended by NUL")
    add("--level", choices=("", *LEVELS), default="", help="optimisation level (default: the command's own)")
    add("compile", nargs="+", help="compiler and arguments, after --")
    flags = parser.parse_args(arguments)
    try:
        run(flags.compile[0], flags.llvm_major, flags.compile[1:], flags.level, flags.bitcode, flags.command)
    except RunError as error:
        print(f"front_end: {error}", file=sys.stderr)
        return error.exit_code
    return ExitCode.DONE


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
