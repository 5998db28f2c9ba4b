"""Compiles units of a build again with more options, and keeps the objects by what they are made of.

What is kept below the folder of the cache: `objects/SHA256.o`, `objects/SHA256.costs` of compiles for an estimate, and
`units/KEY.json` for each compile, with the digests of all files that it read. A compile whose files are unchanged is
not run again, so that a killed run goes on, and a run after an edit compiles what the edit concerns.
"""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
import re
import tempfile
from collections.abc import Mapping
from typing import NamedTuple

from mlgo.corpus.options.driver import named_files
from mlgo.project import child
from mlgo.project.command_line import Compile, Header
from mlgo.project.compiler import Compiler
from mlgo.project.precompiled import Precompiler, headers_of, words_with_headers, words_with_text
from mlgo.run.exit_codes import RunError
from mlgo.run.files import write_error

#: Below the folder of the cache: headers that are precompiled again; of no use after the process.
HEADERS = "scratch/headers"
#: Below the folder of the cache.
OBJECTS = "objects"
_FORMAT = 4
_TAKEN = "-mlgo-decisions-taken"
_COSTS = "-mlgo-executed-cost-file"
_SEARCH = "-mlgo-search="
_NO_COSTS = "clang wrote no executed cost: it has none at -O0, and with -flto, where the link makes the code"
# A prerequisite in a dependency file: blanks and `#` have a backslash before them, `$` is doubled.
_PREREQUISITE = re.compile(r"(?:\\[ #]|[^\s\\]|\\(?!\n))+")


class Compiled(NamedTuple):
    """What a compile gave.

    Attributes:
      object: the object; None: clang refused the command.
      seconds: CPU time, of the compile that made the object.
      reason: why there is no object.
      was_kept: it was not compiled now.
      decisions: the decision file of a search.
      costs: the file of executed costs, of a compile for an estimate.
    """

    object: pathlib.Path | None
    seconds: float
    reason: str = ""
    was_kept: bool = False
    decisions: str = ""
    costs: pathlib.Path | None = None


