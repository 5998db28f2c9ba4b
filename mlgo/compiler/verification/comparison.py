"""Compares an object with the original one, and explains differences, also by what clang embedded in the original."""

import dataclasses
import enum
import pathlib
import re
import subprocess
import tempfile
from collections.abc import Sequence
from typing import NamedTuple

from mlgo.compiler.process import Confinement, run_confined
from mlgo.compiler.verification.linked import linked_object
from mlgo.corpus import elf, properties
from mlgo.corpus.command import CommandError, CompileCommand
from mlgo.corpus.corpus import Module, split_command
from mlgo.corpus.elf import ElfError, ElfFile
from mlgo.run import signals
from mlgo.run.exit_codes import RunError

_EMBEDDED_BY_DEFAULT = (".llvmbc", ".llvmcmd")
# DW_AT_dwo_name of the skeleton that -gsplit-dwarf leaves in an object.
_DWO_NAME = re.compile(rb"\.dwo\0")
_MACH_O = (b"\xcf\xfa\xed\xfe", b"\xce\xfa\xed\xfe", b"\xfe\xed\xfa\xcf", b"\xfe\xed\xfa\xce")
# embedBitcodeInModule (llvm/lib/Bitcode/Writer/BitcodeWriter.cpp) embeds the module without llvm.compiler.used.
# Internal symbols of that list are dropped; others no longer count as address-taken.
FORGOTTEN = "probably __attribute__((used)), which -fembed-bitcode does not keep"
# IMAGE_FILE_MACHINE_: I386, AMD64, ARMNT, ARM64; and the start of a /bigobj header (llvm/BinaryFormat/COFF.h).
_COFF_MACHINES = (b"\x4c\x01", b"\x64\x86", b"\xc4\x01", b"\x64\xaa")
_COFF_BIG = b"\0\0\xff\xff"
_SHOWN = 5
_SECONDS = 300


class Reason(enum.Enum):
    """Why a module is not the original's. The value is what reports print."""

    #: Its object is not in the tree of the original build.
    MISSING_ORIGINAL = "missing_original"
    #: It did not compile.
    COMPILE_FAILED = "compile_failed"
    #: Its command names a place outside the corpus.
    NOT_SELF_CONTAINED = "not_self_contained"
    #: .comment says that another compiler made the original.
    OTHER_COMPILER = "other_compiler"
    #: The original keeps its debug information in a file of its own.
    SPLIT_DWARF = "split_dwarf"
    #: `__attribute__((used))`, which clang's embedding drops: the code, or its mark in .llvm_addrsig, is missing.
    USED_FORGOTTEN = "used_forgotten"
    #: The original is Mach-O with embedded sections, which change the addresses of later sections.
    NOT_COMPARABLE = "not_comparable"
    #: Some sections differ; the detail names them.
    SECTIONS_DIFFER = "sections_differ"
    #: No difference in what is linked: only names of local symbols, which clang numbers, are others.
    LOCAL_NAMES = "local_names"


@dataclasses.dataclass(frozen=True)
class Difference:
    """Why one module differs: `reason` for counts, `detail` for messages."""

    reason: Reason
    detail: str


@dataclasses.dataclass(frozen=True)
class Comparer:
    """Compares what is linked of objects, but for the sections in which clang embeds bitcode and command.

    Attributes: objcopy: llvm-objcopy, which takes those sections out: it renumbers what refers to the others.
    """

    objcopy: pathlib.Path
    embedded: Sequence[str] = _EMBEDDED_BY_DEFAULT

    def difference(self, original: bytes, compiled: bytes) -> Difference | None:
        """Why `compiled` is not `original`; None when they are the same, byte for byte but for COFF's time of creation.

        ELF objects that differ only in the names of local symbols have the reason LOCAL_NAMES.

        Raises: RunError: llvm-objcopy cannot be started.
        """
        original, compiled = without_time(original), without_time(compiled)
        if original == compiled:
            return None
        # objcopy does not change objects without embedded sections, so stripping one side is usually enough.
        stripped = self._without_embedded(original)
        if stripped == compiled or (
            stripped is not None and _comparable(stripped) == _comparable(self._without_embedded(compiled))
        ):
            return None
        if original.startswith(_MACH_O) and stripped is not None and len(stripped) != len(original):
            return Difference(
                Reason.NOT_COMPARABLE, "Mach-O keeps the addresses that sections had before bitcode was taken out"
            )
        if (names := _other_names(original, compiled, self.embedded)) is not None:
            return Difference(Reason.LOCAL_NAMES, f"what is linked is the same; only local names differ: {names}")
        return explain(stripped if stripped is not None else original, compiled)

    def _without_embedded(self, content: bytes) -> bytes | None:
        with tempfile.TemporaryDirectory(prefix="mlgo-verify-") as directory:
            given, taken = pathlib.Path(directory, "given.o"), pathlib.Path(directory, "taken.o")
            given.write_bytes(content)
            removals = [f"--remove-section={name}" for name in self.embedded]
            try:
                # It copies permissions, which the filter forbids.
                done = run_confined(
                    [self.objcopy, *removals, given, taken], directory, _SECONDS, walls=Confinement.LANDLOCK
                )
            except OSError as error:
                wrong = f"cannot be started: {error.strerror}"
                raise RunError(f"--llvm_objcopy_path={self.objcopy}", wrong, "give the path of llvm-objcopy") from error
            except subprocess.TimeoutExpired:
                return None  # The object takes llvm-objcopy too long: as it stands, it differs.
            signals.check_not_killed(self.objcopy, done.returncode)
            return taken.read_bytes() if done.returncode == 0 and taken.is_file() else None


