"""What a build made: units, links and archives, the inputs of a link, and the programs that were linked."""

from __future__ import annotations

import functools
import hashlib
import os
import pathlib
import re
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from mlgo.corpus.extraction import archive
from mlgo.corpus.extraction.outcome import LeftOut
from mlgo.corpus.options.driver import GivenWord, parse_driver
from mlgo.project.command_line import Archive, Compile, Header, Link, Made
from mlgo.project.compiler import digest_of
from mlgo.project.size import code_bytes, machine_of
from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.run.regular_file import beginning_of, open_regular, read_regular

_NAMED = 6
_QUESTIONS = ("/conftest", "/CompilerId", "/CMakeScratch/", "/CMakeTmp/", "/meson-private/", "/_cgo_.o", "/go-link-")
# Words in folders and names of what a project links to try itself, which users of the project do not install.
_TRIALS = re.compile(
    r"\w*(?<!la)(?<!fas)tests?|testing|testsuite|fuzz(ing|ers?)?|bench(marks?)?|(example|sample|demo)s?|debug"
)
_WRITES_PROFILES = ("-fprofile-generate", "-fprofile-instr-generate", "-fcs-profile-generate", "--coverage")
#: What to do after a build of which no compile was recorded.
UNSEEN = (
    "If it had nothing to do, clean first. Several commands need a shell: mlgo smaller -- sh -c './configure && make'."
    " If its folder was configured with another compiler, configure a new one behind `mlgo smaller --`. Compilers for"
    " other machines (arm-none-eabi-gcc), below Bazel, Nix, tup, sudo or a container, or inside a program such as zig,"
    " are not seen: build without these, or give --compile_commands="
)
# What a build may remove after the link.
_REMOVED = (".o", ".a", ".lo", ".obj")


class Build:
    """Units and links by what they made, of which a later one replaces an earlier; files are read when asked for."""

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
            elif isinstance(one, Header):
                self.headers[one.output] = one
            else:
                self.units.pop(one.output, None)
                self.links.pop(one.output, None)
                if isinstance(one, Compile):
                    self.units[one.output] = one
                else:
                    self.links[one.output] = one
        self._members: dict[str, list[Member]] = {}

    def made_object(self, path: str) -> Compile | Link | None:
        """What made the object at `path`; a unit is also known by the content of its output, which may have moved."""
        path = os.path.normpath(path)
        made = self.units.get(path) or self.links.get(path)
        if made is not None:
            return made
        try:
            return self.made_content(os.path.basename(path), read_regular(path))
        except OSError:
            return None

    def made_content(self, name: str, content: bytes) -> Compile | None:
        """The unit that made an object called `name` with this content.

        That is one whose output has this content and name; else the only one whose output is gone and was called as
        the object but for its suffix (zlib's Makefile moves objs/a.o to a.lo); else one whose output has this content.
        """
        sizes, stems = self._index
        digest = hashlib.sha256(content).hexdigest()
        same = [unit for unit in sizes.get(len(content), ()) if digest_of(unit.output) == digest]
        named = [unit for unit in same if os.path.basename(unit.output) == name]
        gone = [unit for unit in stems.get(_stem(name), ()) if not os.path.exists(unit.output)]
        if not named and len(gone) == 1:
            return gone[0]
        found = named or same
        return found[-1] if found else None

    def members(self, path: str) -> list[Member]:
        """The members of the archive at `path`, read once, or of one that the build removed."""
        path = os.path.normpath(path)
        if path not in self._members:
            if os.path.exists(path):
                read = members_of(pathlib.Path(path))
                found = [Member(name, content, self.made_content(name, content)) for name, content in read]
            else:
                known = self.archives[path]
                found = [Member(os.path.basename(each), each, self.made_object(each)) for each in known]
            self._members[path] = found
        return self._members[path]

    @functools.cached_property
    def _index(self) -> tuple[dict[int, list[Compile]], dict[str, list[Compile]]]:
        """The units by the sizes of their objects, and by the names of them without suffix."""
        sizes: dict[int, list[Compile]] = {}
        stems: dict[str, list[Compile]] = {}
        for unit in self.units.values():
            stems.setdefault(_stem(unit.output), []).append(unit)
            try:
                sizes.setdefault(os.path.getsize(unit.output), []).append(unit)
            except OSError:
                pass
        return sizes, stems


def linked_inputs(link: Link, archives: Collection[str] = ()) -> dict[tuple[int, int], str]:
    """The files of a link: (place of the word, part of a comma list or 0) -> absolute path.

    `-lNAME` is looked for in the folders of -L. Libraries of the system are not among them. Objects and `archives`,
    which the build made, need not be there: some builds remove them after the link.
    """
    found: dict[tuple[int, int], str] = {}
    given = list(parse_driver(link.words))
    folders = _folders(link, given)
    is_static = False
    place = 0
    for one in given:
        if one.name == "-Wl,":
            for part, value in enumerate(one.words[0].split(",")[1:], 1):
                is_static = {"-Bstatic": True, "-Bdynamic": False}.get(value, is_static)
                _add(found, (place, part), link.directory, value)
        elif one.name in ("-static", "-static-pie"):
            is_static = True
        elif one.name == "-l" and one.value:
            library = _library(one.value, folders, is_static, archives)
            if library:
                found[place + len(one.words) - 1, 0] = library
        elif one.name == "":
            _add(found, (place, 0), link.directory, one.words[0])
        place += len(one.words)
    return found


