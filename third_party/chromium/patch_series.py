"""Reduces patches to the files of a partial tree. Pure functions on text.

Debian's patches change all of Chromium; a partial tree has only some of their files. Parts for absent files are removed
before `patch` runs, so that a remaining part that does not apply is an error.
"""

import dataclasses
import re
from typing import Callable, List, Optional, Tuple

_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_ABSENT = "/dev/null"


class PatchError(Exception):
    """A patch that cannot be read or applied; names the patch and the file in it."""


@dataclasses.dataclass(frozen=True)
class FilePart:
    """What a patch does to one file.

    Attributes:
        path: the file, below the tree.
        makes: the file is new.
        text: the part of the patch, with its two lines of names.
    """

    path: str
    makes: bool
    text: str


@dataclasses.dataclass(frozen=True)
class Cut:
    """A patch cut down to a tree.

    Attributes:
        text: what is left, to be applied with `patch -p1`; empty when nothing is.
        files: paths that are changed.
        left_out: paths that the tree does not have.
    """

    text: str
    files: Tuple[str, ...]
    left_out: Tuple[str, ...]


def active(series: str) -> List[str]:
    """The patches that a quilt `series` file names, in order; comments, empty lines and options (-p1) are no names."""
    words = (line.split("#", 1)[0].split() for line in series.splitlines())
    return [line[0] for line in words if line]


def file_parts(patch: str, origin: str) -> List[FilePart]:
    """Splits a unified diff in -p1 form by file. Text between the files (mail headers, `diff`, `index`) is dropped.

    Hunks are followed by their line counts: a removed line may look like a file's name.

    Raises:
        PatchError: no file is in it, a hunk is cut off, or a path leaves the tree.
    """
    lines = patch.splitlines(keepends=True)
    parts: List[FilePart] = []
    place = 0
    while place < len(lines):
        if not (
            lines[place].startswith("--- ")
            and place + 2 < len(lines)
            and lines[place + 1].startswith("+++ ")
            and _HUNK.match(lines[place + 2])
        ):
            place += 1
            continue
        old, new = _path(lines[place], origin), _path(lines[place + 1], origin)
        end = _end_of_hunks(lines, place + 2, origin)
        path = new or old
        if path is None:
            raise PatchError(f"{origin}: a part neither has an old nor a new file; mend the patch")
        parts.append(FilePart(path, old is None or _makes(lines[place + 2]), "".join(lines[place:end])))
        place = end
    if not parts:
        raise PatchError(f"{origin}: is no unified diff, for no file is named in it; fetch it again")
    return parts


def cut_to(patch: str, origin: str, has: Callable[[str], bool], wants: Callable[[str], bool]) -> Cut:
    """The parts of `patch` for files of a tree.

    Args:
        has: whether the tree has a file.
        wants: whether a new file of this path belongs into the tree.
    """
    parts = file_parts(patch, origin)
    kept = [part for part in parts if (wants if part.makes else has)(part.path) or has(part.path)]
    # A later part may change what an earlier one of the same patch makes.
    made = {part.path for part in kept if part.makes}
    kept = [part for part in parts if part in kept or part.path in made]
    return Cut(
        "".join(part.text for part in kept),
        tuple(part.path for part in kept),
        tuple(part.path for part in parts if part not in kept),
    )


def _path(line: str, origin: str) -> Optional[str]:
    """The path of a `---` or `+++` line without its first folder; None for /dev/null."""
    name = line[4:].rstrip("\n").split("\t")[0]
    # diff without a tab after the name: a date follows a blank.
    name = re.sub(r" +\d{4}-\d\d-\d\d \d\d:.*$", "", name).strip()
    if name == _ABSENT:
        return None
    path = name.split("/", 1)[-1]
    if path.startswith("/") or ".." in path.split("/") or "/" not in name:
        raise PatchError(f"{origin}: path {name!r} leaves the tree; do not use this patch")
    return path


def _makes(hunk: str) -> bool:
    """Whether a first hunk begins with nothing, which `diff -N` writes for a new file."""
    return hunk.startswith("@@ -0,0 ")


def _end_of_hunks(lines: List[str], place: int, origin: str) -> int:
    while place < len(lines):
        match = _HUNK.match(lines[place])
        if not match:
            break
        old, new = (1 if count is None else int(count) for count in match.groups())
        place += 1
        while old > 0 or new > 0:
            if place >= len(lines):
                raise PatchError(f"{origin}: ends within a hunk; fetch it again")
            mark = lines[place][:1]
            old -= mark in (" ", "-", "\n")
            new -= mark in (" ", "+", "\n")
            if mark not in (" ", "-", "+", "\n", "\\"):
                raise PatchError(f"{origin}: line {place + 1} belongs to no hunk; fetch it again")
            place += 1
        if place < len(lines) and lines[place].startswith("\\"):
            place += 1
    return place