def _other_names(original: bytes, compiled: bytes, embedded: Sequence[str]) -> str | None:
    """The local names in which two objects differ, of which the linker takes the same; None: it does not."""
    theirs, ours = linked_object(original, embedded), linked_object(compiled, embedded)
    if theirs is None or ours is None or theirs != ours:
        return None
    return f"{_listed(sorted(theirs.names - ours.names))} -> {_listed(sorted(ours.names - theirs.names))}"


def without_time(content: bytes) -> bytes:
    """`content`, a COFF object's time of creation set to zero, which clang writes for incremental linkers."""
    if content[:2] in _COFF_MACHINES:
        return content[:4] + bytes(4) + content[8:]
    if content.startswith(_COFF_BIG):
        return content[:8] + bytes(4) + content[12:]
    return content


def _comparable(content: bytes | None) -> tuple | bytes | None:
    """`content` without the alignment that the sections which were taken out leave behind."""
    return None if content is None else without_file_offsets(content) or content


def without_file_offsets(content: bytes) -> tuple | None:
    """The header, section headers and contents of an ELF file, without offsets: they depend on what else the file had.

    Returns: None when `content` is no ELF file with sections, or is damaged.
    """
    try:
        file = ElfFile.of_bytes(content)
        parts = tuple((section._replace(offset=0), file.content(section)) for section in file.sections)
    except ElfError:
        return None
    return (file.header, parts) if parts else None


class _Section(NamedTuple):
    """What is compared of a section."""

    name: str
    kind: int
    flags: int
    size: int
    content: bytes


class _Object(NamedTuple):
    """What is compared of an ELF object: its sections in their order, and the symbols that it defines."""

    sections: tuple[_Section, ...]
    defined: set[str]


def _parsed(content: bytes) -> _Object | None:
    """The object in `content`; None: it is not ELF, or is damaged."""
    try:
        file = ElfFile.of_bytes(content)
        sections = tuple(
            _Section(name, one.kind, one.flags, one.size, file.content(one))
            for name, one in zip(file.names(), file.sections)
        )
        return _Object(sections, file.defined_names())
    except ElfError:
        return None


def explain(original: bytes, compiled: bytes) -> Difference:
    """What is known about two objects that differ. Anything but ELF is only said to differ."""
    ours, theirs = _parsed(compiled), _parsed(original)
    if ours is None or theirs is None:
        position = next(
            (at for at, (a, b) in enumerate(zip(original, compiled)) if a != b), min(len(original), len(compiled))
        )
        detail = (
            f"{len(original)} bytes in the original, {len(compiled)} compiled, the first difference at byte {position}"
        )
        return Difference(Reason.SECTIONS_DIFFER, detail)
    was, now = _compilers(theirs), _compilers(ours)
    if was != now:
        return Difference(
            Reason.OTHER_COMPILER, f"the original was made by {was or 'unknown'}, this clang is {now or 'unknown'}"
        )
    differing = _differing_sections(theirs, ours)
    if _names_dwo(theirs) and not _names_dwo(ours) and _loaded(theirs) == _loaded(ours):
        return Difference(
            Reason.SPLIT_DWARF, "debug information stands in a .dwo file of the original build; code is the same"
        )
    lost = sorted(theirs.defined - ours.defined)
    if lost and ours.defined <= theirs.defined:
        return Difference(Reason.USED_FORGOTTEN, f"not compiled: {_listed(lost)}; {FORGOTTEN}")
    if differing == [".llvm_addrsig"]:
        return Difference(Reason.USED_FORGOTTEN, f"code and data are the same, {differing[0]} is not; {FORGOTTEN}")
    return Difference(Reason.SECTIONS_DIFFER, _listed(differing) or "the order of sections or symbols")


