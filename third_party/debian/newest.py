"""Takes the newest version of pinned archives that can be had nowhere any more. The module extension runs it when the
user asked for it with --config=newest_packages.

A package of the same major version takes the place of one that is gone, with all packages of its source; a group with
its dependencies is resolved anew. apt verifies the archive's signature. The result is a lock file in out/, which the
next build repeats; delete it to resolve again. Prints the path of the lock file to use: the pinned one if nothing is
gone.
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import sys
import tempfile
from typing import Callable, Dict, Iterator, List, Mapping, Sequence, Set, Tuple

import dated
import digests
import fetch
import lockfile
import mirrors
import places
import resolve
import sources

LOCK_NAME = "newest_packages_lock.json"
_PARALLEL_QUESTIONS = 8
_FLAG = "--config=newest_packages"


class NewestError(Exception):
    """The newest versions cannot be had, or do not fit; one sentence with the remedy."""


def major(version: str) -> str:
    """The major version of a Debian version: `22` of `1:22.1.8-1~deb12u1`."""
    return version.split(":", 1)[-1].split("-")[0].split(".")[0].split("+")[0].split("~")[0]


def where_pinned(lock: lockfile.Lock) -> Iterator[Tuple[str, str, lockfile.Entry]]:
    """(kind, table, entry) of each entry: ("package", family), ("source", "") or ("group", its name)."""
    for family, table in lock.packages.items():
        for entry in table.values():
            yield "package", family, entry
    for entry in lock.sources.values():
        yield "source", "", entry
    for name, entries in lock.groups.items():
        for entry in entries:
            yield "group", name, entry


def of_same_sources(lock: lockfile.Lock, gone: Set[lockfile.Entry]) -> Set[lockfile.Entry]:
    """`gone` and the packages built from the same sources: a package and its library must not have two versions."""
    folders = {(os.path.dirname(entry.path), entry.version) for entry in gone if entry.path.endswith(".deb")}
    return gone | {entry for entry in lock.all_entries() if (os.path.dirname(entry.path), entry.version) in folders}


def resolved(
    lock: lockfile.Lock, request: lockfile.Request, gone: Set[lockfile.Entry], apt: Callable[[str], resolve.PrivateApt]
) -> lockfile.Lock:
    """`lock` with the newest version of each archive of `gone`.

    Args:
        apt: family of suites -> the index.

    Raises:
        NewestError: the newest version is of another major version.
        ResolveError: a package is not in the index.
    """
    moved = of_same_sources(lock, gone)
    packages = {}
    for family, table in lock.packages.items():
        names = [name for name, entry in table.items() if entry in moved]
        packages[family] = {**table, **(apt(family).packages(names) if names else {})}
    tarballs = {
        name: apt(request.sources[name]).source(name) if entry in moved else entry
        for name, entry in lock.sources.items()
    }
    groups = {
        name: apt(request.groups[name].suite).group(request.groups[name])
        if any(entry in moved for entry in entries)
        else entries
        for name, entries in lock.groups.items()
    }
    new = lockfile.Lock(packages=packages, sources=tarballs, groups=groups)
    _check_majors(lock, new, moved)
    return new


def _check_majors(old: lockfile.Lock, new: lockfile.Lock, moved: Set[lockfile.Entry]) -> None:
    after = {(kind, table, entry.name): entry for kind, table, entry in where_pinned(new)}
    for kind, table, entry in where_pinned(old):
        newest = after.get((kind, table, entry.name))
        if entry in moved and newest and major(newest.version) != major(entry.version):
            raise NewestError(
                f"{entry.name} {entry.version} is gone, and the newest version in its suite is {newest.version}, of "
                "another major version, which this workspace is not made for; name a mirror that has the pinned one "
                "with --debian_mirror=URL, or use a newer mlgo"
            )


class Availability:
    """Which archives can still be had, from the cache, a mirror or a place beyond; nothing is downloaded.

    Args:
        cache_dir: the archive cache.
        bases: the mirrors.
        timeout: seconds that a server may take to answer.
    """

    def __init__(self, cache_dir: pathlib.Path, bases: Sequence[str], timeout: float = fetch.LIMITS.silence_seconds):
        self._cache_dir, self._bases, self._timeout = cache_dir, tuple(bases), timeout
        self._upstream = places.load_upstream()
        self._silent: Set[str] = set()
        self._answered = False

    def gone(self, entries: Sequence[lockfile.Entry]) -> Set[lockfile.Entry]:
        """The entries that no place has.

        Raises:
            NewestError: no mirror answered, so that nothing is known.
        """
        with concurrent.futures.ThreadPoolExecutor(_PARALLEL_QUESTIONS) as pool:
            found = list(pool.map(self.is_available, entries))
        missing = {entry for entry, is_found in zip(entries, found) if not is_found}
        if missing and not self._answered:
            raise NewestError(
                f"none of {len(self._bases)} Debian mirrors answers, so that it is not known which archives are gone; "
                "check the network or name a mirror with --debian_mirror=URL"
            )
        return missing

    def is_available(self, entry: lockfile.Entry) -> bool:
        kept = self._cache_dir / entry.sha256
        if kept.is_file() and kept.stat().st_size == entry.size:
            return True
        pinned = [places.Place("a mirror", base, entry) for base in self._bases]
        beyond = places.beyond_the_mirrors(entry, self._bases, self._upstream)
        return any(self._has(place) for place in [*pinned, *beyond])

    def _has(self, place: places.Place) -> bool:
        if place.base in self._silent:
            return False
        directory = mirrors.directory(place.base)
        try:
            if directory is not None:
                opened = sources.open_file(directory, place.entry)
            else:
                # The last byte alone: some servers refuse HEAD, or announce 0 bytes for it.
                last, url = place.entry.size - 1, f"{place.base}/{place.entry.path}"
                opened = sources.open_url(url, last, self._timeout)
            with opened as answer:
                self._answered = True
                return answer.total in (None, place.entry.size)
        except sources.RangeRefused:
            self._answered = True  # The file there is shorter.
            return False
        except sources.Failed as failure:
            if failure.kind in (sources.Kind.SILENT, sources.Kind.TEMPORARY):
                self._silent.add(place.base)
                print(f"debian: {sources.printable(place.base)}: {failure.reason}; not asked again", file=sys.stderr)
            else:
                self._answered = True
            return False


def known_sources(environ: Mapping[str, str]) -> List[mirrors.AptSource]:
    """The user's mirrors, as apt takes them, then those of the machine's apt."""
    named = [base for base in mirrors.from_environment(environ) if mirrors.directory(base) is None]
    bases = dict.fromkeys(other for base in named for other in (base, *places.siblings(base)))
    own = [
        mirrors.AptSource(base, ("stable-security",) if "/debian-security" in base else ("stable",)) for base in bases
    ]
    return own + mirrors.apt_sources()


def load_kept(path: pathlib.Path, pinned_text: str) -> bool:
    """Whether `path` holds a usable lock made from this pinned lock.

    Raises:
        NewestError: it is no lock; it is not overwritten, for a build was made with it.
    """
    if not path.exists():
        return False
    try:
        text = path.read_text(encoding="utf-8")
        made_from = re.search(r'"of": "([0-9a-f]{64})"', text)
        # One that stands for another pinned lock is not read: it may have an older form.
        if made_from and made_from[1] != hashlib.sha256(pinned_text.encode()).hexdigest():
            return False
        lockfile.parse(text, str(path))
        return bool(made_from)
    except (OSError, UnicodeDecodeError, lockfile.LockError) as error:
        raise NewestError(f"{path}: is no lock of {_FLAG} ({error}); delete it to resolve again") from None


def write(path: pathlib.Path, new: lockfile.Lock, pinned_text: str) -> None:
    """Writes the lock with the digest of the pinned one it stands for."""
    content = {"of": hashlib.sha256(pinned_text.encode()).hexdigest(), **json.loads(new.to_json())}
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=path.parent, encoding="utf-8", delete=False) as file:
        file.write(json.dumps(content, indent=1) + "\n")
        file.flush()
        os.fsync(file.fileno())
    os.replace(file.name, path)


def choose(folder: pathlib.Path, output: pathlib.Path, environ: Mapping[str, str]) -> pathlib.Path:
    """The lock file to build from, see the module's docstring.

    Args:
        folder: of lock.json and packages.json.
        output: the folder `out` of the workspace.

    Raises:
        NewestError: see `load_kept` and `resolved`.
        LockError: the mirror's index is older than the pinned archives.
    """
    pinned_path, kept_path = folder / "lock.json", output / LOCK_NAME
    pinned_text = pinned_path.read_text(encoding="utf-8")
    pinned = lockfile.parse(pinned_text)
    if load_kept(kept_path, pinned_text):
        _tell(pinned, lockfile.load(kept_path), kept_path)
        return kept_path
    bases = mirrors.find_mirrors(environ)
    print("debian: looking for archives that are gone", file=sys.stderr, flush=True)
    gone = Availability(digests.default_cache(environ), bases).gone(pinned.all_entries())
    if not gone:
        print(f"debian: every pinned archive can be had; {_FLAG} changes nothing", file=sys.stderr, flush=True)
        return pinned_path
    request = lockfile.load_request(folder / "packages.json")
    apts: Dict[str, resolve.PrivateApt] = {}
    with tempfile.TemporaryDirectory() as scratch:

        def apt(family: str) -> resolve.PrivateApt:
            if family not in apts:
                apts[family] = resolve.PrivateApt(
                    pathlib.Path(scratch) / family, request.suites[family], known_sources(environ)
                )
                dated.refuse_older(dated.load(), apts[family].dated_suites())
            return apts[family]

        new = resolved(pinned, request, gone, apt)
    write(kept_path, new, pinned_text)
    _tell(pinned, new, kept_path)
    return kept_path


def _tell(old: lockfile.Lock, new: lockfile.Lock, path: pathlib.Path) -> None:
    before = set(old.all_entries())
    changed = [entry for entry in new.all_entries() if entry not in before]
    names = ", ".join(f"{entry.name} {entry.version}" for entry in changed[:3]) + (", ..." if len(changed) > 3 else "")
    print(
        f"debian: this is not the pinned build: {len(changed)} archives are newer than the pinned ones ({names}); the "
        f"next build with {_FLAG} repeats {path}",
        file=sys.stderr,
        flush=True,
    )


def main(arguments=None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    here = pathlib.Path(os.path.realpath(__file__)).parent
    parser.add_argument(
        "--directory", default=str(here), help="folder of lock.json and packages.json (default: %(default)s)"
    )
    parser.add_argument(
        "--output", default=str(here.parents[1] / "out"), help="folder of the new lock (default: %(default)s)"
    )
    options = parser.parse_args(arguments)
    try:
        print(choose(pathlib.Path(options.directory), pathlib.Path(options.output), os.environ))
    except (NewestError, fetch.FetchError, lockfile.LockError, mirrors.MirrorError, resolve.ResolveError) as error:
        print(f"debian: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"debian: {error.filename}: {error.strerror}; correct it and run the same command again", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