def own_libraries(program: Program, programs: Sequence[Program]) -> list[Program]:
    """The shared libraries among `programs` that a program is linked with."""
    link = program.link
    given = list(parse_driver(link.words))
    folders = _folders(link, given)
    paths = [os.path.join(link.directory, one.words[0]) for one in given if one.name == ""]
    paths += [os.path.join(folder, f"lib{one.value}.so") for one in given if one.name == "-l" for folder in folders]
    linked = set(map(os.path.realpath, paths))
    return [one for one in programs if one is not program and os.path.realpath(one.link.output) in linked]


def _folders(link: Link, given: Iterable[GivenWord]) -> list[str]:
    """Where a link looks for `-lNAME`, before the system's folders."""
    return [os.path.join(link.directory, one.value) for one in given if one.name == "-L" and one.value]


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
                return path if is_archive(path) else None
            if path in archives:
                return path
    return None


def _stem(path: str) -> str:
    return os.path.splitext(os.path.basename(path))[0]


class Member(NamedTuple):
    """A member of an archive."""

    name: str  #: without folders.
    content: bytes | str  #: a path where the build removed the archive.
    made: Compile | Link | None


def is_archive(path: str) -> bool:
    """Whether the file is an archive."""
    try:
        return archive.is_archive(beginning_of(path, len(archive.MAGIC)))
    except OSError:
        return False


def members_of(path: pathlib.Path) -> list[tuple[str, bytes]]:
    """Names and objects in an archive, in its order; fewer where it is cut off or a file of a thin one is gone."""
    found: list[tuple[str, bytes]] = []
    with open_regular(path) as descriptor:
        span = archive.Span(descriptor, 0, os.fstat(descriptor).st_size)
        try:
            is_thin = archive.is_thin(span.head(len(archive.THIN_MAGIC)))
            for member in archive.members(span):
                try:
                    elsewhere = path.parent / member.name
                    content = read_regular(elsewhere) if is_thin else span.read(member.start, member.size)
                except OSError:
                    continue
                found.append((pathlib.PurePosixPath(member.name).name, content))
        except LeftOut:
            pass  # What came before is whole.
    return found


class Program(NamedTuple):
    """A linked file that is there: its link, bytes of code and architecture."""

    link: Link
    code: int
    machine: str


def built_name(program: Program) -> str:
    """File name of a program."""
    return os.path.basename(program.link.output)


def programs_of(build: Build) -> list[Program]:
    """Executables and shared libraries of a build, the largest first; tests, examples and what writes profiles last.

    Where none of them is there, as in a build that renames what it linked, or leaves a script in its place: those with
    most code in their objects.
    """
    links = [one for one in build.links.values() if not any(map(is_question, (one.output, *one.sources)))]
    links = [one for one in links if not {"-r", "--relocatable"} & set(one.words)]
    sizes = [(link, code_bytes(link.output)) for link in links]
    found = [Program(link, code, machine_of(link.output)) for link, code in sizes if code is not None]
    found = found or [_of_objects(link) for link, code in sizes if code is None]
    # The folder of the project itself may be called `test`.
    above = os.path.commonpath([program.link.output for program in found]) if len(found) > 1 else ""

    def rank(program: Program) -> tuple[bool, int, str]:
        link = program.link
        words = re.split(r"[^a-z]+", link.output[len(above) :].lower())
        # Runs of one that writes profiles are for a later compile.
        writes_profiles = any(word.startswith(_WRITES_PROFILES) for word in link.words)
        return writes_profiles or any(map(_TRIALS.fullmatch, words)), -program.code, link.output

    return sorted(found, key=rank)


def _of_objects(link: Link) -> Program:
    """A program that is gone, by what is left of its objects."""
    sizes = {path: code_bytes(path) for path in linked_inputs(link).values()}
    objects = {path: code for path, code in sizes.items() if code is not None}
    return Program(link, sum(objects.values()), machine_of(next(iter(objects))) if objects else "unknown")


def is_question(path: str) -> bool:
    """Whether configure, CMake, meson or Go made the file to ask the compiler something."""
    return any(part in path for part in _QUESTIONS)


def choose(programs: Sequence[Program], wanted: str | None, units: int) -> Program:
    """The program whose path ends with `wanted`, or the first. libx.so stands for libx.so.1.2 too.

    Args: programs: as `programs_of` sorts them. units: number of units that the build compiled, for the message.
    Raises: RunError: there is none, or `wanted` means none or several.
    """
    if not programs:
        wrong, remedy = "compiled nothing that mlgo saw", UNSEEN
        if units:
            wrong = f"compiled {units} {'unit' if units == 1 else 'units'}, and linked no program or shared library"
            remedy = "Build one too; clean first if one was there already"
        raise RunError("the build", wrong, remedy, ExitCode.NOTHING_PRODUCED)
    if wanted is None:
        return programs[0]
    end = os.sep + os.path.normpath(wanted).lstrip(os.sep)
    exact = [one for one in programs if one.link.output.endswith(end)]
    same = exact or [one for one in programs if end.endswith(".so") and f"{end}." in one.link.output]
    if len(same) == 1:
        return same[0]
    shown = ", ".join(one.link.output for one in (same or programs)[:_NAMED])
    wrong = "names several programs" if same else "names no program that the build linked"
    raise RunError(f"--program={wanted}", wrong, f"Choose one of {shown}")
