"""The Debian lock: the archive files that this project is built from, by sha256.

`lock.py` writes `lock.json` from the requests in `packages.json`; all other code only reads it. Standard library only,
because the launcher and the repository rules run it with the machine's python3 (>= 3.9).
"""

import dataclasses
import json
import pathlib
import re
from typing import Dict, List, Tuple

LOCK_VERSION = 2
RELOCK = "./bazelw run //third_party/debian:lock"

_SHA256 = re.compile(r"[0-9a-f]{64}\Z")


class LockError(Exception):
    """A lock or request file is not usable; the message names the entry and the remedy."""


@dataclasses.dataclass(frozen=True, order=True)
class Entry:
    """One archive file of a Debian mirror.

    Attributes:
        name: package name, e.g. `clang-22`.
        version: Debian version string with epoch.
        sha256: digest of the file, 64 lower-case hex digits.
        size: bytes.
        suite: the suite the version was resolved from, e.g. `bookworm-security`.
        path: path below a mirror's base, e.g. `pool/main/z/zlib/zlib1g_1.2.13_amd64.deb`.
    """

    name: str
    version: str
    sha256: str
    size: int
    suite: str
    path: str

    def __post_init__(self):
        if not _SHA256.match(self.sha256):
            raise LockError(f"entry {self.name}: {self.sha256!r} is not a sha256 digest; run {RELOCK}")
        if not isinstance(self.size, int) or self.size <= 0:
            raise LockError(f"entry {self.name}: size {self.size!r} is not a positive number of bytes; run {RELOCK}")
        if self.path.startswith("/") or ".." in self.path.split("/"):
            raise LockError(f"entry {self.name}: path {self.path!r} leaves the mirror; run {RELOCK}")

    @property
    def file_name(self) -> str:
        return self.path.rsplit("/", 1)[-1]

    @property
    def serves_all(self) -> bool:
        """Whether the package is the same file on every architecture (`Architecture: all`)."""
        return self.path.endswith("_all.deb")

    def to_json(self) -> Dict[str, object]:
        fields = dataclasses.asdict(self)
        del fields["name"]
        return fields


@dataclasses.dataclass(frozen=True)
class Lock:
    """A parsed lock.

    Attributes:
        packages: suite family (`bookworm`, `forky`) -> package name -> entry.
        sources: source package name -> entry of its upstream tarball.
        groups: group name -> entries (a closure that belongs together, e.g. `bazel`).
    """

    packages: Dict[str, Dict[str, Entry]]
    sources: Dict[str, Entry]
    groups: Dict[str, List[Entry]]

    def package(self, family: str, name: str) -> Entry:
        try:
            return self.packages[family][name]
        except KeyError:
            raise LockError(missing_message("package", f"{name} ({family})", self.packages.get(family, {}))) from None

    def source(self, name: str) -> Entry:
        try:
            return self.sources[name]
        except KeyError:
            raise LockError(missing_message("source", name, self.sources)) from None

    def group(self, name: str) -> List[Entry]:
        try:
            return self.groups[name]
        except KeyError:
            raise LockError(missing_message("group", name, self.groups)) from None

    def all_entries(self) -> List[Entry]:
        """Every distinct archive, sorted by path."""
        entries = {entry for by_name in self.packages.values() for entry in by_name.values()}
        entries.update(self.sources.values())
        entries.update(entry for group in self.groups.values() for entry in group)
        return sorted(entries, key=lambda entry: entry.path)

    def to_json(self) -> str:
        def table(entries):
            return {name: entry.to_json() for name, entry in sorted(entries.items())}

        content = {
            "version": LOCK_VERSION,
            "packages": {family: table(entries) for family, entries in sorted(self.packages.items())},
            "sources": table(self.sources),
            "groups": {
                name: {entry.name: entry.to_json() for entry in sorted(group)}
                for name, group in sorted(self.groups.items())
            },
        }
        return json.dumps(content, indent=1) + "\n"


def missing_message(kind: str, asked: str, known) -> str:
    """The error for a name that the lock lacks: the name, the known names, the remedy."""
    names = ", ".join(sorted(known)) or "none"
    return f"lock.json: no {kind} {asked}; known: {names}. Add it to third_party/debian/packages.json and run {RELOCK}"


def parse(text: str, origin: str = "lock.json") -> Lock:
    """Parses a lock.

    Raises:
        LockError: not JSON, another lock version, or an entry with a missing or malformed field.
    """
    try:
        raw = json.loads(text)
    except ValueError as error:
        raise LockError(f"{origin}: not JSON ({error}); restore it from git or run {RELOCK}") from None
    if not isinstance(raw, dict) or raw.get("version") != LOCK_VERSION:
        found = raw.get("version") if isinstance(raw, dict) else type(raw).__name__
        raise LockError(f"{origin}: lock version {found!r}, expected {LOCK_VERSION}; run {RELOCK}")

    def entry(name: str, fields) -> Entry:
        try:
            return Entry(name=name, **fields)
        except TypeError as error:
            raise LockError(f"{origin}: entry {name}: {error}; run {RELOCK}") from None

    def table(entries) -> Dict[str, Entry]:
        return {name: entry(name, fields) for name, fields in entries.items()}

    return Lock(
        packages={family: table(entries) for family, entries in raw.get("packages", {}).items()},
        sources=table(raw.get("sources", {})),
        groups={name: list(table(entries).values()) for name, entries in raw.get("groups", {}).items()},
    )


def load(path) -> Lock:
    """Reads and parses the lock file at `path`."""
    path = pathlib.Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise LockError(f"{path.name}: cannot be read ({error.strerror}); restore it from git") from None
    return parse(text, path.name)


@dataclasses.dataclass(frozen=True)
class Group:
    """A set of packages locked together.

    Attributes:
        suite: family they come from.
        packages: names asked for.
        closure: everything they depend on too.
        without: names that count as installed; they and packages that only they need are not pinned.
    """

    suite: str
    packages: Tuple[str, ...]
    closure: bool = False
    without: Tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Request:
    """The requests in `packages.json`; `lock.py` turns them into a Lock."""

    suites: Dict[str, Tuple[str, ...]]
    packages: Dict[str, Tuple[str, ...]]
    sources: Dict[str, str]
    groups: Dict[str, Group]


def load_request(path) -> Request:
    """Reads `packages.json`.

    Raises:
        LockError: not JSON, or a suite family that `suites` does not define.
    """
    path = pathlib.Path(path)
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise LockError(f"{path.name}: cannot be read as JSON ({error}); correct it by hand") from None
    request = Request(
        suites={family: tuple(names) for family, names in raw.get("suites", {}).items()},
        packages={family: tuple(sorted(set(names))) for family, names in raw.get("packages", {}).items()},
        sources=dict(raw.get("sources", {})),
        groups={
            name: Group(
                suite=group["suite"],
                packages=tuple(group["packages"]),
                closure=group.get("closure", False),
                without=tuple(group.get("without", ())),
            )
            for name, group in raw.get("groups", {}).items()
        },
    )
    used = set(request.packages) | set(request.sources.values()) | {group.suite for group in request.groups.values()}
    for family in sorted(used - set(request.suites)):
        raise LockError(
            f"{path.name}: suite {family!r} is used but not defined; "
            f'defined: {", ".join(sorted(request.suites)) or "none"}. Add it under "suites"'
        )
    return request
