"""The lock of Chromium's source: archives of each origin, by sha256. Standard library only, for repository rules."""

import dataclasses
import json
import pathlib
import re
import sys
from typing import Dict, Optional, Sequence, Tuple

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "debian"))

import lockfile  # noqa: E402  (third_party/debian)

LOCK_VERSION = 1
RELOCK = "./bazelw run //third_party/chromium:lock"
DEBIAN, UPSTREAM = "debian", "upstream"

_MAJOR = re.compile(r"(\d+)\.\d+\.\d+\.\d+")


@dataclasses.dataclass(frozen=True)
class Origin:
    """Where a source comes from.

    Attributes:
        version: of the package, `150.0.7871.100-1~deb12u1`, or of upstream's release, `150.0.7871.100`.
        source: the tarball; its `path` is below the mirrors that serve it.
        packaging: Debian's tarball with the patch series; None for upstream's.
        mirrors: bases of `source`, besides Debian's mirrors.
    """

    version: str
    source: lockfile.Entry
    packaging: Optional[lockfile.Entry] = None
    mirrors: Tuple[str, ...] = ()

    @property
    def major(self) -> int:
        return major_of(self.version)

    def to_json(self) -> dict:
        fields = {"version": self.version, "source": self.source.to_json()}
        if self.packaging:
            fields["packaging"] = self.packaging.to_json()
        if self.mirrors:
            fields["mirrors"] = list(self.mirrors)
        return fields


def major_of(version: str) -> int:
    """150 for 150.0.7871.100-1~deb12u1. Raises: LockError: this is no version of Chromium."""
    match = _MAJOR.match(version)
    if not match:
        raise lockfile.LockError(f"version {version!r}: is no version of Chromium (four numbers); run {RELOCK}")
    return int(match.group(1))


def parse(text: str, name: str = "third_party/chromium/lock.json") -> Dict[str, Origin]:
    """Origins by name. Raises: LockError: not JSON, of another lock version, or an entry that is none."""
    try:
        raw = json.loads(text)
    except ValueError as error:
        raise lockfile.LockError(f"{name}: not JSON ({error}); restore it from git or run {RELOCK}") from None
    if not isinstance(raw, dict) or raw.get("version") != LOCK_VERSION:
        found = raw.get("version") if isinstance(raw, dict) else type(raw).__name__
        raise lockfile.LockError(f"{name}: lock version {found!r}, expected {LOCK_VERSION}; run {RELOCK}")
    try:
        return {origin: _origin(fields) for origin, fields in raw["origins"].items()}
    except (AttributeError, KeyError, TypeError) as error:
        raise lockfile.LockError(
            f"{name}: an entry is not whole ({error}); restore it from git or run {RELOCK}"
        ) from None


def _origin(fields: dict) -> Origin:
    packaging = fields.get("packaging")
    return Origin(
        fields["version"],
        lockfile.Entry(name="chromium", **fields["source"]),
        lockfile.Entry(name="chromium", **packaging) if packaging else None,
        tuple(fields.get("mirrors", ())),
    )


def to_text(origins: Dict[str, Origin]) -> str:
    table = {name: origin.to_json() for name, origin in sorted(origins.items())}
    return json.dumps({"version": LOCK_VERSION, "origins": table}, indent=1) + "\n"


def missing_origin(asked: str, known: Sequence[str]) -> str:
    """The error for an origin that the lock does not have."""
    how = f"{RELOCK} -- --upstream=URL" if asked == UPSTREAM else RELOCK
    there = ", ".join(sorted(known)) or "none"
    return f"third_party/chromium/lock.json: no origin {asked}; there are: {there}. Add it with {how}"


def gone(version: str, why: str, there: Sequence[str]) -> str:
    """The error for a version that no mirror has any more: what was asked, what there is, the command."""
    versions = ", ".join(there) or "none that could be seen"
    return (
        f"chromium {version}: has left the mirrors ({why}). There today: {versions}. "
        f"Take one of them: {RELOCK}{' -- --version=' + there[-1] if there else ''}"
    )
