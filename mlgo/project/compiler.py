"""The compiler of an installation: where its programs are, what identifies it."""

from __future__ import annotations

import dataclasses
import hashlib
import os
import pathlib

from mlgo.run.exit_codes import RunError

#: Links by lld as GNU ld would, which takes version scripts that name absent symbols.
LLD = ("-fuse-ld=lld", "-Wl,--undefined-version")
#: Relative to the folder of an installation.
_RECORDERS = "lib/mlgo/record"


@dataclasses.dataclass(frozen=True)
class Compiler:
    """An installed compiler.

    Attributes:
      prefix: folder with bin/ and lib/. The path is the user's: build folders that were configured with it keep it.
    """

    prefix: pathlib.Path

    @property
    def bin(self) -> pathlib.Path:
        return self.prefix / "bin"

    @property
    def recorders(self) -> pathlib.Path:
        """The folder with record.sh under the names clang and clang++."""
        return self.prefix / _RECORDERS

    def tool(self, name: str) -> str:
        return str(self.bin / name)

    def digest(self) -> str:
        """sha256 of what clang is made of: of its provenance, or of the program where that is absent."""
        clang = pathlib.Path(os.path.realpath(self.bin / "clang"))
        provenance = clang.parent.parent / "provenance.json"
        digest = hashlib.sha256()
        with open(provenance if provenance.is_file() else clang, "rb") as file:
            while part := file.read(1 << 20):
                digest.update(part)
        return digest.hexdigest()


def compiler_at(prefix: pathlib.Path) -> Compiler:
    """The compiler in `prefix`. Raises: RunError: there is none."""
    found = Compiler(prefix)
    for path in (found.bin / "clang", found.bin / "ld.lld", found.bin / "llvm-ar", found.recorders / "clang"):
        if not os.access(path, os.X_OK):
            wrong = f"holds no compiler: {path.relative_to(prefix)} is not there"
            raise RunError(f"--prefix={prefix}", wrong, "Unpack the archive again, or give the folder above bin/clang")
    return found
