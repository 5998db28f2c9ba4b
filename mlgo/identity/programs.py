"""A program with the shared libraries that it loads: a clang that links LLVM dynamically is a small file.

The C library is not part of it: it belongs to the machine, as the kernel does.
"""

import dataclasses
import functools
import os
import pathlib
import re
import shlex
import struct
from collections.abc import Iterable

from mlgo.corpus.elf import DT_NEEDED, DT_RPATH, DT_RUNPATH, ElfError, ElfFile
from mlgo.corpus.options.driver import named_files
from mlgo.run import child
from mlgo.run.exit_codes import RunError
from mlgo.run.manifest import digest_of_file, digest_of_json

#: glibc's libraries and loader, and musl's (https://sourceware.org/glibc/wiki/Release).
_C_LIBRARY = re.compile(
    r"(ld-linux.*|ld64?|ld-musl-.*|lib(c|m|mvec|dl|pthread|rt|util|resolv|nsl|anl|nss_.*|BrokenLocale|c\.musl-.*))"
    r"\.so(\..*)?"
)
_CACHE = pathlib.Path("/etc/ld.so.cache")
_CACHE_MAGIC = b"glibc-ld.so.cache1.1"
_CACHE_HEADER, _CACHE_ENTRY = struct.Struct("=20sII20x"), struct.Struct("=iIIIQ")
_DEFAULT_FOLDERS = ("/lib", "/usr/lib", "/lib64", "/usr/lib64", "/usr/local/lib")
#: An absolute path in a script.
_PATH = re.compile(r"/[^\s\"'`;:|&()<>$=\\]+")
_MOST_SCRIPT_BYTES = 1 << 20
_SECONDS = 60


def compiler_identity(clang: pathlib.Path) -> str:
    """Digest of a compiler's file, of its libraries and of what a wrapper starts. Raises: RunError: unreadable."""
    return _identity(clang, _started_by(clang))


def program_identity(path: pathlib.Path) -> str:
    """The same for another program or library, such as a linker or a plugin."""
    return _identity(path, [])


def shared_libraries(path: pathlib.Path) -> list[pathlib.Path]:
    """The shared libraries that a program loads, but the C library; none of a script. Raises: OSError: unreadable."""
    return loaded_files([path])[1:] if _kind(path) is not None else []


def flags_identity(flags: Iterable[str], folder: pathlib.Path | None = None) -> list[str]:
    """Identities of the files that compiler flags name: plugins, profiles, decisions. Raises: RunError: unreadable.

    Args: folder: what relative names are relative to; None: they name no files.
    """
    return [program_identity(path) for path in named_files(flags, folder)]


def _identity(path: pathlib.Path, more: Iterable[pathlib.Path]) -> str:
    try:
        own = digest_of_file(path)
        others = [[each.name, digest_of_file(each)] for each in loaded_files([path, *more])[1:]]
    except OSError as error:
        raise RunError(f"{path}", f"cannot be read: {error.strerror}", "Give a file that can be read") from error
    others = sorted(other for other in others if other[1] != own)
    return digest_of_json([own, *others]) if others else own


def loaded_files(programs: Iterable[pathlib.Path]) -> list[pathlib.Path]:
    """`programs`, every shared library that they load but the C library, and programs that scripts among them name.

    Libraries are searched in the loader's order (ld.so(8)). LD_LIBRARY_PATH and folders that a script names are added:
    whether a compile has them is not known here, and a library too many costs a repeated compile at most.
    """
    pending = [path.resolve() for path in programs]
    found: dict[pathlib.Path, None] = {}
    searched: set[str] = set()
    of_ancestors: list[str] = []
    of_environment = [folder for folder in os.environ.get("LD_LIBRARY_PATH", "").split(":") if folder]
    while pending:
        path = pending.pop(0)
        if path in found:
            continue
        found[path] = None
        try:
            program = _Program.read(path)
        except ElfError:
            paths = [pathlib.Path(word) for word in _PATH.findall(_script(path))]
            of_environment += [str(each) for each in paths if each.is_dir()]
            pending += [each.resolve() for each in paths if each.is_file() and os.access(each, os.X_OK)]
            continue
        of_ancestors += program.inherited
        order = [*([] if program.own else [of_ancestors]), program.own, None, list(_DEFAULT_FOLDERS)]
        for name in program.needed:
            # A library that another one needs too is loaded once.
            if name not in searched and not _C_LIBRARY.fullmatch(os.path.basename(name)):
                searched.add(name)
                pending += _places_of(name, [of_environment], program.kind)
                pending += _places_of(name, order, program.kind)
    return list(found)


