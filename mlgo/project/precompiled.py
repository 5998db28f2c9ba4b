"""Units of a build that read precompiled headers.

clang refuses a header that was compiled at another level. So a row precompiles the build's headers again, by the
commands of the build with the row's options; where that fails, units read them as text.
"""

from __future__ import annotations

import os
import pathlib
import threading
from collections.abc import Mapping, Sequence

from mlgo.corpus.options.driver import GivenWord, parse_driver
from mlgo.project import steps
from mlgo.project.command_line import Compile, Header
from mlgo.project.compiler import Compiler

_SUFFIXES = (".gch", ".pch")
_READ = "-include-pch"
#: Lines of options that decide in the code alone, on which no precompiled header depends.
_LATER = "-mllvm "


class Precompiler:
    """Precompiles headers into `folder`, once for all rows that can share them; safe for several threads."""

    def __init__(self, compiler: Compiler, folder: pathlib.Path):
        self._compiler, self._folder = compiler, folder
        self._made: dict[tuple[str, tuple[str, ...]], str | None] = {}
        self._locks: dict[tuple[str, tuple[str, ...]], tuple[threading.Lock, pathlib.Path]] = {}
        self._lock = threading.Lock()

    def precompile(self, header: Header, flags: tuple[str, ...]) -> tuple[str | None, float]:
        """Precompiles a header of the build with `flags`, lines of a configuration file.

        Returns: its path, None: clang refuses it; and CPU seconds, 0: it was there already.
        """
        key = (header.output, tuple(flag for flag in flags if not flag.startswith(_LATER)))
        with self._lock:
            new = (threading.Lock(), self._folder / str(len(self._locks) + 1))
            lock, folder = self._locks.setdefault(key, new)
        with lock:
            if key in self._made:
                return self._made[key], 0.0
            folder.mkdir(parents=True, exist_ok=True)
            output = folder / os.path.basename(header.output)
            words = (*header.words, "-c", "-o", str(output), "-Wno-everything")
            command = self._compiler.command(header.tool, folder / "header.cfg", key[1], *words)
            ended = steps.run(command, header.directory)
            self._made[key] = str(output) if not ended.code and output.is_file() else None
            return self._made[key], ended.seconds


def headers_of(unit: Compile, headers: Mapping[str, Header]) -> list[Header]:
    """The headers that a unit of the build has read; empty: one cannot be made again. Args: headers: by output."""
    found = [headers.get(path) for path in _compiled_headers(unit)]
    return [one for one in found if one and one.words] if all(one and one.words for one in found) else []


def reads_precompiled_header(unit: Compile) -> bool:
    """Whether a unit of the build has read a header that was compiled before."""
    return bool(_compiled_headers(unit))


def words_with_headers(unit: Compile, paths: Mapping[str, str]) -> tuple[str, ...]:
    """The words of a unit so that it reads others for precompiled headers. Args: paths: the build's -> the other."""
    kept = list(unit.words)
    if places := _places_of(_READ, kept):
        kept[places[1]] = paths[_absolute(unit, kept[places[1]])]
    words: list[str] = []
    for given in parse_driver(kept):
        compiled = _compiled(unit, given)
        words += given.words if compiled is None else [_READ, paths[compiled]]
    return tuple(words)


def words_with_text(unit: Compile, headers: Mapping[str, Header]) -> tuple[str, ...]:
    """The words of a unit so that it reads headers as text.

    CMake also includes the header's text, which stays; what it compiles before is an empty source. meson names the
    compiled header alone, and qmake one that has no text beside it. Where `-include` would find a compiled header
    beside the text, cc1 is told of the text, because the driver takes the other one.
    """
    words: list[str] = []
    for given in parse_driver(_without_option(unit, headers)):
        compiled = _compiled(unit, given)
        text = _absolute(unit, given.value)
        if compiled is None:
            words += given.words
        elif compiled in headers and headers[compiled].source != text:
            words += ["-include", headers[compiled].source]
        elif os.path.exists(text):
            words += ["-Xclang", "-include", "-Xclang", given.value or ""]
        else:
            words += ["-include", given.value or ""]
    return tuple(words)


def _compiled_headers(unit: Compile) -> list[str]:
    """Absolute paths of the compiled headers that a unit reads."""
    places = _places_of(_READ, unit.words)
    found = [_absolute(unit, "".join(unit.words[places[1] :][:1]))] if places else []
    return [*found, *filter(None, (_compiled(unit, given) for given in parse_driver(unit.words)))]


def _compiled(unit: Compile, given: GivenWord) -> str | None:
    """The compiled header that -include finds in the place of a text; None: there is none, or it is another option."""
    paths = (_absolute(unit, given.value) + suffix for suffix in _SUFFIXES)
    found = next((path for path in paths if os.path.exists(path)), None) if given.name == "-include" else None
    # qmake makes one for each language in a folder of this name.
    return os.path.join(found, "c++" if "++" in unit.tool else "c") if found and os.path.isdir(found) else found


def _without_option(unit: Compile, headers: Mapping[str, Header]) -> list[str]:
    """The words with the text of what -include-pch names."""
    kept = list(unit.words)
    for name in (_READ, "-emit-pch"):
        while places := _places_of(name, kept):
            begin, value = places
            header = headers.get(_absolute(unit, "".join(kept[value : value + 1])))
            kept[begin : value + 1] = ["-include", header.source] if header else []
    return kept


def _places_of(name: str, words: Sequence[str]) -> tuple[int, int] | None:
    """Places of the first word of an option of cc1, perhaps -Xclang, and of its value, which may be missing."""
    if name not in words:
        return None
    place = words.index(name)
    is_passed_on = place > 0 and words[place - 1] == "-Xclang"
    return place - is_passed_on, place + 1 + is_passed_on


def _absolute(unit: Compile, name: str | None) -> str:
    return os.path.normpath(os.path.join(unit.directory, name or ""))
