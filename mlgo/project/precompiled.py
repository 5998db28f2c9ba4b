"""Precompiled headers are read as text, since clang refuses one that was compiled at another level."""

from __future__ import annotations

import os
from collections.abc import Mapping

from mlgo.corpus.options.driver import parse_driver
from mlgo.project.command_line import Compile

_SUFFIXES = (".gch", ".pch")


def reads_precompiled_header(unit: Compile) -> bool:
    """Whether a unit of the build has read a header that was compiled before."""
    return "-include-pch" in unit.words or any(
        _compiled(unit, given.value) for given in parse_driver(unit.words) if given.name == "-include"
    )


def words_with_text(unit: Compile, headers: Mapping[str, str]) -> tuple[str, ...]:
    """The words of a unit so that it reads headers as text.

    CMake also includes the header's text, which stays; what it compiles before is an empty source. meson names the
    compiled header alone, and qmake one that has no text beside it. Where `-include` would find a compiled header
    beside the text, cc1 is told of the text, because the driver takes the other one.

    Args: headers: compiled header of the build -> its text, absolute paths.
    """
    kept: list[str] = []
    for given in parse_driver(_without_option(unit, headers)):
        compiled = _compiled(unit, given.value) if given.name == "-include" else None
        if compiled is None:
            kept += given.words
        elif os.path.exists(_absolute(unit, given.value)):
            kept += ["-Xclang", "-include", "-Xclang", given.value or ""]
        else:
            kept += ["-include", headers.get(compiled, given.value or "")]
    return tuple(kept)


def _compiled(unit: Compile, name: str | None) -> str | None:
    """The compiled header that -include finds in the place of the text `name`; None: there is none."""
    paths = (_absolute(unit, name) + suffix for suffix in _SUFFIXES)
    return next((path for path in paths if os.path.exists(path)), None)


def _without_option(unit: Compile, headers: Mapping[str, str]) -> list[str]:
    """The words with the text of what -include-pch names."""
    kept = list(unit.words)
    for name in ("-include-pch", "-emit-pch"):
        while name in kept:
            place = kept.index(name)
            is_passed_on = kept[place - 1 : place] == ["-Xclang"]
            value = place + (2 if is_passed_on else 1)
            text = headers.get(_absolute(unit, "".join(kept[value : value + 1])))
            kept[place - is_passed_on : value + 1] = ["-include", text] if text else []
    return kept


def _absolute(unit: Compile, name: str | None) -> str:
    return os.path.normpath(os.path.join(unit.directory, name or ""))
