"""Reads a JSON compilation database, which has the options of each source.

Format: https://clang.llvm.org/docs/JSONCompilationDatabase.html; written by CMake, `ninja -t compdb` and other tools.
"""

import dataclasses
import fnmatch
import pathlib
import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from mlgo.corpus.extraction.quoting import read_entry
from mlgo.corpus.options import driver
from mlgo.corpus.options.parsing import LLVM, CommandError, parse_command
from mlgo.run import files
from mlgo.run.exit_codes import RunError

_REMEDY = (
    "Give a compile_commands.json of C and C++ alone, with one entry for each object of the program; `objects` in the"
    " description selects entries by their outputs"
)
#: clang's level without an option.
_NO_LEVEL = "-O0"
#: A file of release/configuration: it switches policies on, which sides do.
_CONFIGURATION = re.compile(r"(.*/)?mlgo-[a-z]+\.cfg")
_PASSED_ON = "-Xclang"
_RELOCATION = frozenset(("-fPIC", "-fPIE", "-fpic", "-fpie"))


@dataclasses.dataclass(frozen=True)
class CompileCommands:
    """The content of a database."""

    directory: pathlib.Path  #: folder in which the commands run; the database's own where they run in several.
    #: source -> its options, without compiler, source and output. The source is as the commands name it; where they run
    #: in several folders, its absolute path.
    options: Mapping[str, tuple[str, ...]]
    #: source -> folder in which its command runs, where they run in several.
    directories: Mapping[str, pathlib.Path] = dataclasses.field(default_factory=dict)
    #: the optimisation levels of the commands, such as "-O3", sorted. `options` are without level.
    levels: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class _Command:
    """An entry, see DatabaseEntry."""

    source: str  #: as its command spells it.
    words: tuple[str, ...]
    directory: pathlib.Path
    output: str  #: "" if it names none.


def load_commands(path: pathlib.Path, objects: Sequence[str] = ()) -> CompileCommands:
    """Reads the database `path`.

    Args: objects: shell patterns of the outputs that make up the program; empty: all.
    Raises: RunError: it is malformed, or a source is compiled twice.
    """
    subject = f"compile commands {path}"
    entries = files.read_json(path, "compilation database", _REMEDY)
    if not isinstance(entries, list) or not entries:
        raise RunError(subject, "is not a list of commands", _REMEDY)
    commands = [_command(entry, path.parent, f"{subject}, entry {index}") for index, entry in enumerate(entries)]
    commands = _of_objects(commands, objects, subject)
    folders = [command.directory for command in commands]
    several = len(set(folders)) > 1
    options: dict[str, tuple[str, ...]] = {}
    directories: dict[str, pathlib.Path] = {}
    for command in commands:
        # Unix Makefiles of CMake run each command in its target's folder; two folders may have a source of one name.
        name = str(command.directory / command.source) if several else command.source
        if name in options:
            raise RunError(subject, f"compiles {name} twice", _REMEDY)
        options[name] = own_options(command.words, command.source)
        directories[name] = command.directory
    levels = tuple(sorted({level_of(command.words) or _NO_LEVEL for command in commands}))
    return CompileCommands(path.parent if several else folders[0], options, directories if several else {}, levels)


def level_of(words: Sequence[str]) -> str | None:
    """The optimisation level that a driver's `words` give, such as "-O3"; None: they give none."""
    return next(
        (given.words[0] for given in reversed(list(driver.parse_driver(words))) if driver.is_level(given)), None
    )


def _of_objects(commands: list[_Command], patterns: Sequence[str], subject: str) -> list[_Command]:
    """The commands whose output one of `patterns` matches; all without patterns. Raises: RunError: one matches none."""
    if not patterns:
        return commands
    outputs = [command.output for command in commands]
    for pattern in patterns:
        if not any(fnmatch.fnmatchcase(output, pattern) for output in outputs):
            made = f"It makes {', '.join(outputs[:3])}, ..."
            raise RunError(subject, f"makes no object that matches {pattern!r}", made)
    return [one for one in commands if any(fnmatch.fnmatchcase(one.output, pattern) for pattern in patterns)]


def own_options(words: Sequence[str], source: str) -> tuple[str, ...]:
    """The options of a compile command that an evaluation keeps: all but those that it sets itself.

    Args: words: the command with its compiler, which may follow a launcher such as ccache.
    """
    begin = next((index for index, word in enumerate(words) if word.startswith("-")), len(words))
    given = list(driver.parse_driver(words[begin:]))
    left_out = _passed_on_for_build(given)
    return tuple(
        word
        for place, one in enumerate(given)
        if place not in left_out and not driver.belongs_to_build(one) and one.words != (source,) and not _is_policy(one)
        for word in driver.without_lto(one)
    )


def _passed_on_for_build(given: Sequence[driver.GivenWord]) -> set[int]:
    """The places of -Xclang and -mllvm whose words an evaluation sets itself. An option may be two of them."""
    found: set[int] = set()
    for name, prefix in ((_PASSED_ON, ()), (LLVM, (LLVM,))):
        places = [place for place, one in enumerate(given) if one.name == name and one.values]
        try:
            options = list(parse_command([word for place in places for word in (*prefix, given[place].values[0])]))
        except CommandError:
            continue  # The last one lacks its argument: clang says so.
        for option in options:
            count = len(option.words) // (1 + len(prefix))
            found.update(places[:count] if driver.is_passed_on_for_build(option) else ())
            del places[:count]
    return found


def _is_policy(given: driver.GivenWord) -> bool:
    return given.name == "--config=" and _CONFIGURATION.fullmatch(given.value or "") is not None


def code_generation(options: Sequence[str]) -> list[str]:
    """Those of `options` that apply to the code generation of a ThinLTO build."""
    pairs = zip(options, options[1:])
    said = [word for name, value in pairs if name == "-mllvm" for word in (name, value)]
    return said + [word for word in options if word in _RELOCATION]


def _command(entry: Any, base: pathlib.Path, subject: str) -> _Command:
    """Args: base: folder of the database. Raises: RunError: the entry does not say what it compiles and how."""
    read = read_entry(entry, str(base))
    if isinstance(read, str):
        raise RunError(subject, read, _REMEDY)
    if entry.get("arguments") is None:
        _check_shell(entry["command"], subject)
    source = entry.get("file")
    if source is None:
        raise RunError(subject, "does not say what it compiles: it has no `file`", _REMEDY)
    if source not in read.words:
        raise RunError(subject, f"does not compile {source}, as its command spells it", _REMEDY)
    return _Command(source, read.words, pathlib.Path(read.directory), entry.get("output") or read.output or "")


def _check_shell(command: str, subject: str) -> None:
    """Raises: RunError: a quote is not closed. `read_entry` closes it at the end, as clang's tools do."""
    try:
        shlex.split(command)
    except ValueError as error:
        raise RunError(subject, f"has a command that is not valid shell: {error}", _REMEDY) from error
