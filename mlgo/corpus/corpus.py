"""Reads a corpus: which modules it holds, their bitcode, their recorded commands, one digest over all.

Loading reads only the description and lists directories. Commands, bitcode and licences are read on demand: 25,000
modules load in 0.2 s.
"""

import dataclasses
import functools
import hashlib
import itertools
import os
import pathlib
import re
import sys
from collections.abc import Iterable
from typing import TypeVar

from mlgo.corpus.command import CompileCommand
from mlgo.corpus.command_changes import CommandChanges
from mlgo.corpus.description import (
    DESCRIPTION_NAME,
    FILES_FOLDER,
    LICENCES_NAME,
    MAKE_IT_AGAIN,
    UNFINISHED_NAME,
    UNKNOWN_LICENCE,
    UNSPECIFIED_OVERRIDE,
    CorpusError,
    parse_description,
    parse_licences,
)
from mlgo.corpus.options.driver import named_files
from mlgo.corpus.options.verdict import normal_name
from mlgo.corpus.storage import Storage
from mlgo.run import files
from mlgo.run.manifest import digest_of_file

__all__ = ["Corpus", "CorpusError", "DESCRIPTION_NAME", "MAX_COMMAND_BYTES", "Module", "join_command", "split_command"]

BITCODE_SUFFIX = ".bc"
COMMAND_SUFFIX = ".cmd"
THINLTO_INDEX_SUFFIX = ".thinlto.bc"

_CARRIED_FILE = re.compile(r"[0-9a-f]{16}-(?!\.\.?\Z).+", re.DOTALL)

MAX_COMMAND_BYTES = 4 * 1024 * 1024

_SizeOrContent = TypeVar("_SizeOrContent", int, bytes)


@dataclasses.dataclass(frozen=True, eq=False)
class _Contents:
    """What all modules of a corpus share. `override`: the command of every module; None: each has its own."""

    storage: Storage
    has_thinlto: bool = False
    override: CompileCommand | None = None
    allowed_options: tuple[str, ...] = ()
    changes: CommandChanges = CommandChanges()
    _commands: dict[str, CompileCommand] = dataclasses.field(default_factory=dict, init=False)

    @functools.cached_property
    def licences(self) -> dict[str, str]:
        if any(self.storage.missing([LICENCES_NAME])):
            return {}
        return parse_licences(self.storage.read(LICENCES_NAME), self.storage.shown(LICENCES_NAME))

    def command(self, module: str) -> CompileCommand:
        """The command of a module, which may be the <UNSPECIFIED> override. It is read, parsed and judged once."""
        key = module if self.override is None else ""
        if key not in self._commands:
            words = self._recorded(module) if self.override is None else self.override
            if self.changes and words != UNSPECIFIED_OVERRIDE:
                words = self.changes.apply(words)
            # Commands of a corpus consist of the same words: each is in memory once.
            self._commands[key] = CompileCommand(map(sys.intern, words), self.allowed_options)
        return self._commands[key]

    def _recorded(self, module: str) -> tuple[str, ...]:
        name = f"{module}{COMMAND_SUFFIX}"
        if (size := self.not_empty(name, self.storage.size(name))) > MAX_COMMAND_BYTES:
            raise CorpusError(self.storage.shown(name), f"has {size} bytes, more than the {MAX_COMMAND_BYTES} allowed")
        return split_command(self.storage.read(name))

    def not_empty(self, name: str, found: _SizeOrContent) -> _SizeOrContent:
        """`found`, which is the size or the content of the file `name`. Raises: CorpusError: there is nothing in it."""
        if not found:
            raise CorpusError(self.storage.shown(name), "is empty")
        return found


