"""The packages of another architecture beside amd64's: resolution for `lock`, and the report of `lock --missing_for`.

The version is amd64's where the index has it, else the newest one.
"""

import dataclasses
from typing import Callable, Dict, List, Mapping, Sequence, Tuple

import architectures
import lockfile
import resolve


def _of_entries(entries: Sequence[lockfile.Entry], apt: resolve.PrivateApt) -> lockfile.Table:
    """The counterpart of each amd64 entry; None where the index has none."""
    found = apt.versions([entry.name for entry in entries if not entry.serves_all])

    def counterpart(entry: lockfile.Entry):
        if entry.serves_all:
            return entry
        versions = found.get(entry.name, [])
        same = [other for other in versions if other.version == entry.version]
        return (same or versions or [None])[0]

    return {entry.name: counterpart(entry) for entry in entries}


def _of_group(asked: lockfile.Group, amd64: Sequence[lockfile.Entry], apt: resolve.PrivateApt) -> lockfile.Table:
    """A group's packages: those asked for, and for a closure what they need on this architecture as well as amd64's.

    A package that only amd64's closure holds, and this architecture lacks, is left out.
    """
    there = apt.versions([*asked.packages, *asked.without])
    missing: lockfile.Table = {name: None for name in asked.packages if name not in there}
    needed = apt.group(
        dataclasses.replace(
            asked,
            packages=tuple(name for name in asked.packages if name in there),
            without=tuple(name for name in asked.without if name in there),
        )
    )
    table: lockfile.Table = {entry.name: entry for entry in needed}
    for name, entry in _of_entries(amd64, apt).items():
        if entry and (asked.closure or name in table):
            table[name] = entry
    return {**table, **missing}


def resolved(
    new: lockfile.Lock,
    old: lockfile.Lock,
    request: lockfile.Request,
    architecture: architectures.Architecture,
    only_missing: bool,
    apt: Callable[[str], resolve.PrivateApt],
) -> lockfile.Counterparts:
    """The packages of `architecture` for a lock.

    Args:
        new: the lock with amd64's packages.
        old: the lock before.
        request: for `architecture`.
        only_missing: keep what `old` holds, where amd64's package is the same in both.
        apt: family of suites -> the index of `architecture`.

    Raises:
        resolve.ResolveError: the dependencies of a group cannot be resolved.
    """
    known = old.counterparts.get(architecture.name) if only_missing else None
    known = known or lockfile.Counterparts({}, {})
    packages = {}
    for family, table in new.packages.items():
        before, kept = known.packages.get(family, {}), {}
        for name, entry in table.items():
            if before.get(name) and old.packages.get(family, {}).get(name) == entry:
                kept[name] = before[name]
        asked = [entry for name, entry in table.items() if name not in kept]
        packages[family] = {**kept, **(_of_entries(asked, apt(family)) if asked else {})}
    groups = {}
    for name, entries in new.groups.items():
        asked_group, before = request.groups[name], known.groups.get(name, {})
        is_kept = all(before.get(asked) for asked in asked_group.packages) and old.groups.get(name) == entries
        groups[name] = before if is_kept else _of_group(asked_group, entries, apt(asked_group.suite))
    return lockfile.Counterparts(packages=packages, groups=groups)


@dataclasses.dataclass(frozen=True)
class Missing:
    """How the packages of an architecture differ from amd64's.

    Attributes:
        absent: packages that the architecture does not have.
        other: (amd64's package, this architecture's), of another version.
        unneeded: packages of a group that only amd64's packages depend on.
    Each name begins with its family of suites or its group.
    """

    absent: Tuple[str, ...]
    other: Tuple[Tuple[str, str, str], ...]
    unneeded: Tuple[str, ...]

    def lines(self, architecture: str) -> List[str]:
        """The report: a headline for each class, then a line a package."""
        return [
            f"{len(self.absent)} packages: {architecture} does not have them; a build that needs one stops",
            *(f"  {name}" for name in self.absent),
            f"{len(self.other)} packages: {architecture} has another version than amd64",
            *(f"  {name} {theirs} (amd64: {ours})" for name, ours, theirs in self.other),
            f"{len(self.unneeded)} packages: only amd64's packages depend on them",
            *(f"  {name}" for name in self.unneeded),
        ]


def missing(lock: lockfile.Lock, architecture: architectures.Architecture) -> Missing:
    """Compares the packages of `architecture` with amd64's.

    Raises:
        lockfile.LockError: the lock holds nothing for it.
    """
    lock.of(architecture)
    found = lock.counterparts[architecture.name]
    groups = {name: {entry.name: entry for entry in entries} for name, entries in lock.groups.items()}
    absent, other, unneeded = [], [], []
    ours: Dict[str, Mapping[str, lockfile.Entry]] = {**lock.packages, **groups}
    for group, table in {**found.packages, **found.groups}.items():
        for name, entry in table.items():
            amd64 = ours[group].get(name)
            if entry is None:
                absent.append(f"{group}/{name}")
            elif amd64 and amd64.version != entry.version:
                other.append((f"{group}/{name}", amd64.version, entry.version))
        unneeded += [f"{group}/{name}" for name in ours[group] if name not in table]
    return Missing(tuple(sorted(absent)), tuple(sorted(other)), tuple(sorted(unneeded)))
