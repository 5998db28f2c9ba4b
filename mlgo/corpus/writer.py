"""Writes a corpus directory. No other module writes corpora, so all of them have the same guarantees.

    with CorpusWriter(directory) as writer:
        writer.add("lib/a.o", bitcode, ("-cc1", "-O2", "-emit-obj"), licence="MIT")
        written = writer.finish()

Nothing is written outside the directory, whatever the names. `add` writes bitcode to the disk and keeps a digest per
module in memory. The result does not depend on the order of calls. The description is written last: the directory of a
killed writer does not load as a corpus, and the next writer keeps files that have the right content.
"""

import dataclasses
import hashlib
import os
import pathlib
import threading
from collections.abc import Iterator, Mapping, Sequence

from mlgo.corpus import contained_files, description
from mlgo.corpus.contained_files import ContainedFiles, NameRefused
from mlgo.corpus.corpus import join_command
from mlgo.run import progress
from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.run.regular_file import open_regular

#: What an extraction says about the objects it was given.
REPORT_NAME = "extraction_report.json"

_UNFINISHED = b"A corpus is being written here, or its writer was killed. The same command goes on where it stopped.\n"
#: A directory that a writer takes over has one of these.
_MARKS = (description.DESCRIPTION_NAME, description.UNFINISHED_NAME)
_RESERVED = frozenset({*_MARKS, description.LICENCES_NAME, REPORT_NAME})
#: A larger file is not carried. The profiles of Chromium have 200 MB.
_MOST_CARRIED_BYTES = 4 * 1024**3
#: What a writer may delete from a directory it takes over: its own kinds of files and no others.
_OWN_SUFFIXES = (".bc", ".cmd")


@dataclasses.dataclass(frozen=True, order=True)
class Duplicate:
    """A module that was left out: `same_as` has the same bitcode, command and index."""

    name: str
    same_as: str


@dataclasses.dataclass(frozen=True)
class WrittenCorpus:
    """What a finished corpus holds: the names of its modules and those left out, both sorted."""

    modules: tuple[str, ...]
    duplicates: tuple[Duplicate, ...]


@dataclasses.dataclass(frozen=True)
class _Added:
    content: bytes  # sha256 over bitcode, command and index: equal for modules that compile to the same object.
    paths: tuple[str, ...]
    licence: str


