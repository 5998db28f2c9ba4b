"""Which pinned archives would be lost when a suite moves on; a pure function of the lock, for `lock --at_risk`."""

import dataclasses
from typing import Dict, List, Tuple

import lockfile
import newest

#: The stable suite keeps its versions for years. Every other suite drops them within weeks.
STABLE = "bookworm"


@dataclasses.dataclass(frozen=True)
class Risk:
    """What is lost when testing moves, and what only looks so.

    Attributes:
        lost: (archive, where it is pinned), of which testing's pool is the only place.
        released: those that upstream's release stands in for.
        security: archives of stable's security suite, which a newer update replaces.
    """

    lost: Tuple[Tuple[lockfile.Entry, str], ...]
    released: Tuple[Tuple[lockfile.Entry, str], ...]
    security: Tuple[Tuple[lockfile.Entry, str], ...]

    def lines(self) -> List[str]:
        """The report: a headline for each class, then a line for each archive that would be lost."""

        def headline(rows, text: str) -> str:
            return f"{len(rows)} archives, {sum(entry.size for entry, _ in rows) / 1e6:.0f} MB: {text}"

        return [
            headline(self.lost, "only testing has them; they are lost when it moves"),
            *(f"  {entry.name} {entry.version} ({where}, {entry.size / 1e6:.1f} MB)" for entry, where in self.lost),
            headline(self.released, "of testing, and upstream's release stands in"),
            *(f"  {entry.name} {entry.version} ({where})" for entry, where in self.released),
            headline(self.security, "security updates; the next one replaces them, a point release keeps them"),
        ]


def assess(lock: lockfile.Lock, upstream: Dict[str, dict]) -> Risk:
    """Sorts the archives of the lock.

    Args:
        upstream: see `places.load_upstream`.
    """
    stable = {entry.sha256 for entry in lock.all_entries() if entry.suite.startswith(STABLE)}
    lost, released, security, seen = [], [], [], set()
    for kind, table, entry in newest.where_pinned(lock):
        row = (entry, f"{kind} {table}".strip())
        if entry.sha256 in seen:
            continue
        seen.add(entry.sha256)
        if entry.suite.endswith("-security"):
            security.append(row)
        elif entry.sha256 not in stable:
            is_released = kind == "source" and upstream.get(entry.name, {}).get("version") == entry.version
            (released if is_released else lost).append(row)
    return Risk(*(tuple(sorted(rows)) for rows in (lost, released, security)))
