"""Reads one module from an object, for each of three kinds of builds."""

import dataclasses
import os
import pathlib
import re
from collections.abc import Callable, Mapping, Sequence

from mlgo.corpus import bitcode, properties
from mlgo.corpus.command import THINLTO_INDEX, CompileCommand
from mlgo.corpus.corpus import MAX_COMMAND_BYTES, split_command
from mlgo.corpus.extraction import object_file
from mlgo.corpus.extraction.inputs import IMPORTED_SUFFIX, INDEX_SUFFIX, BuildObject, absolute
from mlgo.corpus.extraction.object_file import SectionReader
from mlgo.corpus.extraction.outcome import Kind, LeftOut
from mlgo.corpus.options.table import chosen_table
from mlgo.corpus.properties import Property
from mlgo.corpus.self_contained import FileOutside, FileRoots, self_contained_command
from mlgo.run.exit_codes import RunError


@dataclasses.dataclass(frozen=True)
class ModuleContent:
    """What `CorpusWriter.add` takes of a module, besides name and licence; and what its build says about it."""

    bitcode: bytes
    command: tuple[str, ...] | None
    thinlto_index: bytes | None = None
    #: Of the recorded command, of which `command` may not have all options, and of the bitcode.
    properties: Mapping[Property, str] = dataclasses.field(default_factory=dict)


#: (name of the module, its object) -> the module. Raises: LeftOut: the object gives none.
ModuleReader = Callable[[str, BuildObject], ModuleContent]


@dataclasses.dataclass(frozen=True)
class EmbeddedModules:
    """Modules that clang embedded in object files."""

    read_sections: SectionReader
    #: Carries a file that a command reads into the corpus, see `CorpusWriter.add_file`.
    add_file: Callable[[pathlib.Path], str]
    #: Where files must lie that a command names.
    roots: FileRoots
    #: Only modules one of whose recorded arguments it is found in; None: all.
    command_filter: re.Pattern[str] | None = None
    #: The commands name ThinLTO indices, which belong to the modules.
    distributed: bool = False

    def __call__(self, name: str, found: BuildObject) -> ModuleContent:
        with object_file.opened(found.path) as span:
            part, path = (span, found.path) if found.member is None else (span.part(*found.member), None)
            embedded = self.read_sections(part, path)
        if not embedded.bitcode:
            raise LeftOut(Kind.NO_BITCODE, "has no bitcode section, or an empty one")
        if not bitcode.is_bitcode(embedded.bitcode):
            size = len(embedded.bitcode)
            raise LeftOut(Kind.NO_BITCODE, f"has a bitcode section without bitcode in its {size} bytes")
        if (count := bitcode.module_count(embedded.bitcode)) > 1:
            raise LeftOut(Kind.SEVERAL_MODULES, f"holds {count} modules: extract from the objects it was merged from")
        if bitcode.holds_itself(embedded.bitcode):
            raise LeftOut(Kind.HOLDS_ITSELF, "holds a copy of itself: -save-temps embeds bitcode twice")
        _check_producer(embedded.bitcode)
        if not embedded.command:
            raise LeftOut(Kind.NO_COMMAND, "has no command: compile with -Xclang -fembed-bitcode=all")
        if (size := len(embedded.command)) > MAX_COMMAND_BYTES:
            reason = f"has a command of {size} bytes, more than the {MAX_COMMAND_BYTES} allowed"
            raise LeftOut(Kind.NOT_PORTABLE, reason)
        recorded = CompileCommand(split_command(embedded.command))
        if self.command_filter is not None and not any(map(self.command_filter.search, recorded)):
            raise LeftOut(Kind.FILTERED_OUT, "no argument matches --cmd_filter")
        directory = found.directory
        index = _index_of(recorded, directory, self.roots) if self.distributed else None
        add_file, module_name = self.roots.guarded(self.add_file), name if self.distributed else None
        try:
            options = self_contained_command(recorded, pathlib.Path(directory), add_file, module_name)
        except RunError as error:
            kind = Kind.FILE_OUTSIDE if isinstance(error, FileOutside) else Kind.NOT_PORTABLE
            raise LeftOut(kind, f"{error.subject}: {error.wrong}".replace(directory + "/", "")) from error
        found_properties = properties.of_module(recorded, embedded.bitcode, self.distributed)
        # With its action, so that LLVM's and ml-compiler-opt's tools can run the command as it stands.
        return ModuleContent(embedded.bitcode, ("-cc1", *options, "-emit-obj"), index, found_properties)


def local_thinlto_module(name: str, found: BuildObject) -> ModuleContent:
    """A module that lld saved after importing (-Wl,--save-temps=import), with its index. Raises: LeftOut."""
    del name
    with object_file.opened(found.path + IMPORTED_SUFFIX) as span:
        content = span.read(0, span.size)
    if not bitcode.is_bitcode(content):
        raise LeftOut(Kind.UNREADABLE_OBJECT, f"is no bitcode ({len(content)} bytes)")
    _check_producer(content)
    return ModuleContent(content, None, _read_index(found.path + INDEX_SUFFIX))


def _check_producer(content: bytes) -> None:
    """Raises: LeftOut: the bitcode states that another major of LLVM wrote it, whose commands and features differ."""
    needed = chosen_table().major
    if (made_by := bitcode.llvm_major(content)) not in (None, needed):
        raise LeftOut(Kind.OTHER_LLVM, f"was made by clang {made_by}; this needs clang {needed}")


def _index_of(recorded: Sequence[str], directory: str, roots: FileRoots) -> bytes:
    stated = [argument for argument in recorded if argument.startswith(THINLTO_INDEX)]
    if not stated:
        reason = f"has no {THINLTO_INDEX} in its command: not the back end of a distributed ThinLTO build"
        raise LeftOut(Kind.MISSING_INDEX, reason)
    path = stated[-1].removeprefix(THINLTO_INDEX)
    # An empty index means "import nothing"; build systems write it as /dev/null, which has no size to trust either.
    if path == os.devnull:
        return b""
    try:
        roots.check(absolute(directory, path))
    except FileOutside as error:
        raise LeftOut(Kind.FILE_OUTSIDE, f"{error.subject}: {error.wrong}") from error
    return _read_index(absolute(directory, path))


def _read_index(path: str) -> bytes:
    try:
        with object_file.opened(path) as span:
            return span.read(0, span.size)
    except LeftOut as error:
        raise LeftOut(Kind.MISSING_INDEX, f"its ThinLTO index {os.path.basename(path)} {error.reason}") from error
