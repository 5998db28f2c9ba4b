"""Places of a pinned archive beyond the mirrors: other pools, sibling archives, folders, the dated archive, upstream's
releases.

Every place is tried with the digest that the lock or `upstream.json` pins, so a wrong place costs one request. The
repository rules do not watch this file: whatever it finds, the unpacked files are those that were pinned.
"""

import contextlib
import dataclasses
import json
import pathlib
import re
import urllib.parse
from typing import Dict, Iterator, List, Optional, Sequence

import dated
import lockfile
import mirrors

UPSTREAM = pathlib.Path(__file__).with_name("upstream.json")
#: The pools of Debian's archive and of its security archive. A point release moves a file from the second to the first.
POOLS = ("pool/main/", "pool/updates/main/")

#: What to do when no place has an archive; the end of an error's sentence.
REMEDY = (
    f"ame a mirror or directory that has it with --debian_mirror=URL or in {mirrors.ENVIRONMENT_VARIABLE}, take the "
    "newest version instead of the pinned one with --config=newest_packages, or pin today's version: " + lockfile.RELOCK
)


@dataclasses.dataclass(frozen=True)
class Place:
    """One more place where an archive may lie.

    Attributes:
        what: the kind of place, for a line of progress.
        base: an address or a directory, as in `mirrors`.
        entry: the archive as it lies there: its path below `base`, and its own digest for upstream's packing.
    """

    what: str
    base: str
    entry: lockfile.Entry

    def __str__(self) -> str:
        return f"{self.what}, {self.base}/{self.entry.path}"


def load_upstream(path=UPSTREAM) -> Dict[str, dict]:
    """`tarballs` of `upstream.json`: source package -> version, url, and size and sha256 where they are not the lock's.

    Raises:
        LockError: the file cannot be read or is not of this form.
    """
    try:
        return dict(json.loads(pathlib.Path(path).read_text(encoding="utf-8"))["tarballs"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise lockfile.LockError(
            f"{path}: cannot be read as JSON with tarballs ({error}); restore it from git"
        ) from None


def other_paths(path: str) -> List[str]:
    """The same file in the other pools."""
    for pool in POOLS:
        if path.startswith(pool):
            return [other + path[len(pool) :] for other in POOLS if other != pool]
    return []


def siblings(base: str) -> List[str]:
    """The security archive beside a Debian archive, and the other way round, with the same time stamp if any."""
    match = re.match(r"(.*/debian)(-security)?((?:/\d{8}T\d{6}Z)?)\Z", base)
    if not match:
        return []
    return [match.group(1) + ("" if match.group(2) else "-security") + match.group(3)]


def beyond_the_mirrors(entry: lockfile.Entry, bases: Sequence[str], upstream: Dict[str, dict]) -> Iterator[Place]:
    """Where else to look, best first: other pools, sibling archives, folders of archives, the dated archive, upstream's
    release, which may be another packing.

    Args:
        entry: the archive that is at its pinned path on no mirror.
        bases: the mirrors.
        upstream: see `load_upstream`.
    """
    for base in sorted(bases, key=mirrors.is_dated):
        for path in other_paths(entry.path):
            yield Place("another pool", base, dataclasses.replace(entry, path=path))
    for base in sorted(bases, key=mirrors.is_dated):
        for sibling in siblings(base):
            if sibling not in bases:
                for path in (entry.path, *other_paths(entry.path)):
                    yield Place("the archive beside a mirror", sibling, dataclasses.replace(entry, path=path))
    released = _released(entry, upstream)
    for base in bases:
        if mirrors.directory(base) is not None:
            names = [entry.file_name] + ([released.entry.sha256] if released else [])
            for name in names:
                kept = released.entry if released and name == released.entry.sha256 else entry
                yield Place("a folder of archives", base, dataclasses.replace(kept, path=name))
    with_release = [*bases, *(sibling for base in bases for sibling in siblings(base))]
    for base in dated.bases(entry.suite, dated.load(), with_release):
        if base not in bases:
            yield Place("the dated archive", base, entry)
    if released:
        yield released


def remember_gone(entry: lockfile.Entry, cache_dir: pathlib.Path) -> None:
    """Notes an archive that no place has, so that the launcher can ask whether to go on without the pinned one."""
    note = gone_notes(cache_dir) / entry.sha256
    with contextlib.suppress(OSError):  # The error that follows is more important.
        note.parent.mkdir(exist_ok=True)
        note.write_text(f"{entry.name} {entry.version}\n", encoding="utf-8")


def gone_notes(cache_dir: pathlib.Path) -> pathlib.Path:
    """The folder of the notes of `remember_gone`: sha256 -> name and version."""
    return cache_dir / "gone"


def _released(entry: lockfile.Entry, upstream: Dict[str, dict]) -> Optional[Place]:
    """Upstream's release of a source; None for a binary package, or another version."""
    tarball = upstream.get(entry.name)
    if not tarball or tarball["version"] != entry.version or ".orig.tar." not in entry.path:
        return None
    parts = urllib.parse.urlsplit(tarball["url"])
    packed = dataclasses.replace(
        entry,
        path=parts.path.lstrip("/"),
        sha256=tarball.get("sha256", entry.sha256),
        size=tarball.get("size", entry.size),
    )
    what = "upstream's release" if packed.sha256 == entry.sha256 else "upstream's release, packed by upstream itself"
    # One base for a host, so that a host that does not answer is asked once.
    return Place(what, f"{parts.scheme}://{parts.netloc}", packed)
