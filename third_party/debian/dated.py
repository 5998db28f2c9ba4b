"""Debian's dated archive, which keeps every file: its address, and the times at which the pinned files were in a suite.

`lock.py` writes `dated.json`, from the Release files that it resolved from and from apt's configuration. An address is
in apt's form, with a place for a time. Standard library only, as `lockfile.py`.
"""

import dataclasses
import datetime
import email.utils
import json
import pathlib
import re
from typing import Dict, List, Mapping, Optional, Tuple

import lockfile

PATH = pathlib.Path(__file__).with_name("dated.json")
#: Stands for the time in an address of apt.
SNAPSHOT_ID = "@SNAPSHOTID@"
#: Added to a Release file's date. The archive is copied every six hours, so that the copy of this time has the suite's
#: files; a file that leaves the suite stays in the pool for more than a day.
COPIED_WITHIN = datetime.timedelta(hours=12)
_TIME = "%Y%m%dT%H%M%SZ"
_STAMP = re.compile(r"\d{8}T\d{6}Z\Z")
#: Keys of `apt-config dump` below Acquire::Snapshots::URI, those that win over the Release file first.
_OVERRIDES = ("Override::Label::{Label}", "Override::Origin::{Origin}")
_FALLBACKS = ("Label::{Label}", "Origin::{Origin}")


@dataclasses.dataclass(frozen=True)
class Suite:
    """Where the files of a suite are kept.

    Attributes:
        address: with SNAPSHOT_ID in it; a mirror once a time stands there. "" if it is not known.
        times: at which archives of the lock were resolved from the suite, oldest first: "20261101T000000Z".
    """

    address: str
    times: Tuple[str, ...]

    def bases(self) -> List[str]:
        """The mirrors of the suite, newest first."""
        return [self.address.replace(SNAPSHOT_ID, time).rstrip("/") for time in reversed(self.times)]


def bases(suite: str, suites: Mapping[str, Suite]) -> List[str]:
    """Where an archive of `suite` may lie. The lock calls archives of its updates by the same name."""
    return [base for name in (suite, f"{suite}-updates") if name in suites for base in suites[name].bases()]


def load(path=PATH) -> Dict[str, Suite]:
    """The suites of a file: Debian's name -> Suite.

    Raises:
        LockError: the file cannot be read or is not of this form.
    """
    try:
        raw = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
        suites = {name: Suite(fields["address"], tuple(fields["times"])) for name, fields in raw.items()}
        for name, suite in suites.items():
            if SNAPSHOT_ID not in suite.address or not all(_STAMP.match(time) for time in suite.times):
                raise ValueError(f"{name}: no address with {SNAPSHOT_ID}, or no time")
        return suites
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise lockfile.LockError(
            f"{path}: cannot be read as JSON of suites with address and times ({error}); restore it from git or run "
            f"{lockfile.RELOCK}"
        ) from None


def to_json(suites: Mapping[str, Suite]) -> str:
    """The text of a file that `load` reads."""
    content = {name: {"address": suite.address, "times": list(suite.times)} for name, suite in sorted(suites.items())}
    return json.dumps(content, indent=1) + "\n"


def of_release(release: Mapping[str, str], settings: Mapping[str, str]) -> Suite:
    """The suite of a Release file, with one time.

    Args:
        release: fields of the file; Codename and Date are there.
        settings: of `apt-config dump`: key below Acquire::Snapshots::URI -> value. apt 3.0 and newer know Debian's.
    """
    address = _first(_OVERRIDES, release, settings) or release.get("Snapshots") or _first(_FALLBACKS, release, settings)
    if not address or SNAPSHOT_ID not in address:  # "no" means that there is none.
        address = ""
    date = email.utils.parsedate_to_datetime(release["Date"].replace(" UTC", " +0000"))
    return Suite(address, ((date.astimezone(datetime.timezone.utc) + COPIED_WITHIN).strftime(_TIME),))


def _first(keys: Tuple[str, ...], release: Mapping[str, str], settings: Mapping[str, str]) -> Optional[str]:
    filled = (key.format(Label=release.get("Label", ""), Origin=release.get("Origin", "")) for key in keys)
    return next((settings[key] for key in filled if settings.get(key)), None)


def merged(old: Mapping[str, Suite], read: Mapping[str, Suite], keeps_pinned: bool) -> Dict[str, Suite]:
    """The suites after a new resolution.

    Args:
        old: before it.
        read: the suites that it read.
        keeps_pinned: whether pinned archives stayed, so that their times still count.
    """
    suites = dict(old) if keeps_pinned else {}
    for name, suite in read.items():
        known = old.get(name, Suite("", ()))
        times = dict.fromkeys([*(known.times if keeps_pinned else ()), *suite.times])
        suites[name] = Suite(suite.address or known.address, tuple(sorted(times)))
    return {name: suite for name, suite in suites.items() if suite.address}
