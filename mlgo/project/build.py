"""What a build made: units, links and archives, and which units a program consists of."""

from __future__ import annotations

import hashlib
import os
import pathlib
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from mlgo.corpus.extraction import archive
from mlgo.corpus.extraction.outcome import LeftOut
from mlgo.corpus.options.driver import GivenWord, parse_driver
from mlgo.project.command_line import Archive, Compile, Header, Link, Made

_READ_BYTES = 1 << 20
# What a build may remove after the link.
_REMOVED = (".o", ".a", ".lo", ".obj")


class Build:
    """Units and links by what they made; files are read when they are asked for.

    Args: commands: in the order of their ends. A later one replaces an earlier one of the same output.
    """

    def __init__(self, commands: Iterable[Made]):
        self.units: dict[str, Compile] = {}
        self.links: dict[str, Link] = {}
        self.headers: dict[str, Header] = {}
        #: Archive -> the objects that commands put into it.
        self.archives: dict[str, list[str]] = {}
        for one in commands:
            if isinstance(one, Archive):
                known = self.archives.setdefault(one.output, [])
                known += [member for member in one.members if member not in known]
                continue
            if isinstance(one, Header):
                self.headers[one.output] = one
                continue
            self.units.pop(one.output, None)
            self.links.pop(one.output, None)
            if isinstance(one, Compile):
                self.units[one.output] = one
            else:
                self.links[one.output] = one
        self._sizes: dict[int, list[Compile]] | None = None
        self._stems: dict[str, list[Compile]] = {}
        self._members: dict[str, list[Member]] = {}

    def made_object(self, path: str) -> Compile | Link | None:
        """What made the object at `path`; a unit is also known by the content of its output, which may have moved."""
        path = os.path.normpath(path)
        if path in self.units:
            return self.units[path]
        if path in self.links:
            return self.links[path]
        try:
            content = pathlib.Path(path).read_bytes()
        except OSError:
            return None
        return self.made_content(os.path.basename(path), content)

    def made_content(self, name: str, content: bytes) -> Compile | None:
        """The unit that made an object called `name` with this content.

        That is one whose output has this content and name; else the only one whose output is gone and was called as
        the object but for its suffix (zlib's Makefile moves objs/a.o to a.lo); else one whose output has this content.
        """
        if self._sizes is None:
            self._index()
        assert self._sizes is not None
        same = [
            unit
            for unit in self._sizes.get(len(content), ())
            if _digest(unit.output) == hashlib.sha256(content).hexdigest()
        ]
        named = [unit for unit in same if os.path.basename(unit.output) == name]
        gone = [unit for unit in self._stems.get(_stem(name), ()) if not os.path.exists(unit.output)]
        if not named and len(gone) == 1:
            return gone[0]
        found = named or same
        return found[-1] if found else None

    def members(self, path: str) -> list[Member]:
        """The members of the archive at `path`, read once."""
        path = os.path.normpath(path)
        if path not in self._members:
            self._members[path] = members_of(pathlib.Path(path))
        return self._members[path]

    def _index(self) -> None:
        self._sizes = {}
        for unit in self.units.values():
            self._stems.setdefault(_stem(unit.output), []).append(unit)
            try:
                self._sizes.setdefault(os.path.getsize(unit.output), []).append(unit)
            except OSError:
                pass


def linked_inputs(link: Link, archives: Collection[str] = ()) -> dict[tuple[int, int], str]:
    """The files of a link: (place of the word, part of a comma list or 0) -> absolute path.

    `-lNAME` is looked for in the folders of -L. Libraries of the system are not among them. Objects and archives need
    not be there: some builds remove them after the link.

    Args: archives: absolute paths of those that the build made.
    """
    found: dict[tuple[int, int], str] = {}
    folders: list[str] = []
    given = list(_placed(link.words))
    for _, one in given:
        if one.name == "-L" and one.value:
            folders.append(os.path.join(link.directory, one.value))
    is_static = False
    for place, one in given:
        if one.name == "-Wl,":
            for part, value in enumerate(one.words[0].split(",")[1:]):
                is_static = {"-Bstatic": True, "-Bdynamic": False}.get(value, is_static)
                _add(found, (place, part + 1), link.directory, value)
        elif one.name in ("-static", "-static-pie"):
            is_static = True
        elif one.name == "-l" and one.value:
            library = _library(one.value, folders, is_static, archives)
            if library:
                found[place + len(one.words) - 1, 0] = library
        elif one.name == "":
            _add(found, (place, 0), link.directory, one.words[0])
    return found


def _placed(words: tuple[str, ...]) -> Iterator[tuple[int, GivenWord]]:
    place = 0
    for one in parse_driver(words):
        yield place, one
        place += len(one.words)


def _add(found: dict[tuple[int, int], str], place: tuple[int, int], directory: str, word: str) -> None:
    path = os.path.normpath(os.path.join(directory, word))
    if not word.startswith("-") and (os.path.isfile(path) or path.endswith(_REMOVED)):
        found[place] = path


def _library(name: str, folders: list[str], is_static: bool, archives: Collection[str]) -> str | None:
    """The archive that -lNAME stands for; None: it is a shared library, or none of the folders has it."""
    for folder in folders:
        if name.startswith(":"):
            names = [name[1:]]
        else:
            names = [f"lib{name}.a"] if is_static else [f"lib{name}.so", f"lib{name}.a"]
        for file in names:
            path = os.path.normpath(os.path.join(folder, file))
            if os.path.isfile(path):
                return path if is_archive(pathlib.Path(path)) else None
            if path in archives:
                return path
    return None


def _stem(path: str) -> str:
    return os.path.splitext(os.path.basename(path))[0]


def _digest(path: str) -> str | None:
    digest = hashlib.sha256()
    try:
        with open(path, "rb") as file:
            while part := file.read(_READ_BYTES):
                digest.update(part)
    except OSError:
        return None
    return digest.hexdigest()


class Member(NamedTuple):
    """A member: its name without folders, and its content."""

    name: str
    content: bytes


def is_archive(path: pathlib.Path) -> bool:
    """Whether the file is an archive."""
    try:
        with open(path, "rb") as file:
            return archive.is_archive(file.read(len(archive.MAGIC)))
    except OSError:
        return False


def members_of(path: pathlib.Path) -> list[Member]:
    """The objects in an archive, in its order; fewer where it is cut off or a file of a thin one is gone."""
    found: list[Member] = []
    with open(path, "rb") as file:
        span = archive.Span(file.fileno(), 0, path.stat().st_size)
        try:
            is_thin = archive.is_thin(span.head(len(archive.THIN_MAGIC)))
            for member in archive.members(span):
                try:
                    elsewhere = path.parent / member.name
                    content = elsewhere.read_bytes() if is_thin else span.read(member.start, member.size)
                except OSError:
                    continue
                found.append(Member(pathlib.PurePosixPath(member.name).name, content))
        except LeftOut:
            pass  # What came before is whole.
    return found
