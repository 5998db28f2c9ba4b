"""Copies every pinned archive into a directory that later builds accept as a mirror.

Example:
  ./bazelw run //third_party/debian:mirror -- /srv/mlgo-archives     # for compilers, corpora and tests
  ./bazelw run //third_party/chromium:mirror -- /srv/mlgo-archives   # Chromium's source, 950 MB
  MLGO_DEBIAN_MIRRORS=/srv/mlgo-archives ./bazelw build //development:clang

The directory has the layout of a mirror (pool/...), so that it can also be served over HTTP. Files in it are verified
and not fetched again. Exit code 1 when an archive is missing everywhere; all others are in place then.
"""

import argparse
import os
import pathlib
import shutil
import sys
from typing import Mapping, Sequence

import digests
import fetch
import lockfile
import mirrors


def mirror(entries: Sequence[lockfile.Entry], directory: pathlib.Path, environ: Mapping[str, str]) -> int:
    """Completes `directory`; returns how many archives were copied into it.

    Raises:
        fetch.FetchError: an archive that no mirror has, after all others were copied; or the directory cannot be
        written.
    """
    missing = [entry for entry in entries if not _is_in_place(directory / entry.path, entry)]
    failure = None
    cache = digests.default_cache(environ)
    try:
        archives = fetch.fetch_with_environment(missing, environ)
    except fetch.FetchError as error:
        failure = error
        found = [entry for entry in missing if entry not in error.entries] if error.entries else []
        archives = {entry: cache / entry.sha256 for entry in found if (cache / entry.sha256).is_file()}
    try:
        for entry, archive in archives.items():
            # Upstream's own packing of a source has another digest, by which places.py finds it again.
            target = directory / (entry.path if archive.name == entry.sha256 else archive.name)
            target.parent.mkdir(parents=True, exist_ok=True)
            partial = target.with_name(target.name + ".part")
            shutil.copyfile(archive, partial)
            os.replace(partial, target)
    except OSError as error:
        raise fetch.DiskError(
            f"{directory}: cannot be written ({error.strerror or error}). Free the disk or name another "
            "directory; what is in place stays"
        ) from None
    if failure:
        raise failure
    return len(archives)


def _is_in_place(path: pathlib.Path, entry: lockfile.Entry) -> bool:
    return path.is_file() and digests.wrong_bytes(entry, path) is None


def run(entries: Sequence[lockfile.Entry], arguments=None, description: str = __doc__) -> int:
    """The command for these archives; returns its exit code."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", metavar="DIR", help="directory of the archives; created if needed")
    options = parser.parse_args(arguments)
    # `bazel run` starts programs elsewhere; a relative DIR means the user's folder.
    directory = pathlib.Path(os.environ.get("BUILD_WORKING_DIRECTORY", "."), options.directory)
    try:
        copied = mirror(entries, directory, os.environ)
    except (fetch.FetchError, mirrors.MirrorError) as error:
        print(f"mirror: {error}", file=sys.stderr)
        return 1
    megabytes = sum(entry.size for entry in entries) / 1e6
    print(
        f"mirror: {copied} archives copied, {len(entries)} in place, {megabytes:.0f} MB -> {directory}", file=sys.stderr
    )
    return 0


def main(arguments=None) -> int:
    try:
        entries = lockfile.load(pathlib.Path(__file__).with_name("lock.json")).all_entries()
    except lockfile.LockError as error:
        print(f"mirror: {error}", file=sys.stderr)
        return 1
    return run(entries, arguments)


if __name__ == "__main__":
    raise SystemExit(main())
