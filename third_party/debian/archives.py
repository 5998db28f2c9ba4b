"""What `debian.archives` runs: fetches pinned packages and puts them, as they are, into the current directory.

Reads one JSON object on standard input: {"entries": [lock entries with their `name`]}. Each becomes NAME.deb.
Exit code 1 and one line on standard error when it cannot be done.
"""

import json
import os
import pathlib
import shutil
import sys

import fetch
import lockfile
import mirrors


def place(request: dict, folder: pathlib.Path) -> None:
    """Carries out one request (see the module's docstring) in `folder`."""
    entries = [lockfile.Entry(**fields) for fields in request["entries"]]
    for entry, archive in fetch.fetch_with_environment(entries, os.environ).items():
        shutil.copyfile(archive, folder / f"{entry.name}.deb")


def main() -> int:
    try:
        place(json.load(sys.stdin), pathlib.Path.cwd())
    except (fetch.FetchError, lockfile.LockError, mirrors.MirrorError) as error:
        print(f"debian: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(
            f"debian: {error.filename or 'the output base'}: {error.strerror}; free space or mend permissions and run again",
            file=sys.stderr,
        )
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
