"""Reads the bitcode and the command that clang embedded in an object file (`-Xclang -fembed-bitcode=all`).

ELF is read here: an llvm-objcopy per section would take tens of milliseconds, mostly to load LLVM's library, and two
sections need a few reads. Of other formats, the user's llvm-objcopy reads them.
"""

import contextlib
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Collection, Iterator

from mlgo.corpus import bitcode, elf
from mlgo.corpus.extraction import archive
from mlgo.corpus.extraction.archive import Span
from mlgo.corpus.extraction.outcome import Kind, LeftOut
from mlgo.run import signals
from mlgo.run.exit_codes import RunError
from mlgo.run.regular_file import open_regular

_WEB_ASSEMBLY = b"\0asm"
# Bitcode in the place of an object is read to its end, which takes seconds, to name its kind; larger is ThinLTO.
_MOST_BYTES = 16 << 20

# Far longer than any object needs; stops a tool that hangs.
_TIMEOUT_SECONDS = 600


@dataclasses.dataclass(frozen=True)
class SectionNames:
    """The sections that clang writes (llvm/lib/Bitcode/Writer/BitcodeWriter.cpp, embedBitcodeInModule)."""

    bitcode: str = ".llvmbc"
    command: str = ".llvmcmd"


DEFAULT_NAMES = SectionNames()


@dataclasses.dataclass(frozen=True)
class Embedded:
    """Contents of the two sections, not interpreted; None: the object has no such section."""

    bitcode: bytes | None
    command: bytes | None


#: Reads the embedded sections: (content of the object, path of the file that is it; None: it is a member) -> them.
SectionReader = Callable[[Span, str | None], Embedded]


@contextlib.contextmanager
def opened(path: str) -> Iterator[Span]:
    """The file at `path`. Raises: LeftOut: it does not exist, or is no file that can be read."""
    try:
        with open_regular(path) as descriptor:
            yield Span(descriptor, 0, os.fstat(descriptor).st_size)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise LeftOut(Kind.MISSING_OBJECT, "does not exist") from error
    except OSError as error:
        raise LeftOut(Kind.UNREADABLE_OBJECT, f"cannot be read: {error.strerror}") from error


def embedded(span: Span, names: SectionNames = DEFAULT_NAMES) -> Embedded:
    """What `span`, an ELF object, has embedded. Raises: LeftOut: it is none, or a broken one."""
    head = span.head(32)
    if not head.startswith(elf.MAGIC):
        raise _no_object(span, head)
    try:
        file = elf.ElfFile(span.read)
        if file.kind in (elf.ET_EXEC, elf.ET_DYN):
            reason = "is a linked program or library: its modules are in the objects it was linked from"
            raise LeftOut(Kind.NO_OBJECT, reason)
        wanted = _offsets(file.section_names(), {names.bitcode, names.command})
        found: dict[str, bytes] = {}  # The first of each name.
        for section in file.sections:
            name = wanted.get(section.name)
            if name is not None and name not in found:
                if section.flags & elf.SHF_COMPRESSED:
                    raise LeftOut(Kind.UNREADABLE_OBJECT, f"has a compressed section {name}")
                found[name] = file.content(section)
        return Embedded(found.get(names.bitcode), found.get(names.command))
    except elf.ElfError as error:
        raise LeftOut(Kind.UNREADABLE_OBJECT, str(error)) from error


def _offsets(names: bytes, wanted: Collection[str]) -> dict[int, str]:
    """Offset in the string table → the wanted name that starts there. Searching beats decoding thousands of names."""
    return {
        match.start(): name for name in wanted for match in re.finditer(re.escape(os.fsencode(name) + b"\0"), names)
    }


def _no_object(span: Span, head: bytes) -> LeftOut:
    if bitcode.is_bitcode(head):
        lto = bitcode.THIN if span.size > _MOST_BYTES else bitcode.lto_kind(span.read(0, span.size))
        if lto is None:
            return LeftOut(Kind.BITCODE_FILE, "is bitcode itself, as -emit-llvm makes it")
        kind = Kind.LTO_OBJECT if lto == bitcode.THIN else Kind.FULL_LTO_OBJECT
        return LeftOut(kind, f"is bitcode itself, as -flto={lto} makes it")
    if archive.is_archive(head):
        return LeftOut(Kind.UNREADABLE_OBJECT, "is an archive where an object should be")
    if not head:
        return LeftOut(Kind.EMPTY_FILE, "is empty")
    if head.startswith(_WEB_ASSEMBLY):
        return LeftOut(Kind.WEB_ASSEMBLY, "is a WebAssembly object")
    return LeftOut(Kind.UNREADABLE_OBJECT, "is no ELF object; --llvm_objcopy_path reads other formats")


def section_reader(names: SectionNames, objcopy: str | None = None) -> SectionReader:
    """Reads ELF in this process or, with `objcopy`, any format with that tool: a path, or a name in PATH.
    Raises: RunError: there is no such program."""
    if not objcopy:
        return lambda span, path: embedded(span, names)
    if (found := shutil.which(objcopy)) is None:
        wrong = "is no program"
        raise RunError(f"--llvm_objcopy_path={objcopy}", wrong, "leave the flag out: sections are then read directly")
    program = os.path.abspath(found)

    def read(span: Span, path: str | None) -> Embedded:
        with tempfile.TemporaryDirectory(prefix="extract_ir.") as folder:
            if path is None:  # The tool would look into all members at once.
                path = os.path.join(folder, "member.o")
                pathlib.Path(path).write_bytes(span.read(0, span.size))
            command = _dump(program, names.command, path, folder)
            # Without a command there is no bitcode as a rule, and the second process can be spared.
            return Embedded(_dump(program, names.bitcode, path, folder) if command is not None else None, command)

    return read


def _dump(tool: str, section: str, path: str, folder: str) -> bytes | None:
    target = os.path.join(folder, "section")
    command = [tool, f"--dump-section={section}={target}", path, "/dev/null"]
    null = subprocess.DEVNULL
    try:
        done = subprocess.run(
            command, stdin=null, stdout=null, stderr=subprocess.PIPE, timeout=_TIMEOUT_SECONDS, check=False
        )
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        raise LeftOut(Kind.OBJCOPY_FAILED, f"llvm-objcopy did not run: {type(error).__name__}") from error
    signals.check_not_killed(tool, done.returncode)
    if done.returncode == 0:
        content = pathlib.Path(target).read_bytes()
        os.unlink(target)
        return content
    message = os.fsdecode(done.stderr).strip().replace(path, "the object")
    if "not found" in message and section in message:
        return None
    raise LeftOut(Kind.OBJCOPY_FAILED, f"exit code {done.returncode}: {message[:300]}")
