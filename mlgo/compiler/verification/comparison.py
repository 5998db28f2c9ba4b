"""Compares an object with the original one, and names the sections that differ."""

import dataclasses
import enum
import os
import pathlib
import subprocess
import tempfile
from collections.abc import Sequence

from mlgo.compiler.process import Confinement, run_confined
from mlgo.corpus.elf import ElfError, ElfFile
from mlgo.run import signals
from mlgo.run.exit_codes import RunError

_EMBEDDED_BY_DEFAULT = (".llvmbc", ".llvmcmd")
_SHOWN = 5
_SECONDS = 300


class Reason(enum.Enum):
    """Why a module is not the original's. The value is what reports print."""

    MISSING_ORIGINAL = "missing_original"  #: its object is not in the tree of the original build.
    COMPILE_FAILED = "compile_failed"
    NOT_SELF_CONTAINED = "not_self_contained"  #: its command names a place outside the corpus.
    OTHER_COMPILER = "other_compiler"  #: .comment says that another compiler made the original.
    SECTIONS_DIFFER = "sections_differ"  #: some sections differ; the detail names them.


@dataclasses.dataclass(frozen=True)
class Difference:
    """Why one module differs: `reason` for counts, `detail` for messages."""

    reason: Reason
    detail: str


@dataclasses.dataclass(frozen=True)
class Comparer:
    """Compares what is linked of objects, but for the sections in which clang embeds bitcode and command."""

    objcopy: pathlib.Path  #: llvm-objcopy, which takes those sections out: it renumbers what refers to the others.
    embedded: Sequence[str] = _EMBEDDED_BY_DEFAULT

    def difference(self, original: bytes, compiled: bytes) -> Difference | None:
        """Why `compiled` is not `original`; None when they are the same, byte for byte.

        Raises: RunError: llvm-objcopy cannot be started.
        """
        if original == compiled:
            return None
        # objcopy does not change objects without embedded sections, so stripping one side is usually enough.
        stripped = self._without_embedded(original)
        if stripped == compiled or (
            stripped is not None and _comparable(stripped) == _comparable(self._without_embedded(compiled))
        ):
            return None
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


#: Name of a section -> (kind, flags, size, content) of each with that name, in the object's order.
_Sections = dict[str, list[tuple[int, int, int, bytes]]]


def _sections(content: bytes) -> _Sections | None:
    """None: it is not ELF, or is damaged."""
    found: _Sections = {}
    try:
        file = ElfFile.of_bytes(content)
        for name, one in zip(file.names(), file.sections):
            found.setdefault(name, []).append((one.kind, one.flags, one.size, file.content(one)))
    except ElfError:
        return None
    return found


def explain(original: bytes, compiled: bytes) -> Difference:
    """What is known about two objects that differ. Anything but ELF is only said to differ."""
    ours, theirs = _sections(compiled), _sections(original)
    if ours is None or theirs is None:
        sizes = f"{len(original)} bytes in the original, {len(compiled)} compiled"
        position = len(os.path.commonprefix([original, compiled]))
        return Difference(Reason.SECTIONS_DIFFER, f"{sizes}, the first difference at byte {position}")
    was, now = _compilers(theirs), _compilers(ours)
    if was != now:
        detail = f"the original was made by {was or 'unknown'}, this clang is {now or 'unknown'}"
        return Difference(Reason.OTHER_COMPILER, detail)
    # In the original's order; those with "+" are only in the compiled object.
    differing = [name for name, sections in theirs.items() if ours.get(name) != sections]
    differing += [f"+{name}" for name in ours if name not in theirs]
    more = f" and {len(differing) - _SHOWN} more" if len(differing) > _SHOWN else ""
    listed = ", ".join(differing[:_SHOWN]) + more
    return Difference(Reason.SECTIONS_DIFFER, listed or "the order of sections or symbols")


def _compilers(sections: _Sections) -> str:
    comments = (content for _, _, _, content in sections.get(".comment", ()))
    words = {text.decode("utf-8", "replace") for content in comments for text in content.split(b"\0") if text}
    return ", ".join(sorted(words))
