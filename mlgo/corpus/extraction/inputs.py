"""The objects of a build, as each kind of input names them: a folder, a compile_commands.json, a linker's parameters.

Archives among them are replaced by their members. Modules are named after their objects, by the path that the build
states, as mlgo-utils does it. mlgo-utils joins that path to the output directory whatever it is; here a path that is
absolute or leads upwards is made relative to a base directory or refused, and two objects never share a name.
"""

import dataclasses
import os
import pathlib
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from mlgo.corpus import contained_files
from mlgo.corpus.extraction import archive, object_file, quoting
from mlgo.corpus.extraction.outcome import Kind, LeftOut, Omission
from mlgo.corpus.extraction.quoting import read_entry
from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.run.files import parse_json
from mlgo.run.regular_file import read_regular

# compile_commands.json of LLVM and clang has 5 MB; aquery's answer about all of a large workspace is the largest input.
_MAX_INPUT_BYTES = 2 * 1024**3

_OBJECT_SUFFIXES = (".o", ".obj")
#: What lld writes for `--save-temps=import`, and `--thinlto-emit-index-files` (lld/ELF/LTO.cpp, llvm/lib/LTO/LTO.cpp).
IMPORTED_SUFFIX = ".3.import.bc"
INDEX_SUFFIX = ".thinlto.bc"
#: https://clang.llvm.org/docs/JSONCompilationDatabase.html
_DATABASE = "a compile_commands.json (cmake -DCMAKE_EXPORT_COMPILE_COMMANDS=ON, ninja -t compdb, Bear)"
_PARAMETERS = "a linker parameter file: the words of a link command, or one object per line"
_QUOTING = re.compile(r"[\s\"'\\]")
_MARK = re.compile(r"\\.?|[\"']", re.DOTALL)
_ARCHIVE_SUFFIXES = (".a", ".lib", ".lo")
# As lld and clang's driver have it (lld/ELF/Options.td). Of lld's other options, none that begins so names a file.
_OUTPUTS = frozenset(("-o", "-output", "--output"))
_JOINED_OUTPUT = re.compile(r"--?output=|-o(?!mtargetos|bject|pt-remarks|format|utput)")


@dataclasses.dataclass(frozen=True)
class BuildObject:
    """An object file, or one member of an archive."""

    #: Its name, or its archive's, in the input; the module's name is derived from it.
    stated: str
    #: Its absolute path, or its archive's.
    path: str
    #: The compiler's working directory (absolute): relative paths in the recorded command are relative to it.
    directory: str
    #: The source it was compiled from (absolute), where the input names it.
    source: str | None = None
    #: Offset and size of the member's content; None: the file is the object.
    member: tuple[int, int] | None = None
    #: Ending of the name of a member's module: "(dfa.o)".
    member_label: str = ""


@dataclasses.dataclass(frozen=True)
class Listing:
    """The objects an input names, in its order, and its entries that give none."""

    objects: tuple[BuildObject, ...]
    omissions: tuple[Omission, ...] = ()


def read_text(path: pathlib.Path, what: str) -> str:
    """The input file; bytes that are not UTF-8 survive as `os.fsdecode` has them. Raises: RunError."""
    try:
        return read_regular(path, _MAX_INPUT_BYTES).decode("utf-8", "surrogateescape")
    except OSError as error:
        raise RunError(f"--input={path}", f"cannot be read: {error.strerror}", f"give {what}") from error


def read_json(path: pathlib.Path, what: str) -> Any:
    """The input file as JSON. Raises: RunError: it is none."""
    return parse_json(read_text(path, what), f"--input={path}", f"give {what}")


def absolute(directory: str, path: str) -> str:
    """`path`, relative to `directory`, without `.` and `..`, links not followed."""
    return os.path.normpath(os.path.join(directory, path))


def from_directory(directory: str) -> Listing:
    """Every object file below `directory`, sorted. Raises: RunError: it is no directory."""
    return _listing(directory, [name for name in _files(directory) if name.endswith(_OBJECT_SUFFIXES)])


