"""The compiler of an installation: where its programs are, what identifies it, how they are given options."""

from __future__ import annotations

import dataclasses
import hashlib
import os
import pathlib
from collections.abc import Iterable
from typing import IO

from mlgo.run.exit_codes import RunError
from mlgo.run.regular_file import open_regular

#: Links by lld as GNU ld would, which takes version scripts that name absent symbols.
LLD = ("-fuse-ld=lld", "-Wl,--undefined-version")
# Bytes of a command line; Linux refuses a single word of 128 KiB and a few MB in all.
_LONGEST_COMMAND = 100_000


@dataclasses.dataclass(frozen=True)
class Compiler:
    """An installed compiler."""

    #: Folder with bin/ and lib/. The path is the user's: build folders that were configured with it keep it.
    prefix: pathlib.Path

    @property
    def bin(self) -> pathlib.Path:
        return self.prefix / "bin"

    @property
    def recorders(self) -> pathlib.Path:
        """The folder with record.sh under the names clang and clang++."""
        return self.prefix / "lib/mlgo/record"

    def tool(self, name: str) -> str:
        return str(self.bin / name)

    def command(self, tool: str, config: pathlib.Path, flags: Iterable[str], *words: str) -> list[str]:
        """A command of clang with `flags` before its own words, from a configuration file written to `config`."""
        write_lines(config, flags)
        return shortened([self.tool(tool), f"--config={config}", *words], config.with_suffix(".response"))

    def digest(self) -> str | None:
        """sha256 of what clang is made of: of its provenance, or of the program where that is absent."""
        clang = pathlib.Path(os.path.realpath(self.bin / "clang"))
        provenance = clang.parent.parent / "provenance.json"
        return digest_of(provenance if provenance.is_file() else clang)


def compiler_at(prefix: pathlib.Path) -> Compiler:
    """The compiler in `prefix`. Raises: RunError: there is none."""
    found = Compiler(prefix)
    for path in (found.bin / "clang", found.bin / "ld.lld", found.bin / "llvm-ar", found.recorders / "clang"):
        if not os.access(path, os.X_OK):
            wrong = f"holds no compiler: {path.relative_to(prefix)} is not there"
            raise RunError(f"--prefix={prefix}", wrong, "Unpack the archive again, or give the folder above bin/clang")
    return found


def digest_of(path: str | os.PathLike[str]) -> str | None:
    """sha256 of a regular file; None: it cannot be read."""
    try:
        with open_regular(path) as descriptor, open(descriptor, "rb", closefd=False) as file:
            return digest_of_open(file)
    except OSError:
        return None


def digest_of_open(file: IO[bytes]) -> str:
    """sha256 of what is left of an open file, which may be larger than memory."""
    digest = hashlib.sha256()
    while part := file.read(1 << 20):
        digest.update(part)
    return digest.hexdigest()


def shortened(command: list[str], path: pathlib.Path) -> list[str]:
    """A command, with its words in a response file at `path` where there are too many for a command line."""
    is_long = sum(len(os.fsencode(word)) for word in command) > _LONGEST_COMMAND
    return [command[0], response(path, command[1:])] if is_long else command


def response(path: pathlib.Path, words: Iterable[str]) -> str:
    """Writes a response file; the word that stands for it."""
    write_lines(path, map(quoted, words))
    return f"@{path}"


def write_lines(path: pathlib.Path, lines: Iterable[str]) -> None:
    """Writes a configuration file or a response file."""
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", errors="surrogateescape")


def quoted(word: str) -> str:
    """A word of a configuration file or a response file."""
    return '"' + word.replace("\\", "\\\\").replace('"', '\\"') + '"'
