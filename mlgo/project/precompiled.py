"""Units of a build that read precompiled headers.

clang refuses a header that was compiled at another level. So a row precompiles the build's headers again, by the
commands of the build with the row's options; where that fails, units read them as text.
"""

from __future__ import annotations

import os
import pathlib
import threading
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from mlgo.corpus.options.driver import parse_driver
from mlgo.project import child
from mlgo.project.command_line import Compile, Header
from mlgo.project.compiler import Compiler

_SUFFIXES = (".gch", ".pch")
_READ = "-include-pch"
#: Lines of options that decide in the code alone, on which no precompiled header depends.
_LATER = "-mllvm "


class Made(NamedTuple):
    """A header that a row precompiled.

    Attributes:
      path: None: clang refuses it.
      seconds: CPU time; 0: it was there already.
    """

    path: str | None
    seconds: float


class Precompiler:
    """Precompiles headers once for all rows that can share them; safe for several threads.

    Args: folder: for what it makes, which is as large as the build's; the caller removes it.
    """

    def __init__(self, compiler: Compiler, folder: pathlib.Path):
        self._compiler, self._folder = compiler, folder
        self._made: dict[tuple[str, tuple[str, ...]], str | None] = {}
        self._locks: dict[tuple[str, tuple[str, ...]], threading.Lock] = {}
        self._lock = threading.Lock()

    def precompile(self, header: Header, flags: tuple[str, ...]) -> Made:
        """Precompiles a header of the build with `flags`, lines of a configuration file."""
        key = (header.output, tuple(flag for flag in flags if not flag.startswith(_LATER)))
        with self._lock:
            lock = self._locks.setdefault(key, threading.Lock())
            number = len(self._locks)
        with lock:
            if key in self._made:
                return Made(self._made[key], 0.0)
            made = self._run(header, key[1], self._folder / str(number))
            self._made[key] = made.path
            return made

    def _run(self, header: Header, flags: tuple[str, ...], folder: pathlib.Path) -> Made:
        folder.mkdir(parents=True, exist_ok=True)
        output, config = folder / os.path.basename(header.output), folder / "header.cfg"
        config.write_text("\n".join(flags) + "\n", encoding="utf-8", errors="surrogateescape")
        command = [self._compiler.tool(header.tool), f"--config={config}", *header.words, "-c", "-o", str(output)]
        ended = child.run([*command, "-Wno-everything"], header.directory)
        return Made(str(output) if not ended.code and output.is_file() else None, ended.seconds)


def headers_of(unit: Compile, headers: Mapping[str, Header]) -> list[Header]:
    """The headers that a unit of the build has read and that can be precompiled again; empty: one cannot be.

    Args: headers: what the build precompiled -> its command.
    """
    found = [headers.get(path) for path in _compiled_headers(unit)]
    return [one for one in found if one and one.words] if all(one and one.words for one in found) else []


def reads_precompiled_header(unit: Compile) -> bool:
    """Whether a unit of the build has read a header that was compiled before."""
    return bool(_compiled_headers(unit))


def words_with_headers(unit: Compile, paths: Mapping[str, str]) -> tuple[str, ...]:
    """The words of a unit so that it reads others in the place of precompiled headers.

    Args: paths: header of the build -> what stands for it, absolute.
    """
    kept = list(unit.words)
    if places := _places_of(_READ, kept):
        kept[places.value] = paths[_absolute(unit, kept[places.value])]
    words: list[str] = []
    for given in parse_driver(kept):
        compiled = _compiled(unit, given.value) if given.name == "-include" else None
        words += given.words if compiled is None else [_READ, paths[compiled]]
    return tuple(words)


def words_with_text(unit: Compile, headers: Mapping[str, Header]) -> tuple[str, ...]:
    """The words of a unit so that it reads headers as text.

    CMake also includes the header's text, which stays; what it compiles before is an empty source. meson names the
    compiled header alone, and qmake one that has no text beside it. Where `-include` would find a compiled header
    beside the text, cc1 is told of the text, because the driver takes the other one.

    Args: headers: what the build precompiled -> its command.
    """
    kept: list[str] = []
    for given in parse_driver(_without_option(unit, headers)):
        compiled = _compiled(unit, given.value) if given.name == "-include" else None
        if compiled is None:
            kept += given.words
        elif compiled in headers and headers[compiled].source != _absolute(unit, given.value):
            kept += ["-include", headers[compiled].source]
        elif os.path.exists(_absolute(unit, given.value)):
            kept += ["-Xclang", "-include", "-Xclang", given.value or ""]
        else:
            kept += ["-include", given.value or ""]
    return tuple(kept)


def _compiled_headers(unit: Compile) -> list[str]:
    """Absolute paths of the compiled headers that a unit reads."""
    words = unit.words
    found = []
    if places := _places_of(_READ, words):
        found.append(_absolute(unit, "".join(words[places.value : places.value + 1])))
    included = (given.value for given in parse_driver(words) if given.name == "-include")
    return [*found, *filter(None, (_compiled(unit, name) for name in included))]


def _compiled(unit: Compile, name: str | None) -> str | None:
    """The compiled header that -include finds in the place of the text `name`; None: there is none."""
    paths = (_absolute(unit, name) + suffix for suffix in _SUFFIXES)
    found = next((path for path in paths if os.path.exists(path)), None)
    # qmake makes one for each language in a folder of this name.
    return os.path.join(found, "c++" if "++" in unit.tool else "c") if found and os.path.isdir(found) else found


def _without_option(unit: Compile, headers: Mapping[str, Header]) -> list[str]:
    """The words with the text of what -include-pch names."""
    kept = list(unit.words)
    for name in (_READ, "-emit-pch"):
        while places := _places_of(name, kept):
            value = places.value
            header = headers.get(_absolute(unit, "".join(kept[value : value + 1])))
            kept[places.begin : value + 1] = ["-include", header.source] if header else []
    return kept


class _Places(NamedTuple):
    """Where an option stands in a command: its first word, perhaps -Xclang, and its value, which may be missing."""

    begin: int
    value: int


def _places_of(name: str, words: Sequence[str]) -> _Places | None:
    """The first time that an option of cc1 is given."""
    if name not in words:
        return None
    place = words.index(name)
    is_passed_on = place > 0 and words[place - 1] == "-Xclang"
    return _Places(place - is_passed_on, place + 1 + is_passed_on)


def _absolute(unit: Compile, name: str | None) -> str:
    return os.path.normpath(os.path.join(unit.directory, name or ""))
