"""The files that the linker reads for a program besides its objects: start files, libgcc, the C and C++ libraries."""

import os
import pathlib
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence

from mlgo.run import child

_SECONDS = 60
#: What no linker script begins with: ELF files, archives, thin archives.
_MAGICS = (b"\x7fELF", b"!<arch>\n", b"!<thin>\n")
_MOST_SCRIPT_BYTES = 1 << 16
#: A name in GROUP, INPUT or AS_NEEDED of a linker script.
_NAME = re.compile(r"[^\s(),]+")


def linked_files(command: Sequence[str], directory: pathlib.Path, sysroot: pathlib.Path | None) -> list[pathlib.Path]:
    """The files, in the order of the link.

    Args: command: of the compiler's driver, with -### and without objects; directory: where it runs.
    Returns: none where the driver cannot be asked; then it cannot link either.
    """
    try:
        said = child.run(command, directory, _SECONDS, environment={"PATH": os.defpath}).messages
    except child.NotRun:
        return []
    lines = [line for line in said.splitlines() if line.startswith(' "')]
    words = shlex.split(lines[-1])[1:] if lines else []
    folders = [directory / word[2:] for word in words if word.startswith("-L")]
    found: dict[pathlib.Path, None] = {}
    pending = words
    while pending:
        for path in _named(pending.pop(0), directory, folders):
            if path not in found:
                found[path] = None
                pending += _in_script(path, sysroot)
    return list(found)


def _named(word: str, directory: pathlib.Path, folders: Iterable[pathlib.Path]) -> Iterator[pathlib.Path]:
    if word.startswith("-l"):
        name = word[3:] if word.startswith("-l:") else f"lib{word[2:]}.a"
        yield from (path for folder in folders if (path := folder / name).is_file())
    elif not word.startswith("-") and (path := directory / word).is_file():
        yield path


def _in_script(path: pathlib.Path, sysroot: pathlib.Path | None) -> list[str]:
    """The files that a linker script names: Debian's libm.a is one."""
    with open(path, "rb") as file:
        content = file.read(_MOST_SCRIPT_BYTES)
    if content.startswith(_MAGICS):
        return []
    names = _NAME.findall(content.decode("utf-8", "replace"))
    # lld takes absolute names of a script in the sysroot as names in the sysroot.
    below = [f"{sysroot}{name}" for name in names if name.startswith("/")] if sysroot is not None else []
    return [*names, *below, *(str(path.parent / name) for name in names if "/" not in name)]