def _compilers(parsed: _Object) -> str:
    comments = (section.content for section in parsed.sections if section.name == ".comment")
    words = {text.decode("utf-8", "replace") for content in comments for text in content.split(b"\0") if text}
    return ", ".join(sorted(words))


def _names_dwo(parsed: _Object) -> bool:
    return any(section.name == ".debug_str" and _DWO_NAME.search(section.content) for section in parsed.sections)


def _loaded(parsed: _Object) -> list[_Section]:
    return [section for section in parsed.sections if section.flags & elf.SHF_ALLOC and section.size]


def _differing_sections(original: _Object, compiled: _Object) -> list[str]:
    """Names of sections that differ, in the original's order; those with "+" are only in the compiled object."""
    theirs, ours = _by_name(original), _by_name(compiled)
    differing = [name for name, sections in theirs.items() if ours.get(name) != sections]
    return differing + [f"+{name}" for name in ours if name not in theirs]


def _by_name(parsed: _Object) -> dict[str, list]:
    found: dict[str, list] = {}
    for section in parsed.sections:
        found.setdefault(section.name, []).append(section)
    return found


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more


# Each writes its value, a path or the command itself, into the object.
_LEAVES_TEXT = frozenset(
    "-coverage-data-file= -coverage-notes-file= -dwarf-debug-flags -record-command-line -split-dwarf-file".split()
)
# These passes write the name of the compiled file into the object; the corpus compiles a copy of another name.
_NAMES_THE_FILE = (properties.SANITIZED, properties.INSTRUMENTED)
_DEBUG = (".debug_", ".rela.debug_", ".rel.debug_")


def with_likely_reason(
    difference: Difference | None, original: bytes, module: Module, embedded: Sequence[str]
) -> Difference | None:
    """`difference` with the likely reason for differing sections or missing symbols, if one is known.

    Args: original: the object of the build. embedded: names of its sections with the bitcode and with the command.
    """
    if difference is None or difference.reason not in (Reason.SECTIONS_DIFFER, Reason.USED_FORGOTTEN):
        return difference
    if not (reason := _reason(original, module, *embedded)):
        return _with_reason_of_sections(difference)
    found = difference.detail.partition(f"; {FORGOTTEN}")[0]
    return Difference(Reason.SECTIONS_DIFFER, f"{found}; {reason}")


def _reason(original: bytes, module: Module, bitcode_section: str, command_section: str) -> str:
    """What the build's object and command show; "": nothing."""
    bitcode, recorded = (_section(original, name) for name in (bitcode_section, command_section))
    if bitcode is not None and bitcode != module.read_bitcode():
        return (
            "the original was compiled again since the extraction: it embeds other bitcode (another source, __DATE__ or"
            " __TIME__). Extract again"
        )
    if recorded is None:
        return ""
    try:
        of_build = CompileCommand(split_command(recorded))
        build, corpus = properties.of_command(of_build), properties.of_command(module.command)
        lost = _dropped(of_build)
    except CommandError:
        return ""
    lost += [said for kind, said in build.items() if kind not in corpus and said not in lost]
    if lost:
        return f"probably {', '.join(lost)} of the build's command, which a corpus does not keep"
    named = [build[kind] for kind in _NAMES_THE_FILE if kind in build]
    return f"probably {named[0]}, which puts the name of the compiled file into the object" if named else ""


def _with_reason_of_sections(difference: Difference) -> Difference:
    names = [name.removeprefix("+") for name in difference.detail.split(", ")]
    if not all(name.startswith(_DEBUG) for name in names):
        return difference
    said = f"{difference.detail}; only debug information differs, such as its paths; code and data are the same"
    return dataclasses.replace(difference, detail=said)


def _dropped(recorded: CompileCommand) -> list[str]:
    """Options of the build's command that leave something in the object, and that corpora do not keep."""
    return list(dict.fromkeys(option.name for option in recorded.options if option.name in _LEAVES_TEXT))


def _section(content: bytes, name: str) -> bytes | None:
    """The first section of this name in an ELF object; None: there is none."""
    try:
        file = ElfFile.of_bytes(content)
        return next((file.content(each) for own, each in zip(file.names(), file.sections) if own == name), None)
    except ElfError:
        return None
