"""Writes a wheel: modules and data with their paths, and the metadata that pip reads. Equal inputs give equal bytes."""

import argparse
import base64
import hashlib
import pathlib
import stat
import sys
import zipfile
from collections.abc import Mapping, Sequence

#: The first date that a zip archive can have.
_DATE = (1980, 1, 1, 0, 0, 0)


def metadata(name: str, version: str, python: str, requires: Sequence[str]) -> str:
    """The file METADATA (core metadata 2.1)."""
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {name}",
        f"Version: {version}",
        "Summary: Environments, corpora and evaluation of machine-learned compiler optimisation, for any clang 22",
        "License: Apache-2.0 WITH LLVM-exception",
        f"Requires-Python: {python}",
        *(f"Requires-Dist: {requirement}" for requirement in requires),
    ]
    return "\n".join(lines) + "\n"


def write(output: pathlib.Path, members: Mapping[str, pathlib.Path], texts: Mapping[str, str], record: str) -> None:
    """Writes the archive.

    Args:
      members: path in the wheel -> file; programs are executable.
      texts: path in the wheel -> its content.
      record: path of the RECORD, which is written last.
    """
    contents = [(path, file.read_bytes()) for path, file in sorted(members.items())]
    contents += [(path, text.encode()) for path, text in sorted(texts.items())]
    rows = [f"{path},sha256={_digest(content)},{len(content)}\n" for path, content in contents]
    with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in [*contents, (record, "".join([*rows, f"{record},,\n"]).encode())]:
            entry = zipfile.ZipInfo(path, _DATE)
            # Bazel makes every output executable: only programs are.
            entry.external_attr = (stat.S_IFREG | (0o755 if content.startswith(b"\x7fELF") else 0o644)) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)


def _digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(fromfile_prefix_chars="@")
    for name in ("--name", "--version", "--python", "--tag"):
        parser.add_argument(name, required=True)
    parser.add_argument("--requires", action="append", default=[])
    parser.add_argument("--script", action="append", default=[], help="name=module:function")
    parser.add_argument("--member", action="append", default=[], help="path=file")
    parser.add_argument("--licence", type=pathlib.Path, required=True)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    flags = parser.parse_args(arguments)
    information = f"{flags.name}-{flags.version}.dist-info"
    scripts = [text.replace("=", " = ", 1) for text in sorted(flags.script)]
    texts = {
        f"{information}/METADATA": metadata(flags.name, flags.version, flags.python, flags.requires),
        f"{information}/WHEEL": f"Wheel-Version: 1.0\nGenerator: mlgo\nRoot-Is-Purelib: false\nTag: {flags.tag}\n",
        f"{information}/entry_points.txt": "\n".join(["[console_scripts]", *scripts, ""]),
    }
    members = {path: pathlib.Path(file) for path, _, file in (text.partition("=") for text in flags.member)}
    write(flags.output, members | {f"{information}/LICENSE": flags.licence}, texts, f"{information}/RECORD")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
