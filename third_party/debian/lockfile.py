"""The Debian lock: the archive files that this project is built from, by sha256.

`lock.py` writes `lock.json` from the requests in `packages.json`; all other code only reads it. Standard library only,
because the launcher and the repository rules run it with the machine's python3 (>= 3.9).

Archives for amd64 are written in full. Those of another architecture are in `architectures`, one line a package, with
the fields in which they differ from amd64's: `{}` is the same file (`Architecture: all`), and a path without its own
field is amd64's with the other architecture's name. `null` is a package that the architecture does not have.
`architecture.bzl` reads the same form.
"""

import dataclasses
import json
import pathlib
import re
from typing import Dict, List, Mapping, Optional, Tuple

import architectures

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


#: Package name -> entry; None for a package that the architecture does not have.
Table = Dict[str, Optional[Entry]]


@dataclasses.dataclass(frozen=True)
class Counterparts:
    """The binary packages of an architecture other than amd64.

    Attributes:
        packages: suite family -> package name -> entry.
        groups: group name -> package name -> entry. The names may differ from those for amd64, because the packages
            that a package depends on do.
    """

    packages: Dict[str, Table]
    groups: Dict[str, Table]


@dataclasses.dataclass(frozen=True)
class Lock:
    """A parsed lock.

    Attributes:
        packages: suite family (`bookworm`, `forky`) -> package name -> entry.
        sources: source package name -> entry of its upstream tarball.
        groups: group name -> entries (a closure that belongs together, e.g. `bazel`).
        counterparts: name of another architecture -> its packages; `packages` and `groups` are those of amd64.
    """

    packages: Dict[str, Dict[str, Entry]]
    sources: Dict[str, Entry]
    groups: Dict[str, List[Entry]]
    counterparts: Dict[str, Counterparts] = dataclasses.field(default_factory=dict)

    def of(self, architecture: architectures.Architecture) -> "Lock":
        """The lock of a host: with the packages of its architecture alone. Packages that it does not have are left out.

        Raises:
            LockError: the lock holds nothing for the architecture.
        """
        if architecture == architectures.AMD64:
            return dataclasses.replace(self, counterparts={})
        found = self.counterparts.get(architecture.name)
        if not found:
            raise LockError(f"lock.json: no packages for {architecture.name}; run {RELOCK} -- --only_missing")
        return Lock(
            packages={
                family: {name: entry for name, entry in table.items() if entry}
                for family, table in found.packages.items()
            },
            sources=self.sources,
            groups={name: [entry for entry in table.values() if entry] for name, table in found.groups.items()},
        )

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
        """Every distinct archive for amd64 and every source, sorted by path."""
        entries = {entry for by_name in self.packages.values() for entry in by_name.values()}
        entries.update(self.sources.values())
        entries.update(entry for group in self.groups.values() for entry in group)
        return sorted(entries, key=lambda entry: entry.path)

    def to_json(self) -> str:
        def table(entries):
            return {name: entry.to_json() for name, entry in sorted(entries.items())}

        in_full = json.dumps(
            {
                "version": LOCK_VERSION,
                "packages": {family: table(entries) for family, entries in sorted(self.packages.items())},
                "sources": table(self.sources),
                "groups": {
                    name: {entry.name: entry.to_json() for entry in sorted(group)}
                    for name, group in sorted(self.groups.items())
                },
            },
            indent=1,
        )
        amd64 = {"packages": self.packages, "groups": _by_name(self.groups)}
        differences = {
            name: {kind: _differences(getattr(found, kind), amd64[kind], name) for kind in amd64}
            for name, found in sorted(self.counterparts.items())
        }
        return in_full[: -len("\n}")] + ',\n "architectures": ' + _one_line_a_package(differences, 0) + "\n}\n"


def _by_name(groups: Mapping[str, List[Entry]]) -> Dict[str, Dict[str, Entry]]:
    return {group: {entry.name: entry for entry in entries} for group, entries in groups.items()}


def _stand_in(amd64: Optional[Entry], architecture: str) -> Dict[str, object]:
    """The fields that a package of `architecture` has unless the lock says otherwise."""
    if amd64 is None:
        return {}
    fields, ending = amd64.to_json(), f"_{architectures.AMD64.name}.deb"
    if amd64.path.endswith(ending):
        fields["path"] = amd64.path[: -len(ending)] + f"_{architecture}.deb"
    return fields


def _differences(
    tables: Mapping[str, Table], amd64: Mapping[str, Mapping[str, Entry]], architecture: str
) -> Dict[str, Dict[str, Optional[Dict[str, object]]]]:
    """The fields in which each entry differs from amd64's; None stays None."""

    def fields(entry: Optional[Entry], other: Optional[Entry]):
        if entry is None:
            return None
        known = _stand_in(other, architecture)
        return {field: value for field, value in entry.to_json().items() if known.get(field) != value}

    return {
        table: {name: fields(entry, amd64.get(table, {}).get(name)) for name, entry in sorted(entries.items())}
        for table, entries in sorted(tables.items())
    }


#: Levels of `architectures` above a package: architecture, kind, table.
_DEPTH = 3


def _one_line_a_package(value, depth: int) -> str:
    """JSON of `architectures`, indented like the rest of the lock, with each package on a line."""
    if depth > _DEPTH or not value:
        return json.dumps(value)
    indent = " " * (depth + 2)
    rows = [f"{indent}{json.dumps(name)}: {_one_line_a_package(part, depth + 1)}" for name, part in value.items()]
    return "{\n" + ",\n".join(rows) + "\n" + " " * (depth + 1) + "}"


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

    packages = {family: table(entries) for family, entries in raw.get("packages", {}).items()}
    groups = {name: list(table(entries).values()) for name, entries in raw.get("groups", {}).items()}
    amd64 = {"packages": packages, "groups": _by_name(groups)}

    def counterparts(architecture: str, section) -> Counterparts:
        known = [other.name for other in architectures.OTHERS]
        if architecture not in known or not isinstance(section, dict) or set(section) != set(amd64):
            raise LockError(
                f"{origin}: architecture {architecture}: is unknown or has other parts than packages and groups; "
                f"known: {', '.join(known)}. Run {RELOCK} -- --only_missing"
            )

        def tables(kind: str) -> Dict[str, Table]:
            return {
                group: {
                    name: fields
                    if fields is None
                    else entry(name, {**_stand_in(amd64[kind].get(group, {}).get(name), architecture), **fields})
                    for name, fields in entries.items()
                }
                for group, entries in section[kind].items()
            }

        return Counterparts(packages=tables("packages"), groups=tables("groups"))

    return Lock(
        packages=packages,
        sources=table(raw.get("sources", {})),
        groups=groups,
        counterparts={name: counterparts(name, section) for name, section in raw.get("architectures", {}).items()},
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


def load_request(path, architecture: architectures.Architecture = architectures.AMD64) -> Request:
    """Reads `packages.json`.

    Args:
        architecture: what `{gnu}` in the package names of a group stands for.

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
                packages=tuple(architecture.filled(asked) for asked in group["packages"]),
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
