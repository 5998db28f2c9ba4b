"""Pins Chromium's source in lock.json and prints what changed.

Example:
  ./bazelw run //third_party/chromium:lock                      # Debian's stable version, which stays longest
  ./bazelw run //third_party/chromium:lock -- --list            # available versions
  ./bazelw run //third_party/chromium:lock -- --version=156.0.8078.79-1~deb12u1
  ./bazelw run //third_party/chromium:lock -- --upstream=URL    # upstream's release tarball, chromium-VERSION.tar.xz

Versions are resolved by apt with the archive's signature; no privileges are needed. A listed version may be absent from
the mirrors, so its files are checked. The default is the version of the stable suite, which changes every few months; a
version of the security suite is removed after days. --upstream downloads the tarball (URL may be a file) to compute its
digest. Upstream does not sign it: compare it with the published digest. MODULE.bazel selects the origin.
"""

import argparse
import os
import pathlib
import re
import sys
import tempfile
import time
from typing import Callable, Dict, List, Sequence, Tuple

import chromium_lock

# chromium_lock made third_party/debian importable.
import digests
import fetch
import lockfile
import mirrors
import pace
import resolve
import sources
import versions

_TARBALL = re.compile(r"chromium-(\d+\.\d+\.\d+\.\d+)(?:-lite)?\.tar\.[a-z0-9]+")
# Debian's tarball has 0.95 GB; upstream's holds tests and tools besides. Nothing is pinned yet, so this is the bound.
_MOST_BYTES = 10 * 10**9


def is_there(entry: lockfile.Entry, bases: Sequence[str]) -> bool:
    """Whether a mirror has the file; its bytes are not looked at."""
    for base in bases:
        directory = mirrors.directory(base)
        if directory is not None:
            if (directory / entry.path).is_file():
                return True
            continue
        try:
            with sources.open_url(f"{base}/{entry.path}", 0, fetch.LIMITS.silence_seconds, method="HEAD"):
                return True
        except sources.Failed:
            continue
    return False


def download(url: str, path: pathlib.Path, most_bytes: int = _MOST_BYTES) -> None:
    """Saves what `url` serves.

    Raises:
        Failed: it is not served, too slowly, or larger than `most_bytes`.
    """
    watched, received, last = pace.Pace(fetch.LIMITS, most_bytes), 0, time.monotonic()
    with sources.open_url(url, 0, fetch.LIMITS.silence_seconds) as answer, open(path, "wb") as file:
        for chunk in iter(lambda: answer.read(digests.CHUNK_BYTES), b""):
            file.write(chunk)
            received += len(chunk)
            if max(received, answer.total or 0) > most_bytes:
                raise sources.Failed(sources.Kind.DIFFERENT, f"it has more than {most_bytes} bytes")
            now = time.monotonic()
            reason, last = watched.look(now - last, received), now
            if reason:
                raise sources.Failed(sources.Kind.TEMPORARY, reason)
        if answer.total not in (None, received):
            raise sources.Failed(sources.Kind.TEMPORARY, f"cut off after {received} of {answer.total} bytes")


def present(archive: versions.Archive, there: Callable[[lockfile.Entry], bool]) -> List[Tuple[str, str]]:
    """(version, suite) of each listed version whose tarballs a mirror has, oldest first."""
    return [
        (version, suite) for version, suite in archive.versions() if all(map(there, archive.entries(version, suite)))
    ]


def longest_lasting(found: Sequence[Tuple[str, str]]) -> Tuple[str, str]:
    """The version of the first suite of versions.SUITES that has one; the newest there."""
    return min(reversed(found), key=lambda pair: versions.SUITES.index(pair[1]))


def pin_debian(
    archive: versions.Archive, there: Callable[[lockfile.Entry], bool], version: str
) -> chromium_lock.Origin:
    """The entry of `version`, or of the version that lasts longest if "".

    Raises:
        LockError: the version is not there; names those that are.
    """
    found = present(archive, there)
    names = [name for name, _ in found]
    if not found:
        raise lockfile.LockError(
            chromium_lock.gone(version or "(any version)", "no file of any listed version is on them", names)
        )
    if not version:
        version, suite = longest_lasting(found)
    elif version in names:
        suite = dict(found)[version]
    else:
        raise lockfile.LockError(chromium_lock.gone(version, "no mirror lists it with its files", names))
    source, packaging = archive.entries(version, suite)
    return chromium_lock.Origin(version, source, packaging)


def pin_upstream(url: str, scratch: pathlib.Path) -> chromium_lock.Origin:
    """The entry of a release tarball at `url`, an address or a path. It is downloaded for its digest.

    Raises:
        LockError: the name is no release's, or it cannot be had.
    """
    base, _, name = url.rpartition("/")
    match = _TARBALL.fullmatch(name)
    if not match or not base:
        raise lockfile.LockError(
            f"--upstream={url}: names no release tarball; give an address or path that ends in chromium-VERSION.tar.xz"
        )
    directory = mirrors.directory(base)
    path = scratch / name if directory is None else directory / name
    if directory is None:
        try:
            download(url, path)
        except sources.Failed as failure:
            raise lockfile.LockError(
                f"--upstream={sources.printable(url)}: cannot be had ({failure.reason}); correct the address"
            ) from None
    if not path.is_file():
        raise lockfile.LockError(f"--upstream={url}: is no file; correct the path")
    entry = lockfile.Entry("chromium", match[1], digests.sha256_of(path), path.stat().st_size, "upstream", name)
    return chromium_lock.Origin(match[1], entry, None, (base,))


def main(arguments=None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="print the versions that are there, and change nothing")
    parser.add_argument("--version", default="", help="Debian's version to pin")
    parser.add_argument("--upstream", metavar="URL", help="pin upstream's release tarball instead")
    parser.add_argument("--directory", help="where lock.json lies (default: the workspace's)")
    options = parser.parse_args(arguments)
    workspace = os.environ.get("BUILD_WORKSPACE_DIRECTORY")
    directory = pathlib.Path(
        options.directory
        or (
            os.path.join(workspace, "third_party", "chromium")
            if workspace
            else os.path.dirname(os.path.abspath(__file__))
        )
    )
    path = directory / "lock.json"
    try:
        old: Dict[str, chromium_lock.Origin] = (
            chromium_lock.parse(path.read_text(encoding="utf-8")) if path.exists() else {}
        )
        with tempfile.TemporaryDirectory() as scratch:
            if options.upstream:
                new = {**old, chromium_lock.UPSTREAM: pin_upstream(options.upstream, pathlib.Path(scratch))}
            else:
                bases = mirrors.find_mirrors(os.environ)
                archive = versions.Archive(scratch)
                if options.list:
                    for version, suite in present(archive, lambda entry: is_there(entry, bases)):
                        print(f"{version} {suite}")
                    return 0
                new = {
                    **old,
                    chromium_lock.DEBIAN: pin_debian(archive, lambda entry: is_there(entry, bases), options.version),
                }
    except (lockfile.LockError, resolve.ResolveError, mirrors.MirrorError) as error:
        print(f"lock: {error}", file=sys.stderr)
        return 1
    temporary = path.with_suffix(".json.new")
    temporary.write_text(chromium_lock.to_text(new), encoding="utf-8")
    os.replace(temporary, path)
    for name, origin in new.items():
        if old.get(name) != origin:
            print(f"~ {name} {old[name].version} -> {origin.version}" if name in old else f"+ {name} {origin.version}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
