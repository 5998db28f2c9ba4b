"""Archives as `compiler_tarball` writes them, whose bin/clang is a shell script."""

import io
import pathlib
import tarfile
from collections.abc import Mapping

from mlgo.run.files import encode_json

#: Problem -> digest of its policy.
POLICIES = {"inlining_for_size": "1" * 64, "regalloc_eviction": "2" * 64}
_TOP = "mlgo-clang-22.1.8"


def write(
    path: pathlib.Path,
    said: str = "a compiler",
    policies: Mapping[str, str] = POLICIES,
    named: Mapping[str, str] | None = None,
    exit_code: int = 0,
) -> pathlib.Path:
    """Writes an archive and returns its path.

    Args:
      said: the first line of `clang --version`.
      policies: what provenance.json names; a key "PROBLEM:NAME" is one of several policies for a problem.
      named: what `clang --version` names; None: the same.
      exit_code: of `clang --version`.
    """
    lines = [said, *(f"sha256:{digest[:16]}" for digest in (policies if named is None else named).values())]
    script = "#!/bin/sh\n" + "".join(f"echo '{line}'\n" for line in lines) + f"exit {exit_code}\n"
    entries = [_entry(*key.partition(":")[::2], digest) for key, digest in sorted(policies.items())]
    definition = {
        "externalParameters": {"policies": entries, "backend": "cpp"},
        "internalParameters": {"llvm": "22.1.8"},
    }
    files = {
        "bin/clang": (script.encode(), 0o755),
        "lib/clang/22/include/stdint.h": (b"typedef int x;\n", 0o644),
        "provenance.json": (encode_json({"predicate": {"buildDefinition": definition}}), 0o644),
    }
    with tarfile.open(path, "w") as tar:
        for name, (content, mode) in files.items():
            info = tarfile.TarInfo(f"{_TOP}/{name}")
            info.size, info.mode = len(content), mode
            tar.addfile(info, io.BytesIO(content))
        link = tarfile.TarInfo(f"{_TOP}/bin/llvm-ar")
        link.type, link.linkname = tarfile.SYMTYPE, "clang"
        tar.addfile(link)
    return path


def _entry(problem: str, name: str, digest: str) -> dict[str, str]:
    entry = {"problem": problem, "sha256": digest, "training_run": "seed 1"}
    return {**entry, "name": name} if name else entry