def _started_by(clang: pathlib.Path) -> list[pathlib.Path]:
    """The program that compiles when `clang` is called: itself, or what a wrapper or ccache starts in its place; and
    files that are named in flags which a wrapper adds."""
    words = [str(clang), "-###", "-c", "-x", "c", os.devnull, "-o", os.devnull]
    try:
        said = child.run(words, pathlib.Path("/"), _SECONDS, environment={"PATH": os.environ.get("PATH", os.defpath)})
        lines = [line for line in said.messages.splitlines() if re.match(r'\s*"[^"]+" "-cc1"', line)]
        commands = list(map(shlex.split, lines))
    except (child.NotRun, ValueError):  # It does not run, or does not say what it would do as clang does.
        return []
    return [path for words in commands for path in named_files(words)]


@dataclasses.dataclass(frozen=True)
class _Program:
    """An ELF program or library."""

    kind: tuple[int, int]  #: class and machine; a program loads libraries of its own.
    needed: list[str]
    inherited: list[str]  #: folders of its RPATH, where its libraries search too.
    own: list[str]  #: folders of its RUNPATH.

    @classmethod
    def read(cls, path: pathlib.Path) -> "_Program":
        """Raises: ElfError: it is no ELF file."""
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size

            def read(offset: int, count: int) -> bytes:
                if offset + count > size:
                    raise ElfError("is cut off")
                return os.pread(file.fileno(), count, offset)

            elf = ElfFile(read)

            def folders(tag: int) -> list[str]:
                names = [folder for text in elf.dynamic_strings(tag) for folder in text.split(":") if folder]
                return [re.sub(r"\$ORIGIN\b|\$\{ORIGIN\}", lambda _: str(path.parent), folder) for folder in names]

            kind = (elf.header[0][4], elf.header[2])
            return cls(kind, elf.dynamic_strings(DT_NEEDED), folders(DT_RPATH), folders(DT_RUNPATH))


def _places_of(name: str, order: Iterable[list[str] | None], kind: tuple[int, int]) -> list[pathlib.Path]:
    """The files that may be the library `name`, from the first place in `order` (None: the loader's cache) with it."""
    if "/" in name:
        return [path.resolve() for path in [pathlib.Path(name)] if _kind(path) == kind]
    for folders in order:
        places = [_cached(_CACHE).get(name, [])] if folders is None else []
        for folder in map(pathlib.Path, folders or ()):
            # Which of the variants for processors is taken, the processor decides.
            places.append([*sorted(folder.glob(f"glibc-hwcaps/*/{name}")), folder / name])
        for place in places:
            if found := [path.resolve() for path in place if _kind(path) == kind]:
                return found
    return []


def _kind(path: pathlib.Path) -> tuple[int, int] | None:
    try:
        return _Program.read(path).kind
    except (ElfError, OSError):
        return None


@functools.cache
def _cached(cache: pathlib.Path) -> dict[str, list[pathlib.Path]]:
    """Name of a library -> its files, as ldconfig(8) found them; empty where there is no such cache."""
    try:
        content = cache.read_bytes()
        content = content[content.index(_CACHE_MAGIC) :]
        _, count, _ = _CACHE_HEADER.unpack_from(content)
        found: dict[str, list[pathlib.Path]] = {}
        for index in range(count):
            _, key, value, _, _ = _CACHE_ENTRY.unpack_from(content, _CACHE_HEADER.size + index * _CACHE_ENTRY.size)
            name, path = (os.fsdecode(content[place : content.index(b"\0", place)]) for place in (key, value))
            found.setdefault(name, []).append(pathlib.Path(path))
        return found
    except (OSError, ValueError, struct.error):
        return {}


def _script(path: pathlib.Path) -> str:
    """The text of a script without its first line, which names the interpreter."""
    with open(path, "rb") as file:
        content = file.read(_MOST_SCRIPT_BYTES)
    return "" if b"\0" in content else content.partition(b"\n")[2].decode("utf-8", "replace")
