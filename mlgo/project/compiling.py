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
from typing import Any, NamedTuple

from mlgo.corpus.options.driver import named_files
from mlgo.project import steps
from mlgo.project.command_line import Compile, Header
from mlgo.project.compiler import Compiler, digest_of, quoted
from mlgo.project.precompiled import Precompiler, headers_of, words_with_headers, words_with_text
from mlgo.run.exit_codes import RunError
from mlgo.run.files import parse_json, write_error
from mlgo.run.regular_file import read_regular

#: Below the folder of the cache.
OBJECTS = "objects"
_FORMAT = 4
_SEARCH = "-mlgo-search="
# What a compile is told to write beside its object: name of the file -> option.
_WRITTEN = {"decisions": "-mlgo-decisions-taken", "costs": "-mlgo-executed-cost-file"}
_NO_COSTS = "clang wrote no executed cost: it has none at -O0, and with -flto, where the link makes the code"
# A prerequisite in a dependency file: blanks and `#` have a backslash before them, `$` is doubled.
_PREREQUISITE = re.compile(r"(?:\\[ #]|[^\s\\]|\\(?!\n))+")


class Compiled(NamedTuple):
    """What a compile gave."""

    object: pathlib.Path | None  #: None: clang refused the command.
    seconds: float  #: CPU time, of the compile that made the object.
    reason: str = ""  #: why there is no object.
    decisions: str = ""  #: the decision file of a search.
    costs: pathlib.Path | None = None  #: the file of executed costs, of a compile for an estimate.


class Units:
    """Compiles units; safe for several threads.

    Args: folder: the cache. headers: what the build precompiled -> its command. with_costs: each compile also writes
      the executed cost of its functions; without that it has failed.
    """

    def __init__(
        self, compiler: Compiler, folder: pathlib.Path, headers: Mapping[str, Header], with_costs: bool = False
    ):
        self._compiler, self._headers, self._with_costs = compiler, headers, with_costs
        # Headers are of no use after the process.
        self._precompiler = Precompiler(compiler, folder / "scratch/headers")
        self._identity = compiler.digest()
        self._objects, self._entries = folder / OBJECTS, folder / "units"
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
        """Compiles a unit with `flags` before its own words. Raises: RunError: the cache cannot be written."""
        kept = self.kept(unit, flags)
        if kept is not None:
            return kept
        headers = {header: self._precompiler.precompile(header, flags) for header in headers_of(unit, self._headers)}
        seconds = sum(spent for _, spent in headers.values())
        paths = {header.output: path for header, (path, _) in headers.items() if path}
        if headers and len(paths) == len(headers):
            made = self._run(unit, words_with_headers(unit, paths), flags, seconds)
            if made.object is not None:
                return made
            seconds = made.seconds
        return self._run(unit, words_with_text(unit, self._headers), flags, seconds)

    def _run(self, unit: Compile, words: tuple[str, ...], flags: tuple[str, ...], before: float) -> Compiled:
        """A compile with these words. Args: before: CPU seconds that the unit has taken already."""
        asked = ["decisions"] if any(_SEARCH in flag for flag in flags) else []
        asked += ["costs"] if self._with_costs else []
        with tempfile.TemporaryDirectory(dir=self._objects, prefix=".compile.") as scratch:
            folder = pathlib.Path(scratch)
            more = [f"-mllvm {quoted(f'{_WRITTEN[name]}={folder / name}')}" for name in asked]
            words = (*words, "-c", "-o", f"{folder}/unit.o", "-MD", "-MF", f"{folder}/unit.d", "-Wno-everything")
            command = self._compiler.command(unit.tool, folder / "unit.cfg", [*flags, *more], *words)
            ended = steps.run(command, unit.directory)
            seconds = before + ended.seconds
            if ended.code or not (folder / "unit.o").is_file():
                return Compiled(None, seconds, ended.reason)
            if self._with_costs and not (folder / "costs").is_file():
                return Compiled(None, seconds, _NO_COSTS)
            return self._keep(self._entry(unit, flags), unit, folder, seconds)

    def _entry(self, unit: Compile, flags: tuple[str, ...]) -> pathlib.Path:
        words = words_with_text(unit, self._headers)
        text = json.dumps([_FORMAT, self._identity, unit.tool, unit.directory, words, flags, self._with_costs])
        return self._entries / f"{hashlib.sha256(text.encode('utf-8', 'surrogateescape')).hexdigest()}.json"

    def _keep(self, entry: pathlib.Path, unit: Compile, folder: pathlib.Path, seconds: float) -> Compiled:
        """Keeps what a compile wrote to `folder`."""
        # A source that was preprocessed before has no list of what it reads, and no costs.
        listed = prerequisites(_text(folder / "unit.d"))
        # Profiles and lists of functions are not among the prerequisites.
        named = map(str, named_files(unit.words, unit.directory))
        read = [unit.source, *(os.path.join(unit.directory, name) for name in listed), *named]
        decisions = _text(folder / "decisions")
        try:
            content = {
                "object": self._moved(folder / "unit.o", ".o"),
                "seconds": seconds,
                "read": {name: self._digest(name) for name in dict.fromkeys(map(os.path.normpath, read))},
                "decisions": decisions,
                "costs": self._moved(folder / "costs", ".costs") if (folder / "costs").exists() else "",
            }
            partial = folder / "entry"
            partial.write_text(json.dumps(content, sort_keys=True), encoding="utf-8", errors="surrogateescape")
            os.replace(partial, entry)
        except OSError as error:
            raise write_error(error, entry) from error
        return self._compiled(entry, unit, content)

    def _moved(self, made: pathlib.Path, suffix: str) -> str:
        """Moves a file; its new name, of the digest of its content."""
        name = f"{hashlib.sha256(made.read_bytes()).hexdigest()}{suffix}"
        os.replace(made, self._objects / name)
        return name

    def kept(self, unit: Compile, flags: tuple[str, ...]) -> Compiled | None:
        """What an earlier compile of the same files gave; None: there was none."""
        entry = self._entry(unit, flags)
        try:
            content = parse_json(read_regular(entry), entry.name, "Remove it")
            if any(self._digest(name) != digest for name, digest in content["read"].items()):
                return None
            return self._compiled(entry, unit, content)
        except (RunError, OSError, ValueError, KeyError, TypeError, AttributeError):
            return None

    def _compiled(self, entry: pathlib.Path, unit: Compile, content: dict[str, Any]) -> Compiled:
        """What an entry holds. Raises: ValueError, KeyError, TypeError: it, or a file of it, is damaged or gone."""
        files = [self._objects / content[name] for name in ("object", "costs") if content[name]]
        if any(digest_of(file) != file.stem for file in files):
            raise ValueError("a file is gone, or has other content than its name says")
        self.used |= {entry, *files}
        self.read[unit.output] = list(content["read"])
        made, costs = [*files, None][:2]
        return Compiled(made, float(content["seconds"]), decisions=str(content["decisions"]), costs=costs)

    def _digest(self, path: str) -> str | None:
        """As `digest_of`, read once."""
        if path not in self._digests:
            self._digests[path] = digest_of(path)
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
    """What clang wrote; "": nothing."""
    try:
        return path.read_text(encoding="utf-8", errors="surrogateescape")
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise RunError(str(path), "was not written by clang", "Free space and start again") from error
