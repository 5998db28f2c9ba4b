"""What the modules of objects are called: the path of the object as the build states it, as mlgo-utils does it.

mlgo-utils joins that path to the output directory whatever it is. Here a path that is absolute or leads upwards is made
relative to a base directory or refused, and two objects never share a name.
"""

import os
from collections import defaultdict
from collections.abc import Container, Iterable, Sequence

from mlgo.corpus import contained_files
from mlgo.corpus.extraction.inputs import BuildObject
from mlgo.corpus.extraction.outcome import Kind, Omission


def named(objects: Iterable[BuildObject], base: str | None) -> tuple[list[tuple[str, BuildObject]], list[Omission]]:
    """Each object with its module's name, sorted by name, and the objects that cannot have one.

    Args:
      objects: of the build; one that is listed twice counts once.
      base: absolute; names of objects whose stated path leads out of their directory are relative to it. None: such
        objects are left out.
    """
    omissions: list[Omission] = []
    by_name: dict[str, dict[tuple, BuildObject]] = defaultdict(dict)
    for found in objects:
        name = _name(found, base)
        if name is None:
            omissions.append(_outside(found))
        elif (place := (found.path, found.member)) in by_name[name]:
            omissions.append(Omission(name, Kind.LISTED_AGAIN, "the input lists it more than once"))
        else:
            by_name[name][place] = found
    result = []
    for name, namesakes in by_name.items():
        if len(namesakes) == 1:
            result += [(name, found) for found in namesakes.values()]
            continue
        renamed, refused = _told_apart(name, list(namesakes.values()), by_name.keys())
        result += renamed
        omissions += refused
    return sorted(result, key=lambda pair: pair[0]), omissions


def _name(found: BuildObject, base: str | None) -> str | None:
    """The module's name; None: it would lie outside."""
    place = os.path.normpath(os.path.join(found.directory, found.stated))
    candidates = [os.path.normpath(found.stated)]
    candidates += [os.path.relpath(place, directory) for directory in (found.directory, base) if directory is not None]
    for candidate in candidates:
        if _is_inside(candidate + found.member_label):
            return candidate + found.member_label
    return None


def _is_inside(name: str) -> bool:
    return name != "." and contained_files.refusal(name) is None


def _told_apart(
    name: str, namesakes: Sequence[BuildObject], taken: Container[str]
) -> tuple[list[tuple[str, BuildObject]], list[Omission]]:
    """Names for objects that all are `name` below directories of their own: relative to what these have in common."""
    shared = os.path.commonpath([found.directory for found in namesakes])
    result: list[tuple[str, BuildObject]] = []
    omissions: list[Omission] = []
    for found in sorted(namesakes, key=lambda one: (one.path, one.member or (0, 0))):
        folder = os.path.relpath(found.directory, shared)
        longer = name if folder == "." else f"{folder}/{name}"
        if longer in (other for other, _ in result) or (folder != "." and longer in taken):
            omissions.append(Omission(longer, Kind.NAME_TAKEN, "another object has the same path in its own directory"))
        else:
            result.append((longer, found))
    return result, omissions


def _outside(found: BuildObject) -> Omission:
    # The report holds no path of this machine; a name that leads out is shown by its last part.
    return Omission(
        os.path.basename(found.stated) or "?", Kind.NAME_OUTSIDE, "lies outside the directory that names count from"
    )