class Units:
    """Compiles units; safe for several threads.

    Args:
      folder: the cache.
      headers: what the build precompiled -> its command.
      with_costs: whether each compile also writes the executed cost of its functions; without that it has failed.
    """

    def __init__(
        self,
        compiler: Compiler,
        folder: pathlib.Path,
        headers: Mapping[str, Header] | None = None,
        with_costs: bool = False,
    ):
        self._compiler, self._headers, self._with_costs = compiler, headers or {}, with_costs
        self._precompiler = Precompiler(compiler, folder / HEADERS)
        self._identity = compiler.digest()
        self._objects = folder / OBJECTS
        self._entries = folder / "units"
        self._digests: dict[str, str | None] = {}
        #: Output of a unit -> the files that its compile read.
        self.read: dict[str, list[str]] = {}
        self.used: set[pathlib.Path] = set()
        try:
            for each in (self._objects, self._entries):
                each.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise write_error(error, folder) from error

    def compile(self, unit: Compile, flags: tuple[str, ...]) -> Compiled:
        """Compiles a unit with `flags` behind the options of a configuration file, which come first.

        Raises: RunError: the cache cannot be written.
        """
        kept = self.kept(unit, flags)
        if kept is not None:
            return kept
        spellings, seconds = self._spellings(unit, flags)
        made = Compiled(None, 0.0)
        for words in spellings:
            made = self._run(unit, words, flags, seconds)
            if made.object is not None:
                break
            seconds = made.seconds
        return made

    def _spellings(self, unit: Compile, flags: tuple[str, ...]) -> tuple[list[tuple[str, ...]], float]:
        """The words with precompiled headers, and with their text; and the CPU seconds that the headers took."""
        made = {header: self._precompiler.precompile(header, flags) for header in headers_of(unit, self._headers)}
        paths = {header.output: one.path for header, one in made.items() if one.path}
        found = [words_with_headers(unit, paths)] if made and len(paths) == len(made) else []
        return [*found, words_with_text(unit, self._headers)], sum(one.seconds for one in made.values())

    def _run(self, unit: Compile, words: tuple[str, ...], flags: tuple[str, ...], before: float) -> Compiled:
        """A compile with these words. Args: before: CPU seconds that the unit has taken already."""
        with tempfile.TemporaryDirectory(dir=self._objects, prefix=".compile.") as scratch:
            made = pathlib.Path(scratch, "unit.o")
            config = pathlib.Path(scratch, "unit.cfg")
            written = [*([_TAKEN] if _searches(flags) else ()), *([_COSTS] if self._with_costs else ())]
            more = [f"-mllvm {quoted(f'{option}={_file_of(option, made)}')}" for option in written]
            config.write_text("\n".join([*flags, *more]) + "\n", encoding="utf-8", errors="surrogateescape")
            command = [self._compiler.tool(unit.tool), f"--config={config}", *words, "-c", "-o", str(made)]
            ended = child.run([*command, "-MD", "-MF", f"{scratch}/unit.d", "-Wno-everything"], unit.directory)
            seconds = before + ended.seconds
            if ended.code or not made.is_file():
                return Compiled(None, seconds, ended.reason)
            if self._with_costs and not _file_of(_COSTS, made).is_file():
                return Compiled(None, seconds, _NO_COSTS)
            return self._keep(self._entry(unit, flags), unit, made, seconds)

    def kept(self, unit: Compile, flags: tuple[str, ...]) -> Compiled | None:
        """What an earlier compile of the same files gave; None: there was none."""
        return self._kept(self._entry(unit, flags), unit.output)

    def _entry(self, unit: Compile, flags: tuple[str, ...]) -> pathlib.Path:
        words = words_with_text(unit, self._headers)
        text = json.dumps([_FORMAT, self._identity, unit.tool, unit.directory, words, flags, self._with_costs])
        return self._entries / f"{hashlib.sha256(text.encode('utf-8', 'surrogateescape')).hexdigest()}.json"

    def _keep(self, entry: pathlib.Path, unit: Compile, made: pathlib.Path, seconds: float) -> Compiled:
        """Keeps the object `made`; `unit.d` and what the compile wrote besides are beside it."""
        listing, taken, costs = made.with_suffix(".d"), _file_of(_TAKEN, made), _file_of(_COSTS, made)
        # A source that was preprocessed before has no such file.
        listed = prerequisites(_text(listing)) if listing.exists() else []
        # Profiles and lists of functions are not among the prerequisites.
        named = map(str, named_files(unit.words, unit.directory))
        read = [unit.source, *(os.path.join(unit.directory, name) for name in listed), *named]
        digests = {name: self.digest(name) for name in dict.fromkeys(map(os.path.normpath, read))}
        self.read[unit.output] = list(digests)
        try:
            target = self._moved(made, ".o")
            costs_kept = self._moved(costs, ".costs") if costs.exists() else None
            content = {
                "object": target.name,
                "seconds": seconds,
                "read": digests,
                "decisions": _text(taken) if taken.exists() else "",
                "costs": costs_kept.name if costs_kept else "",
            }
            partial = made.with_name("entry")
            partial.write_text(json.dumps(content, sort_keys=True), encoding="utf-8", errors="surrogateescape")
            os.replace(partial, entry)
        except OSError as error:
            raise write_error(error, entry) from error
        self.used |= {entry, target, *([costs_kept] if costs_kept else ())}
        return Compiled(target, seconds, decisions=str(content["decisions"]), costs=costs_kept)

    def _moved(self, made: pathlib.Path, suffix: str) -> pathlib.Path:
        """The file under the digest of its content."""
        target = self._objects / f"{hashlib.sha256(made.read_bytes()).hexdigest()}{suffix}"
        os.replace(made, target)
        return target

    def _kept(self, entry: pathlib.Path, output: str) -> Compiled | None:
        try:
            content = json.loads(entry.read_text(encoding="utf-8", errors="surrogateescape"))
            target = self._objects / content["object"]
            costs = self._objects / content["costs"] if content["costs"] else None
            files = [target, *([costs] if costs else ())]
            if not all(file.is_file() for file in files):
                return None
            if any(self.digest(name) != digest for name, digest in content["read"].items()):
                return None
            self.used |= {entry, *files}
            self.read[output] = list(content["read"])
            return Compiled(target, float(content["seconds"]), "", True, str(content["decisions"]), costs)
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None

    def digest(self, path: str) -> str | None:
        """sha256 of a file, read once; None: it is not there."""
        if path not in self._digests:
            try:
                self._digests[path] = hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()
            except OSError:
                self._digests[path] = None
        return self._digests[path]

    def remove_unused(self) -> None:
        """Deletes what no compile since the start of this process made or used."""
        for folder in (self._objects, self._entries):
            for path in folder.iterdir():
                if path not in self.used and path.is_file():
                    path.unlink()


def prerequisites(text: str) -> list[str]:
    """The files that a dependency file of make names behind the first colon."""
    _, _, rest = text.replace("\\\n", " ").partition(": ")
    return [re.sub(r"\\([ #])", r"\1", name).replace("$$", "$") for name in _PREREQUISITE.findall(rest)]


def _text(path: pathlib.Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError as error:
        raise RunError(str(path), "was not written by clang", "Free space and start again") from error


def _file_of(option: str, made: pathlib.Path) -> pathlib.Path:
    """The file that an option of a compile is told to write, beside its object."""
    return made.with_name({_TAKEN: "decisions", _COSTS: "costs"}[option])


def _searches(flags: tuple[str, ...]) -> bool:
    return any(_SEARCH in flag for flag in flags)


def quoted(word: str) -> str:
    """A word of a configuration file or a response file."""
    return '"' + word.replace("\\", "\\\\").replace('"', '\\"') + '"'
