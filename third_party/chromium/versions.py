"""Which versions of Chromium's source package Debian's mirrors have, as apt and the mirrors themselves say."""

import pathlib
import re
import sys
from typing import Callable, List, Tuple

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "debian"))

import lockfile  # noqa: E402
import mirrors  # noqa: E402
import resolve  # noqa: E402

PACKAGE = "chromium"
#: Stable's own suite moves with point releases only, every few months; security's every week.
SUITES = ("bookworm", "bookworm-updates", "bookworm-security")

_URI = re.compile(r"^'[^']*/(?P<path>pool/[^']+)' \S+ (?P<size>\d+) SHA256:(?P<sha256>[0-9a-f]{64})", re.M)
_SOURCES_LINE = re.compile(r"\|\s*(\S+)\s*\|\s*\S+ (\S+?)/\S+ Sources", re.M)


def listed(madison: str) -> List[Tuple[str, str]]:
    """(version, suite) of each source that `apt-cache madison` prints, oldest first."""
    found = dict.fromkeys(_SOURCES_LINE.findall(madison))
    return sorted(found, key=lambda pair: [int(number) for number in re.findall(r"\d+", pair[0])])


def entries_of(uris: str, version: str, suite: str) -> Tuple[lockfile.Entry, lockfile.Entry]:
    """The source and the packaging tarball in what `apt-get source --print-uris` prints.

    Raises:
        LockError: they are not both there.
    """
    found = {}
    for match in _URI.finditer(uris):
        path = match["path"].replace("%7e", "~").replace("%2b", "+").replace("%3a", ":")
        kind = re.search(r"\.(orig|debian)\.tar\.[a-z0-9]+$", path)
        if kind:
            found[kind[1]] = lockfile.Entry(PACKAGE, version, match["sha256"], int(match["size"]), suite, path)
    if set(found) != {"orig", "debian"}:
        raise lockfile.LockError(
            f"chromium {version} ({suite}): apt names no {' and no '.join({'orig', 'debian'} - set(found))} tarball; "
            "choose another version with --version"
        )
    return found["orig"], found["debian"]


class Archive:
    """Debian's archive as this machine's apt reaches it, with a private state below `scratch`.

    Attributes:
        apt: runs apt with arguments and gives what it prints; a test puts its own here.
    """

    def __init__(self, scratch):
        private = resolve.PrivateApt(scratch, SUITES, mirrors.apt_sources())
        self.apt: Callable[..., str] = private.run

    def versions(self) -> List[Tuple[str, str]]:
        return listed(self.apt("apt-cache", "madison", PACKAGE))

    def entries(self, version: str, suite: str) -> Tuple[lockfile.Entry, lockfile.Entry]:
        printed = self.apt("apt-get", "source", "--print-uris", "--download-only", f"{PACKAGE}={version}")
        return entries_of(printed, version, suite)
