"""Turns a hand-written `global_command_override` for clang's driver into the cc1 command that the driver makes of it.

The documents of ml-compiler-opt take such options from a link command (`-fPIC -O2 -nostdlib++ --sysroot=... -c`). Asked
with -###, the driver prints the command that they mean and runs nothing. It sees an empty folder and no configuration
file. A description is untrusted, so the driver is given only options that are listed here: single words, without a
path, that choose code. Others are refused by name. The cc1 command is judged again (mlgo/corpus/command.py).
"""

import os
import pathlib
import re
import subprocess
import tempfile
from collections.abc import Sequence

from mlgo.corpus import front_end
from mlgo.corpus.command import CompileCommand, check_length
from mlgo.corpus.command_changes import CommandChanges
from mlgo.corpus.corpus import Corpus, CorpusError
from mlgo.corpus.description import UNSPECIFIED_OVERRIDE
from mlgo.corpus.options.parsing import LLVM, CommandError, parse_command
from mlgo.corpus.options.table import chosen_table
from mlgo.corpus.options.verdict import CARRIED_FILE
from mlgo.run.exit_codes import RunError

_VALUE = rf"(?:[\w.,:+-]*|{CARRIED_FILE.pattern})"

#: What the driver is given. Each is one word for clang 22 and selects code.
_PASSED = re.compile(
    rf"-c|-O(?:[0-3sgz]|fast)?|-g(?:[0-3]|line-tables-only|mlt|dwarf(?:-[2-5])?)?|--target=[\w.+-]+"
    rf"|-f[A-Za-z][\w+-]*(?:={_VALUE})?|-m(?!llvm)[a-z0-9][\w.+-]*(?:=[\w.,+-]+)?"
)

#: Options that match _PASSED, and run a program, load a plug-in, write a file, or depend on this machine.
_DANGEROUS = re.compile(
    r"-f(?:no-)?(?:plugin|pass-plugin|use-ld|module|prebuilt|build-session|embed|save-optimization|optimization-record"
    r"|time-trace|crash-diagnostics|proc-stat|integrated|openmp-targets|offload|sycl|gpu|cuda|hip|thinlto-index"
    r"|filelist|framework|force_load|profile-instr-generate|profile-generate|cs-profile-generate|diagnostics"
    r"|sanitize-.*list|stack-usage|dump|depfile|system-module).*|-m.*=native"
)

#: Options that bitcode needs nothing of: headers, libraries, warnings, macros. --sysroot is a folder of headers and
#: libraries.
_DROPPED = re.compile(
    r"-nostd(?:lib(?:\+\+)?|inc(?:\+\+)?)|-nodefaultlibs|-no-canonical-prefixes|-pthread|-pipe|-w|-v|-pedantic"
    r"|-std=[\w+:]+|-stdlib=[\w+]+|-W(?![lap],)[\w+=#-]*|-[DUI][^@].*|--sysroot=.*|-isysroot.+",
    re.DOTALL,
)
_DROPPED_WITH_VALUE = frozenset({"--sysroot", "-isysroot", "-isystem", "-I", "-D", "-U", "-o"})

_SUBJECT = "the global_command_override"
_SHOWN_CHARACTERS = 80
_INPUT = "module.bc"
_SECONDS = 60
#: Variables that clang needs to start. Others, such as CCC_OVERRIDE_OPTIONS, would change the command.
_ENVIRONMENT = ("PATH", "LD_LIBRARY_PATH", "TMPDIR")
_REMEDY = "Write the options of the compile, or the cc1 command, beginning with -cc1"


def is_for_driver(override: Sequence[str]) -> bool:
    """Whether `override` is for clang's driver: it does not begin with -cc1 and has a word that cc1 does not know."""
    if not override or override[0] == "-cc1":
        return False
    try:
        return any(option.clang is None and option.words[0] != LLVM for option in parse_command(override))
    except CommandError:
        return False