class CorpusWriter:
    """A corpus being written; use it in a `with` block. `add` and `add_file` may be called from several threads."""

    def __init__(
        self,
        output_dir: str | os.PathLike[str],
        has_thinlto: bool = False,
        command_override: Sequence[str] | None = None,
        durable: bool = True,
        merge: bool = True,
        resume: bool = False,
        allow_empty: bool = False,
    ):
        """Locks `output_dir`, which must be absent, empty, a corpus, or what a killed writer left.

        Args:
          output_dir: a corpus in it is replaced when something is added, and a line says so; other files stay.
          command_override: one command for all modules (`global_command_override`), which then have no own commands.
          durable: whether the description is written after a sync of all files, to survive a loss of power. Not needed
            for outputs of build actions, which are copied at once.
          merge: whether modules with the same content become one.
          resume: whether the directory may also hold other files, such as modules from a cache.
          allow_empty: whether modules without any byte of bitcode are written. They are placeholders and never merged.

        Raises: RunError: the directory holds something else, cannot be written, or is being written by another process.
        """
        self._has_thinlto, self._merge, self._allow_empty = has_thinlto, merge, allow_empty
        self._override = None if command_override is None else tuple(command_override)
        self._durable, self._replaces = durable, not resume
        self._lock = threading.Lock()
        self._added: dict[str, _Added] = {}
        self._kept: dict[bytes, tuple[int, str]] = {}  # Content → rank and name of the module that has it.
        self._owners: dict[str, str] = {}  # Path of a file → what it belongs to.
        self._folders: dict[str, str] = {"": "the corpus"}
        self._bitcode: dict[bytes, str] = {}  # sha256 → a path that has it.
        self._copies: dict[tuple, str] = {}
        self._has_report = self._has_begun = False
        self._files = ContainedFiles(output_dir)
        if not (resume or self._files.is_empty() or any(map(self._files.has, _MARKS))):
            self._files.close()
            wrong = "holds files and is not a corpus"
            raise RunError(f"output directory {self.directory}", wrong, "give a new or an empty directory")

    @property
    def directory(self) -> pathlib.Path:
        return self._files.directory

    def override_commands(self, command: Sequence[str]) -> None:
        """Replaces the command given to the constructor, for callers that need `add_file` to compute it.
        Raises: RunError: the corpus was begun with a command per module."""
        if self._override is None:
            raise RunError(f"corpus {self.directory}", "has a command per module", "begin it with an override")
        self._override = tuple(command)

    def __enter__(self) -> "CorpusWriter":
        return self

    def __exit__(self, *_) -> None:
        self._files.close()

    def add(
        self,
        name: str,
        bitcode: bytes,
        command: Sequence[str] | None,
        thinlto_index: bytes | None = None,
        licence: str = description.UNKNOWN_LICENCE,
        rank: int = 0,
    ) -> bool:
        """Writes one module.

        Args:
          name: relative path; NAME.bc and so on are written.
          command: portable cc1 arguments; None exactly when the corpus overrides all commands.
          thinlto_index: the .thinlto.bc file, which may be empty; None exactly when the corpus has no ThinLTO.
          licence: SPDX expression.
          rank: of modules with equal content, the one with the lowest rank stays, then the first by name.

        Returns: False: a module with the same content is there already and stays; True: one added later may replace it.
        Raises: NameRefused: the name leads out of the directory, or its files are another module's; RunError: bitcode,
          command or index are not as described, or writing fails.
        """
        self._check(name, bitcode, command, thinlto_index)
        self._begin()
        recorded = None if command is None else join_command(tuple(command))
        bitcode_digest = hashlib.sha256(bitcode).digest()
        content = _content_digest(bitcode_digest, recorded, thinlto_index)
        if not (self._merge and bitcode):
            content += os.fsencode(name)
        contents = ((".bc", bitcode), (".cmd", recorded), (".thinlto.bc", thinlto_index))
        files = {f"{name}{suffix}": content for suffix, content in contents if content is not None}
        added = _Added(content, tuple(files), licence)
        with self._lock:
            if name in self._added:
                if self._added[name].content == content:
                    return False
                wrong = "was added before with other content"
                raise NameRefused(f"module {name}", wrong, "give one of the two another name")
            self._claim(f"module {name}", added.paths)
            first = self._kept.get(content)
            if first is None or first >= (rank, name):
                # One file on the disk for modules that differ in their commands only.
                same = self._bitcode.get(bitcode_digest)
                if same is not None and self._files.link(same, f"{name}.bc"):
                    del files[f"{name}.bc"]
                for path, written in files.items():
                    self._files.write(path, written)
                if f"{name}.bc" in files:
                    self._bitcode[bitcode_digest] = f"{name}.bc"
                self._kept[content] = first = (rank, name)
            self._added[name] = added
            return first == (rank, name)

    def add_file(self, content_path: str | os.PathLike[str]) -> str:
        """Copies a file that commands read; returns the path they are to use, which is relative to the corpus.
        Raises: RunError: the file cannot be read or the copy not written."""
        content_path = pathlib.Path(content_path)
        self._begin()
        try:
            with open_regular(content_path, _MOST_CARRIED_BYTES) as descriptor, self._lock:
                status = os.fstat(descriptor)
                identity = (content_path.name, status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
                if identity not in self._copies:
                    copy = self._files.copy(descriptor, status.st_size, description.FILES_FOLDER, content_path.name)
                    self._claim(f"file {content_path}", (copy,), shared=True)
                    self._copies[identity] = copy
                return self._copies[identity]
        except OSError as error:
            wrong = f"cannot be read: {error.strerror}"
            raise RunError(f"{content_path}", wrong, "restore the file a command names") from error

    def add_report(self, report: Mapping[str, object]) -> None:
        """Writes what an extraction has to say about its objects; readers of the corpus do not need it."""
        self._begin()
        self._files.write(REPORT_NAME, description.encode(report))
        self._has_report = True

    def result(self) -> WrittenCorpus:
        """What the corpus would be if it were finished now."""
        with self._lock:
            names = sorted(self._added)
            same_as = {name: self._kept[self._added[name].content][1] for name in names}
        return WrittenCorpus(
            tuple(name for name in names if same_as[name] == name),
            tuple(Duplicate(name, same_as[name]) for name in names if same_as[name] != name),
        )

    def finish(self) -> WrittenCorpus:
        """Removes what belongs to no module and writes the description, which makes the directory a corpus.
        Raises: RunError: no module was added (NOTHING_PRODUCED), or writing fails."""
        written = self.result()
        if not written.modules:
            wrong = "would have no module"
            raise RunError(f"corpus {self.directory}", wrong, "check what it is made from", ExitCode.NOTHING_PRODUCED)
        self._remove_stale_files(written)
        licences = {name: self._added[name].licence for name in written.modules}
        self._files.write(description.LICENCES_NAME, description.encode({"modules": licences}))
        content: dict[str, object] = {"has_thinlto": self._has_thinlto, "modules": list(written.modules)}
        if self._override is not None:
            # mlgo-utils writes it first.
            content = {"global_command_override": list(self._override), **content}
        if self._durable:
            self._files.sync()
        self._files.write(description.DESCRIPTION_NAME, description.encode(content))
        self._files.remove(description.UNFINISHED_NAME)
        return written

    def _begin(self) -> None:
        """Makes the directory an unfinished corpus, once."""
        with self._lock:
            if self._has_begun:
                return
            if self._replaces and self._files.has(description.DESCRIPTION_NAME):
                progress.tell(f"note: {self.directory} held a corpus, which is replaced")
            self._files.write(description.UNFINISHED_NAME, _UNFINISHED)
            self._files.remove(description.DESCRIPTION_NAME)
            self._has_begun = True

    def _check(self, name: str, bitcode: bytes, command: Sequence[str] | None, thinlto_index: bytes | None) -> None:
        if reason := contained_files.refusal(name):
            raise NameRefused(f"module {name!r}", f"its name {reason}, so it could lie outside the corpus", "rename it")
        if not bitcode and not self._allow_empty:
            raise RunError(f"module {name}", "has no bitcode", "leave it out")
        if (command is None) != (self._override is not None):
            what = "has no command" if command is None else "has a command, and the corpus overrides all of them"
            raise RunError(f"module {name}", what, "either override the commands of all modules or give each its own")
        if command is not None and (not command or any("\0" in argument for argument in command)):
            raise RunError(f"module {name}", "its command is empty or holds a NUL", "extract it again")
        if (thinlto_index is not None) != self._has_thinlto:
            what = "has no ThinLTO index" if self._has_thinlto else "has a ThinLTO index, and the corpus has no ThinLTO"
            raise RunError(f"module {name}", what, "make all modules of a corpus by the same kind of build")

    def _claim(self, owner: str, paths: Sequence[str], shared: bool = False) -> None:
        """Notes whose files `paths` are. Claims outlive duplicates, so that no order of calls hides a collision."""
        for path in paths:
            other = self._owners.get(path, owner)
            other = self._folders.get(path, other)
            if path in _RESERVED:
                other = "the corpus itself"
            if other != owner and not shared:
                raise NameRefused(owner, f"its file {path} belongs to {other}", "rename one of them")
            for folder in _folders_of(path):
                if folder in self._owners:
                    wrong = f"its folder {folder} is a file of {self._owners[folder]}"
                    raise NameRefused(owner, wrong, "rename one of them")
        for path in paths:
            self._owners[path] = owner
            for folder in _folders_of(path):
                self._folders.setdefault(folder, owner)

    def _remove_stale_files(self, written: WrittenCorpus) -> None:
        expected = {path for name in written.modules for path in self._added[name].paths} | set(self._copies.values())
        for path in self._files.names(but_not_below=description.DESCRIPTION_NAME):
            ours = path.endswith(_OWN_SUFFIXES) or path.startswith(description.FILES_FOLDER + "/")
            if contained_files.is_partial(path) or (ours and path not in expected):
                self._files.remove(path)
        if not self._has_report:
            self._files.remove(REPORT_NAME)


def _folders_of(path: str) -> Iterator[str]:
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


def _content_digest(bitcode_digest: bytes, recorded: bytes | None, thinlto_index: bytes | None) -> bytes:
    whole = hashlib.sha256(bitcode_digest)
    for part in (recorded, thinlto_index):
        whole.update(b"-" if part is None else b"+" + hashlib.sha256(part).digest())
    return whole.digest()
