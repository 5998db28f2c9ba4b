"""Reads a corpus directory: which modules it holds, their bitcode, their recorded commands, one digest over all."""

import dataclasses
import functools
import hashlib
import os
import pathlib
import re

from mlgo.run import files
from mlgo.run.exit_codes import ExitCode, RunError

DESCRIPTION_NAME = "corpus_description.json"

# A cc1 command of LLVM's own build is below 20 KB; this leaves room for long macro lists and still fits in memory.
MAX_COMMAND_BYTES = 16 * 1024 * 1024

_REMEDY = "make the corpus again, or give another directory"
# Names become paths below the corpus directory, so they must not lead out of it.
_UNSAFE_NAME = re.compile(r"(^/)|(^|/)\.\.?(/|$)|//|\x00|^$|/$")


class CorpusError(RunError):
    """A corpus cannot be used; the message says which file, what is wrong with it, what to do."""


@dataclasses.dataclass(frozen=True)
class Module:
    """One translation unit.

    Attributes:
      name: stable name, a relative path such as llvm/lib/Support/APInt.cpp.
      bitcode_path: the .bc file.
      command: the recorded cc1 arguments, without program name, input and output.
    """

    name: str
    bitcode_path: pathlib.Path
    command: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Corpus:
    """A corpus whose files were all present when it was loaded; `modules` is sorted by name."""

    directory: pathlib.Path
    modules: tuple[Module, ...]

    @functools.cached_property
    def digest(self) -> str:
        """sha256 (hex) over names, commands and bitcode of all modules; where the corpus lies does not matter."""
        whole = hashlib.sha256()
        for module in self.modules:
            with open(module.bitcode_path, "rb") as bitcode:
                bitcode_digest = hashlib.file_digest(bitcode, "sha256").digest()
            command = "\0".join(module.command).encode("utf-8", "surrogateescape")
            for part in (module.name.encode("utf-8", "surrogateescape"), command, bitcode_digest):
                whole.update(len(part).to_bytes(8, "little"))
                whole.update(part)
        return whole.hexdigest()

    def select(self, names: list[str]) -> "Corpus":
        """The corpus with only the modules in `names`.

        Raises: CorpusError: a name is not in the corpus.
        """
        wanted = set(names)
        unknown = sorted(wanted - {module.name for module in self.modules})
        if unknown:
            raise CorpusError(f"corpus {self.directory}", f"has no module {unknown[0]!r}", "check the names asked for")
        return Corpus(self.directory, tuple(module for module in self.modules if module.name in wanted))

    @staticmethod
    def load(directory: str | os.PathLike[str]) -> "Corpus":
        """Loads the corpus in `directory`; bitcode stays on disk.

        Raises:
          CorpusError: the description is missing or not as described in README.md, no module is listed, a name is
            listed twice or leads out of the directory, or a .bc or .cmd file is missing or empty.
        """
        directory = pathlib.Path(directory)
        description_path = directory / DESCRIPTION_NAME
        try:
            description = files.read_json(description_path, "the corpus description", _REMEDY)
        except RunError as error:
            raise CorpusError(error.read, error.wrong, error.remedy) from error
        names = _module_names(description, description_path)
        modules = tuple(_load_module(directory, name) for name in sorted(names))
        return Corpus(directory, modules)


def _module_names(description: object, path: pathlib.Path) -> list[str]:
    if not isinstance(description, dict) or not isinstance(description.get("modules"), list):
        raise CorpusError(f"{path}", 'is not an object with a list "modules"', _REMEDY)
    if description.get("has_thinlto"):
        raise CorpusError(f"{path}", "describes a ThinLTO corpus, which this version cannot compile", "make it without ThinLTO")
    if description.get("global_command_override"):
        raise CorpusError(
            f"{path}", "overrides all commands (global_command_override), which this version cannot do",
            "record a command per module (-Xclang -fembed-bitcode=all)",
        )
    names = description["modules"]
    if not names:
        raise CorpusError(f"{path}", "lists no module", _REMEDY, ExitCode.NOTHING_PRODUCED)
    seen = set()
    for name in names:
        if not isinstance(name, str) or _UNSAFE_NAME.search(name):
            raise CorpusError(f"{path}", f"lists {name!r}, which is not a relative path inside the corpus", _REMEDY)
        if name in seen:
            raise CorpusError(f"{path}", f"lists {name!r} twice", _REMEDY)
        seen.add(name)
    return names


def _load_module(directory: pathlib.Path, name: str) -> Module:
    bitcode_path = directory / f"{name}.bc"
    command_path = directory / f"{name}.cmd"
    for path, limit in ((bitcode_path, None), (command_path, MAX_COMMAND_BYTES)):
        try:
            size = path.stat().st_size
        except OSError as error:
            raise CorpusError(f"module {name}: {path}", f"cannot be read: {error.strerror}", _REMEDY) from error
        if size == 0:
            raise CorpusError(f"module {name}: {path}", "is empty", _REMEDY)
        if limit is not None and size > limit:
            raise CorpusError(f"module {name}: {path}", f"has {size} bytes, more than the {limit} allowed", _REMEDY)
    return Module(name, bitcode_path, split_command(command_path.read_bytes()))


def split_command(recorded: bytes) -> tuple[str, ...]:
    """The arguments in a .cmd file (a .llvmcmd section): NUL after each; bytes that are not UTF-8 survive."""
    return tuple(os.fsdecode(part) for part in recorded.removesuffix(b"\0").split(b"\0"))


def join_command(command: tuple[str, ...]) -> bytes:
    """The inverse of `split_command`."""
    return b"".join(os.fsencode(part) + b"\0" for part in command)