def from_local_thinlto(directory: str) -> Listing:
    """Every module that lld saved after importing; `stated` and `path` are without lld's suffix.
    Raises: RunError: there is none, or it is no directory."""
    names = [name.removesuffix(IMPORTED_SUFFIX) for name in _files(directory) if name.endswith(IMPORTED_SUFFIX)]
    found = [name for name in names if name and not name.endswith("/")]
    if not found:
        wrong = f"has no *{IMPORTED_SUFFIX} below it, which ThinLTO within lld saves"
        flags = "-flto=thin -fuse-ld=lld -Wl,--save-temps=import -Wl,--thinlto-emit-index-files"
        remedy = f"Link with {flags}; full LTO (-flto) saves none"
        raise RunError(f"directory {directory}", wrong, remedy, ExitCode.NOTHING_PRODUCED)
    return _listing(directory, found)


def _listing(directory: str, names: list[str]) -> Listing:
    return Listing(tuple(BuildObject(name, os.path.join(directory, name), directory) for name in sorted(names)))


def _files(directory: str) -> list[str]:
    if not os.path.isdir(directory):
        wrong = "is not a directory"
        raise RunError(f"directory {directory}", wrong, "give the folder that the build wrote its objects to")
    found = []
    for folder, _, names in os.walk(directory):
        relative = os.path.relpath(folder, directory)
        found += [name if relative == "." else f"{relative}/{name}" for name in names]
    return found


def from_compile_commands(path: pathlib.Path) -> Listing:
    """The objects of the database at `path`. Raises: RunError: it is no list of entries."""
    entries = read_json(path, _DATABASE)
    if not isinstance(entries, list):
        wrong = "is not a list of compile commands"
        raise RunError(f"--input={path}", wrong, f"give {_DATABASE}, or another --input_type")
    return objects_of_database(entries, os.path.dirname(os.path.abspath(path)))


def objects_of_database(entries: Sequence[Any], base: str, reader: Callable = quoting.response_file_reader) -> Listing:
    """The objects that the commands make. Args: base, reader: see `quoting.read_entry`."""
    objects, omissions = [], []
    for index, entry in enumerate(entries):
        found = read_entry(entry, base, reader)
        if isinstance(found, str):
            omissions.append(Omission(f"entry {index}", Kind.NO_OBJECT, found))
        elif found.output is None:
            omissions.append(Omission(f"entry {index}", Kind.NO_OBJECT, "its command writes no object file"))
        else:
            path = absolute(found.directory, found.output)
            objects.append(BuildObject(found.output, path, found.directory, found.source))
    return Listing(tuple(objects), tuple(omissions))


def from_linker_params(path: pathlib.Path, base: str) -> Listing:
    """The objects and archives in the file at `path`, relative to `base`. Raises: RunError: it cannot be read."""
    words = words_of(read_text(path, _PARAMETERS), lambda word: os.path.exists(absolute(base, word)))
    return objects_of_link(quoting.expand_response_files(words, quoting.response_file_reader(base)), base)


def words_of(text: str, exists: Callable[[str], bool]) -> list[str]:
    """The words of a parameter file. Linkers split at blanks and handle quotes; for mlgo-utils every line is one word.
    Therefore a line that is the name of an existing file with blanks or quotes is one word."""
    words: list[str] = []
    pending: list[str] = []
    quote = ""
    for line in text.split("\n"):
        whole = line.strip()
        if not pending and _QUOTING.search(whole) and not whole.startswith(("-", '"')) and exists(whole):
            words.append(whole)
            continue
        pending.append(line)
        quote, escaped = _state_after(line, quote)
        if not quote and not escaped:
            words += quoting.split_response("\n".join(pending))
            pending.clear()
    return words + quoting.split_response("\n".join(pending))


def objects_of_link(words: Sequence[str] | Iterator[str], base: str) -> Listing:
    """The objects that `words` link, as mlgo-utils has it: with `-o`, what ends like an object; without, everything.
    Archives are added, their members are objects too. Flags and what follows `-o` are left out."""
    words = list(words)
    pairs = zip(["", *words], words)
    files = [word for before, word in pairs if not word.startswith(("-", "@")) and before not in _OUTPUTS]
    if any(word in _OUTPUTS or _JOINED_OUTPUT.match(word) for word in words):
        files = [word for word in files if word.endswith(_OBJECT_SUFFIXES + _ARCHIVE_SUFFIXES)]
    return Listing(tuple(BuildObject(word, absolute(base, word), base) for word in files if word))


