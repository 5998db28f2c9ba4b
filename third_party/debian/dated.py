"""Debian's dated archive, which keeps every file: its address, and the times at which the pinned files were in a suite.

`lock.py` writes the times into `dated.json`. No address is written down: a suite's Release file names it, or apt's own
configuration (3.0 and newer). It is in apt's form, with a place for a time. Standard library only, as `lockfile.py`.
"""

import dataclasses
import datetime
import email.utils
import functools
import json
import pathlib
import re
import subprocess
from typing import Dict, List, Mapping, Optional, Sequence, Tuple

import lockfile
import sources

PATH = pathlib.Path(__file__).with_name("dated.json")
#: Stands for the time in an address of apt.
SNAPSHOT_ID = "@SNAPSHOTID@"
#: Added to a Release file's date. The archive is copied every six hours, so that the copy of this time has the suite's
#: files; a file that leaves the suite stays in the pool for more than a day.
COPIED_WITHIN = datetime.timedelta(hours=12)
_TIME = "%Y%m%dT%H%M%SZ"
_STAMP = re.compile(r"\d{8}T\d{6}Z\Z")
#: Keys of `apt-config dump` below Acquire::Snapshots::URI, those that win over the Release file first.
_OVERRIDES = ("Override::Label::{0.label}", "Override::Origin::{0.origin}")
_FALLBACKS = ("Label::{0.label}", "Origin::{0.origin}")
_SETTING = re.compile(r'^Acquire::Snapshots::URI::(\S+) "(.+)";$', re.M)
_FIELD = re.compile(rb"^Snapshots: (\S+)$", re.M)
#: Debian's Release files have some 150 kB, and the field is one of the first.
_RELEASE_BYTES = 1 << 20
_SECONDS = 20


@dataclasses.dataclass(frozen=True)
class Suite:
    """What tells where the files of a suite are kept.

    Attributes:
        label, origin: of its Release file.
        times: at which archives of the lock were resolved from the suite, oldest first: "20261101T000000Z".
    """

    label: str
    origin: str
    times: Tuple[str, ...]

    def bases(self, address: str) -> List[str]:
        """The mirrors of the suite, newest first. Args: address: of the dated archive; "": none is known."""
        return [address.replace(SNAPSHOT_ID, time).rstrip("/") for time in reversed(self.times)] if address else []


def bases(suite: str, suites: Mapping[str, Suite], mirrors: Sequence[str]) -> List[str]:
    """Where an archive of `suite` may lie. The lock calls archives of its updates by the same name.

    Args: mirrors: those that may have the suite's Release file.
    """
    known = [name for name in (suite, f"{suite}-updates") if name in suites]
    return [base for name in known for base in suites[name].bases(address_of(name, suites[name], tuple(mirrors)))]


@functools.lru_cache(maxsize=None)
def address_of(name: str, suite: Suite, mirrors: Tuple[str, ...]) -> str:
    """Where the dated archive has the suite `name`, in the order in which apt looks for it; "": nobody tells."""
    settings = apt_settings()
    address = _first(_OVERRIDES, suite, settings) or _of_release(name, mirrors) or _first(_FALLBACKS, suite, settings)
    # A Release file says "no" where there is none.
    return address if address and SNAPSHOT_ID in address and address.startswith(("http://", "https://")) else ""


@functools.lru_cache(maxsize=None)
def apt_settings() -> Dict[str, str]:
    """What this machine's apt knows of dated archives: key below Acquire::Snapshots::URI -> address."""
    try:
        dump = subprocess.run(["apt-config", "dump"], capture_output=True, text=True, timeout=_SECONDS, check=False)
    except (OSError, subprocess.SubprocessError, ValueError):
        return {}
    return dict(_SETTING.findall(dump.stdout))


def _of_release(name: str, mirrors: Sequence[str]) -> Optional[str]:
    """The field Snapshots of a suite's Release file on the first mirror that has the file."""
    for mirror in mirrors:
        try:
            with sources.open_url(f"{mirror}/dists/{name}/Release", 0, _SECONDS) as answer:
                content = b""
                while len(content) < _RELEASE_BYTES and (part := answer.read(1 << 16)):
                    content += part
        except sources.Failed:
            continue
        match = _FIELD.search(content)
        return match[1].decode("ascii", "replace") if match else None
    return None


def load(path=PATH) -> Dict[str, Suite]:
    """The suites of a file: Debian's name -> Suite.

    Raises:
        LockError: the file cannot be read or is not of this form.
    """
    try:
        raw = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
        suites = {
            name: Suite(str(fields["label"]), str(fields["origin"]), tuple(fields["times"]))
            for name, fields in raw.items()
        }
        for name, suite in suites.items():
            if not suite.times or not all(_STAMP.match(time) for time in suite.times):
                raise ValueError(f"{name}: no time")
        return suites
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise lockfile.LockError(
            f"{path}: cannot be read as JSON of suites with label, origin and times ({error}); restore it from git or "
            f"run {lockfile.RELOCK}"
        ) from None


def to_json(suites: Mapping[str, Suite]) -> str:
    """The text of a file that `load` reads."""
    content = {name: dataclasses.asdict(suite) for name, suite in sorted(suites.items())}
    return json.dumps(content, indent=1) + "\n"


def of_release(release: Mapping[str, str]) -> Suite:
    """The suite of a Release file, with one time. Args: release: fields of the file; Codename and Date are there."""
    date = email.utils.parsedate_to_datetime(release["Date"].replace(" UTC", " +0000"))
    time = (date.astimezone(datetime.timezone.utc) + COPIED_WITHIN).strftime(_TIME)
    return Suite(release.get("Label", ""), release.get("Origin", ""), (time,))


def refuse_older(pinned: Mapping[str, Suite], read: Mapping[str, Suite]) -> None:
    """Refuses indexes that a mirror kept from before the pinned files were resolved: old ones are signed too.

    Raises:
        LockError: one is older; its newest versions are no newest ones.
    """
    for name in sorted(pinned.keys() & read.keys()):
        before, now = pinned[name].times[-1], read[name].times[-1]
        if now < before:
            raise lockfile.LockError(
                f"index of {name}: the mirror's is of {now}, older than that of the pinned archives, {before}; name "
                "another mirror, with --debian_mirror=URL or in apt's configuration"
            )


def _first(keys: Tuple[str, ...], suite: Suite, settings: Mapping[str, str]) -> Optional[str]:
    return next((settings[key] for key in (each.format(suite) for each in keys) if settings.get(key)), None)


def merged(old: Mapping[str, Suite], read: Mapping[str, Suite], keeps_pinned: bool) -> Dict[str, Suite]:
    """The suites after a new resolution.

    Args:
        old: before it.
        read: the suites that it read.
        keeps_pinned: whether pinned archives stayed, so that their times still count.
    """
    suites = dict(old) if keeps_pinned else {}
    for name, suite in read.items():
        known = old[name].times if keeps_pinned and name in old else ()
        suites[name] = dataclasses.replace(suite, times=tuple(sorted({*known, *suite.times})))
    return suites
