"""Keeps every pinned archive in a directory which later builds accept as a mirror.

Example:
  ./bazelw run //third_party/debian:mirror -- /srv/mlgo-archives
  MLGO_DEBIAN_MIRRORS=/srv/mlgo-archives ./bazelw build //development:clang

The directory has a mirror's own layout (pool/...), so that it can be served over HTTP too. Files that are there already are
verified, not fetched again. Exit code 1 when an archive could not be had; all others are in place then.
"""

import argparse
import os
import pathlib
import shutil
import sys
from typing import Mapping

import fetch
import lockfile
import mirrors


def mirror(lock: lockfile.Lock, directory: pathlib.Path, environ: Mapping[str, str]) -> int:
    """Completes `directory`; returns how many archives were copied into it.

    Raises:
        fetch.FetchError: an archive that no mirror has.
    """
    missing = [entry for entry in lock.all_entries() if not _is_in_place(directory / entry.path, entry)]
    archives = fetch.fetch_with_environment(missing, environ)
    for entry in missing:
        target = directory / entry.path
        target.parent.mkdir(parents=True, exist_ok=True)
        partial = target.with_name(target.name + ".part")
        shutil.copyfile(archives[entry], partial)
        os.replace(partial, target)
    return len(missing)


def _is_in_place(path: pathlib.Path, entry: lockfile.Entry) -> bool:
    return path.is_file() and path.stat().st_size == entry.size and fetch.sha256_of(path) == entry.sha256


def main(arguments=None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", metavar="DIR", help="made if needed")
    options = parser.parse_args(arguments)
    # `bazel run` starts programs elsewhere; a relative DIR means the user's folder.
    directory = pathlib.Path(os.environ.get("BUILD_WORKING_DIRECTORY", "."), options.directory)
    try:
        lock = lockfile.load(pathlib.Path(__file__).with_name("lock.json"))
        copied = mirror(lock, directory, os.environ)
    except (fetch.FetchError, lockfile.LockError, mirrors.MirrorError) as error:
        print(f"mirror: {error}", file=sys.stderr)
        return 1
    total = lock.all_entries()
    print(f"mirror: {copied} archives copied, {len(total)} in place, {sum(e.size for e in total) / 1e6:.0f} MB -> {directory}",
          file=sys.stderr)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