def driver_options(override: Sequence[str]) -> tuple[list[str], list[str]]:
    """What clang's driver turns into a cc1 command, and what it would pass on, after `-mllvm` and `-Xclang`.

    Raises: CommandError: an option is not known to only choose code, or the last one lacks its argument.
    """
    for_driver: list[str] = []
    for_cc1: list[str] = []
    words = iter(override)

    def argument() -> str:
        if (value := next(words, None)) is None:
            raise CommandError(_SUBJECT, f"ends after {word}", "Add the argument, or remove it")
        return value

    for word in words:
        if word in (LLVM, "-Xclang"):
            # Not given to the driver: there, a word in front could take `-mllvm` for its value and free the next one.
            for_cc1 += [LLVM, argument()] if word == LLVM else [argument()]
        elif word == "-target":
            for_driver.append(_passed(f"--target={argument()}"))
        elif word in _DROPPED_WITH_VALUE:
            argument()
        elif not _DROPPED.fullmatch(word):
            for_driver.append(_passed(word))
    return for_driver, for_cc1


def _passed(word: str) -> str:
    if _PASSED.fullmatch(word) and not _DANGEROUS.fullmatch(word):
        return word
    shown = re.sub(r"[\x00-\x1f\x7f]", "?", word[:_SHOWN_CHARACTERS])
    wrong = f"has the driver's option {shown}, which may do more than change code"
    raise CommandError(_SUBJECT, wrong, "Remove it, or write the cc1 command, beginning with -cc1")


def with_usable_commands(corpus: Corpus, clang: pathlib.Path, changes: CommandChanges) -> Corpus:
    """`corpus` with commands for cc1, as `changes` change them. Raises: CorpusError: see `with_cc1_override`."""
    return with_cc1_override(corpus, clang).changed(changes)


def with_cc1_override(corpus: Corpus, clang: pathlib.Path) -> Corpus:
    """`corpus` with a cc1 command where it has an override for the driver; else `corpus`.

    Raises: CorpusError: the override has an option that may do more than change code, or the driver rejects it.
    """
    override = corpus.command_override
    if override is None or override == UNSPECIFIED_OVERRIDE or not is_for_driver(override):
        return corpus
    try:
        return corpus.with_override(cc1_command(override, clang, corpus.allowed_options))
    except RunError as error:
        raise CorpusError(f"{error.subject} of corpus {corpus.path}", error.wrong, error.remedy) from error


def cc1_command(override: Sequence[str], clang: pathlib.Path, allowed: Sequence[str] = ()) -> tuple[str, ...]:
    """The cc1 command, beginning with -cc1 and without a path of this machine, that `clang` makes of `override`.

    Args: allowed: names of options that are kept although they may do more than change code.
    Raises: RunError: see `with_cc1_override`.
    """
    for_driver, for_cc1 = driver_options(override)
    check_length(override, _SUBJECT)
    shown = _asked(clang, for_driver)
    try:
        cc1 = front_end.recorded_command(front_end.front_end_command(shown, chosen_table().major))
    except RunError as error:
        raise _unusable(error.wrong) from error
    return ("-cc1", *CompileCommand([*cc1, *for_cc1], allowed).portable)


def _asked(clang: pathlib.Path, options: Sequence[str]) -> str:
    """What `clang -###` prints."""
    command = [os.path.abspath(clang), "--no-default-config", "-###", *options, "-c", "-x", "ir", _INPUT, "-o", "a.o"]
    environment = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ} | {"LC_ALL": "C"}
    with tempfile.TemporaryDirectory(prefix="mlgo-driver-") as folder:
        pathlib.Path(folder, _INPUT).touch()
        try:
            done = subprocess.run(
                command,
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                check=False,
                timeout=_SECONDS,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise RunError(f"compiler {clang}", f"cannot be asked for a command: {error}", "Check --clang") from error
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if "error:" in line]
        raise _unusable(errors[0].strip() if errors else f"the driver ends with status {done.returncode}")
    return done.stderr


def _unusable(wrong: str) -> CommandError:
    return CommandError(_SUBJECT, f"is no compile for clang's driver ({wrong})", _REMEDY)
