"""Run by `debian.archives`: fetches pinned packages and links or copies them into the current directory.

Reads one JSON object on standard input: {"entries": [lock entries with their `name`]}. Each becomes NAME.deb.
An error gives exit code 1 and one line on standard error.
"""

import os
import pathlib
import shutil

import fetch
import lockfile
import tree


def place(request: dict, folder: pathlib.Path) -> None:
    """Carries out one request (see the module's docstring) in `folder`."""
    entries = [lockfile.Entry(**fields) for fields in request["entries"]]
    for entry, archive in fetch.fetch_with_environment(entries, os.environ).items():
        target = folder / f"{entry.name}.deb"
        try:
            os.link(archive, target)
        except OSError:  # The cache is on another file system, or the archive another user's.
            shutil.copyfile(archive, target)


if __name__ == "__main__":
    raise SystemExit(tree.run(place))
