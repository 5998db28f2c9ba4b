"""What a recorded command makes: objects from sources, or a program from objects and sources."""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Iterable, Sequence
from typing import Union

from mlgo.corpus.options.driver import GivenWord, is_level, names_output, parse_driver
from mlgo.project.recording import Record

# What ends before an object or a program is there.
_NO_CODE = frozenset(("-E", "-S", "-M", "-MM", "-fsyntax-only", "-emit-llvm", "--precompile", "-###", "-emit-ast"))
#: Suffix of a source -> whether clang compiles it; False: an assembler does.
_COMPILED = {
    **dict.fromkeys((".c", ".i", ".m", ".mi", ".cc", ".cp", ".cxx", ".cpp", ".c++", ".C", ".CC", ".CPP"), True),
    **dict.fromkeys((".ii", ".mm", ".M", ".mii", ".cppm", ".ixx", ".ccm", ".cxxm", ".c++m"), True),
    **dict.fromkeys((".bc", ".ll", ".pcm"), True),
    **dict.fromkeys((".s", ".S", ".sx"), False),
}
#: `ar`: the letters of an operation that adds objects, and operation, archive, object.
_ADDS = re.compile(r"-?(?=\w*[rq])[abciqrsuvDSTUP]+")
_FEWEST_WORDS = 3
# Files that a linker writes beside the program, with their names behind `=` or in the next word; and what it prints.
_LINKERS_FILE = re.compile(r"--?(?:Map|dependency-file|out-implib)(?P<name>=.*)?")
_LINKERS_PRINT = re.compile(r"-M|--?print-map|--?cref")
# A source that is not kept.
_READ_ONCE = re.compile(r"-|/dev/stdin|/dev/fd/.*")
_HEADERS = (".h", ".hh", ".hpp", ".hxx", ".H", ".h++")
_NO_CODE_LANGUAGES = ("c-header", "c++-header", "objective-c-header", "objective-c++-header")


@dataclasses.dataclass(frozen=True)
class Compile:
    """A command that makes one object from one source; tool, directory, by, seconds: as of the record."""

    tool: str
    directory: str
    words: tuple[str, ...]  #: options and source, without what names outputs.
    source: str  #: absolute, as `output`.
    output: str
    by: str
    seconds: float
    assembles: bool  #: the source is assembly, in which no policy decides.


@dataclasses.dataclass(frozen=True)
class Link:
    """A command that makes a program, a shared library or, with -r, an object of several; fields as of `Compile`."""

    tool: str
    directory: str
    words: tuple[str, ...]
    output: str
    by: str
    seconds: float
    sources: tuple[str, ...]  #: absolute paths of the sources that it compiles too.


@dataclasses.dataclass(frozen=True)
class Header:
    """A command that precompiles a header; fields as of `Compile`."""

    source: str
    output: str
    tool: str = ""
    directory: str = ""
    words: tuple[str, ...] = ()  #: empty where clang did not make it.
    seconds: float = 0.0


@dataclasses.dataclass(frozen=True)
class Archive:
    """A command that puts objects into an archive; absolute paths."""

    output: str
    members: tuple[str, ...]


#: Evaluated by Python 3.9, which has no `|` of classes.
Made = Union[Compile, Link, Header, Archive]  # noqa: UP007


def understand(record: Record) -> list[Made]:
    """What a command made; empty: no object, program, archive or precompiled header, or it failed."""
    if record.tool == "ar":
        return _archives(record)
    if record.exit_code or (record.tool == "ld" and "-o" not in record.words):
        return []
    given = list(parse_driver(_without_linkers_outputs(record)))
    names = {one.name for one in given}
    if names & _NO_CODE:
        return []
    output = next((one.value for one in reversed(given) if one.name == "-o"), None)
    given = [one for one in given if not is_output(one)]
    inputs = _inputs(given)
    sources = [place for place, kind in inputs.items() if kind is not None]
    compiled = [place for place in sources if inputs[place] != "header"]
    texts = [given[place].words[0] for place in sources if inputs[place] == "header"]
    words = _words(given)
    headers: list[Made] = [
        Header(
            _absolute(record, text),
            _absolute(record, output or f"{text}.pch"),
            record.tool,
            record.directory,
            # Only a command that has a single header can be repeated.
            words if record.by == "clang" and len(texts) == 1 else (),
            record.seconds / len(texts),
        )
        for text in texts
        if not _READ_ONCE.fullmatch(text)
    ]
    if "-c" in names:
        own, seconds = (output if len(sources) == 1 else None), record.seconds / max(1, len(sources))
        return [*headers, *(_compile(record, given, place, own, seconds) for place in compiled)]
    if texts or not inputs:
        return headers
    paths = tuple(_absolute(record, given[place].words[0]) for place in sources)
    path = _absolute(record, output or "a.out")
    return [Link(record.tool, record.directory, words, path, record.by, record.seconds, paths)]


