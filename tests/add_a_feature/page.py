"""The changes of docs/add-a-feature.md, on files: `page.py PAGE SOURCE... FOLDER` writes changed copies to FOLDER.

A change stands below the name of its file, in a block whose lines begin with a space, a + or a -.
"""

import pathlib
import re
import sys
from collections.abc import Mapping

_CHANGE = re.compile(r"^`([^`]+/[^`]+)`:\n\n((?:    [ +-].*\n)+)", re.MULTILINE)


def changed(page: str, files: Mapping[str, str]) -> dict[str, str]:
    """The files with all changes of the page.

    Args: files: path in the workspace -> text, of every file that the page changes.

    Raises: ValueError: the page changes another file, or a place is not there exactly once.
    """
    found = dict(files)
    changes = _CHANGE.findall(page)
    if {name for name, _ in changes} != set(files):
        raise ValueError(f"the page changes {sorted({name for name, _ in changes})}, not {sorted(files)}")
    for name, block in changes:
        lines = [line[4:] for line in block.splitlines()]
        old, new = ("".join(line[1:] + "\n" for line in lines if line[0] in kept) for kept in (" -", " +"))
        if found[name].count(old) != 1:
            raise ValueError(f"{name}: has these lines {found[name].count(old)} times:\n{old}")
        found[name] = found[name].replace(old, new)
    return found


def main(page: str, *rest: str) -> None:
    """Writes the changed copies, each named after its file."""
    *sources, folder = rest
    files = {source: pathlib.Path(source).read_text(encoding="utf-8") for source in sources}
    for name, text in changed(pathlib.Path(page).read_text(encoding="utf-8"), files).items():
        pathlib.Path(folder, pathlib.Path(name).name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