@dataclasses.dataclass(frozen=True, slots=True)
class Module:
    """One translation unit. Of its files, only the command is kept in memory; every other property reads, and raises
    CorpusError when the file is missing or unreadable."""

    #: Stable, a relative path such as llvm/lib/Support/APInt.cpp.
    name: str
    _contents: _Contents = dataclasses.field(repr=False)

    @staticmethod
    def at(name: str, bitcode_path: str | os.PathLike[str], command: Iterable[str]) -> "Module":
        """A module that belongs to no corpus."""
        storage = Storage(pathlib.Path(), {f"{name}{BITCODE_SUFFIX}": pathlib.Path(bitcode_path)})
        return Module(name, _Contents(storage, override=CompileCommand(command)))

    @property
    def command(self) -> CompileCommand:
        """The recorded cc1 arguments, without program name, input and output; the corpus's override where it has one.
        Raises: CorpusError: the command file is missing, empty or too large, or the override was never filled in."""
        if self._contents.override == UNSPECIFIED_OVERRIDE:
            wrong = "leaves the command of its ThinLTO modules open (global_command_override is <UNSPECIFIED>)"
            remedy = "extract the corpus again with --link_command, or with --ninja_dir and --target, which fill it in"
            raise CorpusError(self._contents.storage.shown(DESCRIPTION_NAME), wrong, remedy)
        return self._contents.command(self.name)

    @property
    def recorded_command(self) -> CompileCommand:
        """`command`, or an override that was never filled in."""
        return self._contents.command(self.name)

    @property
    def allowed_options(self) -> tuple[str, ...]:
        """Names of options that its command may have although they may do more than change code."""
        return self._contents.allowed_options

    @property
    def licence(self) -> str:
        """SPDX expression, or NOASSERTION."""
        return self._contents.licences.get(self.name, UNKNOWN_LICENCE)

    @property
    def bitcode_size(self) -> int:
        """Bytes of bitcode. Raises: CorpusError: also when there are none."""
        return self._contents.not_empty(f"{self.name}{BITCODE_SUFFIX}", self.size(BITCODE_SUFFIX))

    def read_bitcode(self) -> bytes:
        """The module's bitcode. Raises: CorpusError: also when it is empty."""
        name = f"{self.name}{BITCODE_SUFFIX}"
        return self._contents.not_empty(name, self._contents.storage.read(name))

    def read_thinlto_index(self) -> bytes | None:
        """The module's ThinLTO index, which may be empty; None when the corpus has none."""
        return self._contents.storage.read(f"{self.name}{THINLTO_INDEX_SUFFIX}") if self._contents.has_thinlto else None

    def file(self, suffix_or_relative: str) -> pathlib.Path:
        """Where a file of the corpus lies. Args: suffix_or_relative: ".bc", ".cmd" or ".thinlto.bc" of this module, or
        a path relative to the corpus, such as "files/0123456789abcdef-a.profdata"."""
        name = f"{self.name}{suffix_or_relative}" if suffix_or_relative.startswith(".") else suffix_or_relative
        return self._contents.storage.file(name)

    def size(self, suffix: str) -> int:
        """Bytes of the module's file with `suffix`, as in `file`."""
        return self._contents.storage.size(f"{self.name}{suffix}")

    def sha256(self, suffix: str) -> bytes:
        """Digest (32 bytes) of the module's file with `suffix`, as in `file`."""
        return self._contents.storage.sha256(f"{self.name}{suffix}")

    def bitcode_file(self) -> pathlib.Path:
        return self.file(BITCODE_SUFFIX)

    @property
    def has_thinlto_index(self) -> bool:
        """Whether the module is one of ThinLTO's: bitcode as it is after importing, with an index."""
        return self._contents.has_thinlto

    def thinlto_index_file(self) -> pathlib.Path | None:
        return self.file(THINLTO_INDEX_SUFFIX) if self._contents.has_thinlto else None