def _without_linkers_outputs(record: Record) -> list[str]:
    """The words without what has the linker write more than its output; -Xlinker, -Wl or the linker's own."""
    kept: list[str] = []
    is_passed = names_file = False
    for word in record.words:
        begin = ["-Wl"] if word.startswith("-Wl,") else []
        if word == "-Xlinker":
            is_passed = True
            continue
        if not (begin or is_passed or record.tool == "ld"):
            kept.append(word)
            continue
        parts = []
        for part in word.split(",")[1:] if begin else [word]:
            match = _LINKERS_FILE.fullmatch(part)
            if not (names_file or match or _LINKERS_PRINT.fullmatch(part)):
                parts.append(part)
            names_file = not names_file and match is not None and match["name"] is None
        if parts:
            kept += ["-Xlinker", word] if is_passed else [",".join([*begin, *parts])]
        is_passed = False
    return kept


def _archives(record: Record) -> list[Made]:
    """The archive that `ar` adds objects to; empty: it does something else."""
    words = [word for word in record.words if not word.startswith("--")]
    if record.exit_code or len(words) < _FEWEST_WORDS or not _ADDS.fullmatch(words[0]):
        return []
    # The name of a member comes before the archive: where new ones are put.
    after = words[2:] if set("abi") & set(words[0]) else words[1:]
    return [Archive(_absolute(record, after[0]), tuple(_absolute(record, word) for word in after[1:]))]


def compiles_of(link: Link) -> list[Compile]:
    """The compiles that a link with sources makes first; not what it assembles."""
    given = list(parse_driver(link.words))
    places = [place for place, kind in _inputs(given).items() if kind is True]
    outputs = [f"{link.output}({_absolute(link, given[place].words[0])})" for place in places]
    return [_compile(link, given, place, output, link.seconds / len(places)) for place, output in zip(places, outputs)]


def _compile(
    made: Record | Link, given: Sequence[GivenWord], place: int, output: str | None, seconds: float
) -> Compile:
    """The compile of the input at `place` alone. Args: output: None: where clang puts it."""
    inputs, source = _inputs(given), given[place].words[0]
    words = _words(one for other, one in enumerate(given) if other == place or other not in inputs)
    path = output or os.path.splitext(os.path.basename(source))[0] + ".o"
    paths = _absolute(made, source), _absolute(made, path)
    return Compile(made.tool, made.directory, words, *paths, made.by, seconds, inputs[place] is False)


def last_level(words: Sequence[str]) -> str:
    """The level of a compile, such as "2", "s" or "fast"; "0" where none is given."""
    levels = [one for one in parse_driver(words) if is_level(one)]
    return levels[-1].value or levels[-1].name[2:] or "1" if levels else "0"


def is_output(given: GivenWord) -> bool:
    """Whether an option names a file that a command writes, or asks for one."""
    return names_output(given) or given.words[0].startswith("-Wa,-a")  # A listing.


def without_language(words: Sequence[str]) -> tuple[str, ...]:
    """The words of a link whose compiled sources are replaced by objects, so that -x does not name their language."""
    given = parse_driver(words)
    return _words(one for one in given if one.name != "-x" or (one.value or "").startswith("assembler"))


def _inputs(given: Sequence[GivenWord]) -> dict[int, bool | str | None]:
    """Place of each input -> whether it is compiled or assembled, "header", or None for what is linked."""
    found: dict[int, bool | str | None] = {}
    language = None
    for place, one in enumerate(given):
        if one.name == "-x":
            language = None if one.value == "none" else one.value
        elif _READ_ONCE.fullmatch(one.words[0]):
            found[place] = "header"
        elif one.name == "":
            suffix = os.path.splitext(one.words[0])[1]
            if language in _NO_CODE_LANGUAGES or (language is None and suffix in _HEADERS):
                found[place] = "header"
            elif language is not None:
                found[place] = not language.startswith("assembler")
            else:
                found[place] = _COMPILED.get(suffix)
        elif one.name.startswith("-l") or (one.name == "-Wl," and _has_objects(one.words[0].split(","))):
            found[place] = None
    return found


def _has_objects(words: Sequence[str]) -> bool:
    return any(word.endswith((".o", ".a")) and not word.startswith("-") for word in words)


def _words(given: Iterable[GivenWord]) -> tuple[str, ...]:
    return tuple(word for one in given for word in one.words)


def _absolute(made: Record | Link, path: str) -> str:
    return os.path.normpath(os.path.join(made.directory, path))