def _state_after(line: str, quote: str) -> tuple[str, bool]:
    """The open quote after `line`, which began inside `quote` ("": none), and whether the line ends with an escape."""
    for found in _MARK.finditer(line):
        if found[0] == "\\":  # With nothing behind it.
            return quote, True
        if found[0] == quote:
            quote = ""
        elif not quote and not found[0].startswith("\\"):
            quote = found[0]
    return quote, False


def with_members(listing: Listing) -> Listing:
    """`listing` with the members of an archive where the archive was; one that cannot be read is an omission."""
    objects: list[BuildObject] = []
    omissions = list(listing.omissions)
    for found in listing.objects:
        if not found.stated.endswith(_ARCHIVE_SUFFIXES):
            objects.append(found)
            continue
        try:
            objects += _members(found)
        except LeftOut as error:
            omissions.append(Omission(found.stated, error.kind, error.reason))
    return Listing(tuple(objects), tuple(omissions))


def _members(found: BuildObject) -> Sequence[BuildObject]:
    with object_file.opened(found.path) as span:
        head = span.head(len(archive.MAGIC))
        if not archive.is_archive(head):
            return [found]  # libtool's `libx.lo`, or a linker script `libx.a`: reading it gives the reason.
        members = list(archive.members(span))
    if archive.is_thin(head):
        folder, stated_folder = os.path.dirname(found.path), os.path.dirname(found.stated)
        places = ((os.path.join(stated_folder, one.name), absolute(folder, one.name)) for one in members)
        return [BuildObject(stated, path, found.directory) for stated, path in places]
    times = Counter(one.name for one in members)
    # As lld names them, but the offset, which depends on other members, only for members of one name.
    labels = [f"({one.name} at {one.header})" if times[one.name] > 1 else f"({one.name})" for one in members]
    return [
        dataclasses.replace(found, member=(one.start, one.size), member_label=label)
        for one, label in zip(members, labels)
    ]


def named(objects: Iterable[BuildObject], base: str | None) -> tuple[list[tuple[str, BuildObject]], list[Omission]]:
    """Each object with its module's name, sorted by name, and the objects that cannot have one.

    One that is listed twice counts once. Names of objects whose stated path leads out of their directory are relative
    to `base`, an absolute path; None: such objects are left out.
    """
    omissions: list[Omission] = []
    by_name: dict[str, dict[tuple, BuildObject]] = defaultdict(dict)
    for found in objects:
        name = _name(found, base)
        if name is None:
            # The report holds no path of this machine; a name that leads out is shown by its last part.
            shown, reason = os.path.basename(found.stated) or "?", "lies outside the directory that names count from"
            omissions.append(Omission(shown, Kind.NAME_OUTSIDE, reason))
        elif (place := (found.path, found.member)) in by_name[name]:
            omissions.append(Omission(name, Kind.LISTED_AGAIN, "the input lists it more than once"))
        else:
            by_name[name][place] = found
    result: dict[str, BuildObject] = {}
    for name, namesakes in by_name.items():
        # Objects of one name below directories of their own are named relative to what these have in common.
        shared = os.path.commonpath([found.directory for found in namesakes.values()])
        for found in sorted(namesakes.values(), key=lambda one: (one.path, one.member or (0, 0))):
            folder = os.path.relpath(found.directory, shared)
            longer = name if folder == "." else f"{folder}/{name}"
            if longer in result or (folder != "." and longer in by_name):
                reason = "another object has the same path in its own directory"
                omissions.append(Omission(longer, Kind.NAME_TAKEN, reason))
            else:
                result[longer] = found
    return sorted(result.items()), omissions


def _name(found: BuildObject, base: str | None) -> str | None:
    """The module's name; None: it would lie outside."""
    place = os.path.normpath(os.path.join(found.directory, found.stated))
    candidates = [os.path.normpath(found.stated)]
    candidates += [os.path.relpath(place, directory) for directory in (found.directory, base) if directory is not None]
    names = (candidate + found.member_label for candidate in candidates)
    return next((name for name in names if name != "." and contained_files.refusal(name) is None), None)