@dataclasses.dataclass(frozen=True)
class Corpus:
    """A corpus whose files were all present when it was loaded. Attributes: modules: sorted by name."""

    path: pathlib.Path
    modules: tuple[Module, ...]
    _contents: _Contents = dataclasses.field(repr=False)
    _carried: tuple[str, ...] | None = dataclasses.field(default=None, repr=False)

    @property
    def has_thinlto(self) -> bool:
        """Whether each module has a ThinLTO index."""
        return self._contents.has_thinlto

    @property
    def command_override(self) -> CompileCommand | None:
        """The command of every module, if they share one; it may be empty, and it may be `<UNSPECIFIED>`."""
        return self._contents.override

    @property
    def allowed_options(self) -> tuple[str, ...]:
        """What `load` was given: names of options that commands may have."""
        return self._contents.allowed_options

    @functools.cached_property
    def carried_files(self) -> tuple[str, ...]:
        """What commands may refer to as relative paths, sorted: `files/<16 hex digits>-<name>`."""
        if self._carried is not None:
            return self._carried
        names = self._contents.storage.names_in(FILES_FOLDER)
        return tuple(f"{FILES_FOLDER}/{name}" for name in names if _CARRIED_FILE.fullmatch(name))

    @functools.cached_property
    def digest(self) -> str:
        """sha256 (hex) of names, commands, allowed options, bitcode, ThinLTO indices, carried files, and of files of
        this machine that commands name."""
        whole = hashlib.sha256()

        def add(*parts: bytes | str) -> None:
            for part in parts:
                content = part.encode("utf-8", "surrogateescape") if isinstance(part, str) else part
                whole.update(len(content).to_bytes(8, "little") + content)  # So that borders count.

        named: dict[pathlib.Path, None] = {}
        for module in self.modules:
            _ = module.bitcode_size  # Empty bitcode is an error.
            command = module.recorded_command
            add(module.name, "\0".join(command))
            if self.allowed_options:  # Other options that read files are refused.
                named |= dict.fromkeys(named_files(command))
            add(*map(module.sha256, (BITCODE_SUFFIX, THINLTO_INDEX_SUFFIX) if self.has_thinlto else (BITCODE_SUFFIX,)))
        # A marker in front: none of these can be mistaken for a module, whose name holds no NUL.
        if self.has_thinlto:
            add("\0thinlto")
        if self.command_override is not None:
            add("\0override")
        for option in self.allowed_options:
            add("\0allowed", option)
        for name in self.carried_files:
            add("\0file", name, self._contents.storage.sha256(name))
        for path in named:
            add("\0named", digest_of_file(path))
        return whole.hexdigest()

    def select(self, names: list[str]) -> "Corpus":
        """The corpus with only the modules in `names`. Raises: CorpusError: a name is not in the corpus."""
        wanted = set(names)
        unknown = sorted(wanted - {module.name for module in self.modules})
        if unknown:
            raise CorpusError(f"corpus {self.path}", f"has no module {unknown[0]!r}", "check the names asked for")
        return dataclasses.replace(self, modules=tuple(module for module in self.modules if module.name in wanted))

    def with_override(self, command: Iterable[str]) -> "Corpus":
        """The corpus with `command` for every module."""
        return self._with(override=CompileCommand(command, self.allowed_options))

    def changed(self, changes: CommandChanges) -> "Corpus":
        """The corpus with changed commands, and with the files that they name. A module's command may then raise
        CommandError: it lacks what is to be replaced."""
        if not changes:
            return self
        return self._with(storage=self._contents.storage.with_places(changes.files), changes=changes)

    def reopened(self, path: str | os.PathLike[str]) -> "Corpus":
        """The corpus at `path`, a copy of this one, with the same modules, allowed options, override and changes."""
        found = Corpus.load(path, self.allowed_options).select([module.name for module in self.modules])
        if self.command_override is not None:
            found = found.with_override(self.command_override)
        return found.changed(self._contents.changes)

    def _with(self, **changes) -> "Corpus":
        contents = dataclasses.replace(self._contents, **changes)
        modules = tuple(Module(module.name, contents) for module in self.modules)
        return dataclasses.replace(self, modules=modules, _contents=contents)

    def with_carried_files(self, names: Iterable[str]) -> "Corpus":
        """The corpus with only these of its carried files."""
        return dataclasses.replace(self, _carried=tuple(sorted(names)))

    def file(self, relative: str) -> pathlib.Path:
        """Where a carried file lies."""
        return self._contents.storage.file(relative)

    def size(self, relative: str) -> int:
        """Bytes of a carried file."""
        return self._contents.storage.size(relative)

    @staticmethod
    def load(path: str | os.PathLike[str], allowed_options: Iterable[str] = ()) -> "Corpus":
        """Loads the corpus in the directory `path`; commands and bitcode are read later.

        Args: allowed_options: options that commands may have although they may do more than change code, such as
          "-mllvm -stats" (mlgo/corpus/options/README.md). They are part of the digest.

        Raises: CorpusError: the description is missing or not as described in README.md, no module is listed, a name is
          listed twice or leads out of the corpus, or a file of a module is missing.
        """
        path = pathlib.Path(path)
        if not path.is_dir():
            wrong = "is no directory" if path.exists() else "does not exist"
            raise CorpusError(f"corpus {path}", wrong, "give a directory with corpus_description.json, unpacked")
        allowed = tuple(sorted({normal_name(option) for option in allowed_options}))
        storage = Storage(path, {})
        shown = storage.shown(DESCRIPTION_NAME)
        if any(storage.missing([DESCRIPTION_NAME])):
            unfinished = not any(storage.missing([UNFINISHED_NAME]))
            goes_on = "run the command that was writing this corpus again: it goes on where it stopped"
            remedy = goes_on if unfinished else MAKE_IT_AGAIN
            raise CorpusError(f"the corpus description ({shown})", "does not exist", remedy)
        if storage.size(DESCRIPTION_NAME) > files.MAX_JSON_BYTES:
            raise CorpusError(f"the corpus description ({shown})", f"is larger than {files.MAX_JSON_BYTES} bytes")
        description = parse_description(storage.read(DESCRIPTION_NAME), shown)
        names = sorted(description.modules)
        suffixes = [BITCODE_SUFFIX, THINLTO_INDEX_SUFFIX] if description.has_thinlto else [BITCODE_SUFFIX]
        absent = storage.missing(f"{name}{suffix}" for name in names for suffix in suffixes)
        override = description.command_override
        if not override:
            without = list(storage.missing(f"{name}{COMMAND_SUFFIX}" for name in names))
            # mlgo-utils' make_corpus, given no flags, writes an empty override and no commands: then no flags it is.
            # Beside commands, an empty override is none, as it is for ml-compiler-opt.
            if override is None or len(without) < len(names):
                override, absent = None, itertools.chain(absent, without)
        if first := next(absent, None):
            raise CorpusError(storage.shown(first), f"does not exist, but {DESCRIPTION_NAME} lists its module")
        judged = None if override is None else CompileCommand(override, allowed)
        contents = _Contents(storage, description.has_thinlto, judged, allowed)
        return Corpus(path, tuple(Module(name, contents) for name in names), contents)


def split_command(recorded: bytes) -> tuple[str, ...]:
    """The arguments in a .cmd file (a .llvmcmd section): NUL after each; bytes that are not UTF-8 survive."""
    return tuple(os.fsdecode(part) for part in recorded.removesuffix(b"\0").split(b"\0"))


def join_command(command: Iterable[str]) -> bytes:
    """The inverse of `split_command`."""
    return b"".join(os.fsencode(part) + b"\0" for part in command)
