"""The log of looks at the exam, and who may look.

A line of looks.jsonl is a JSON object: `exam`, `policy` (digest), `event` ("began", "ended"), `date` (UTC), `commit`,
`compilers` (runfile -> digest), `again` (the reason of a repetition, or absent) and, once ended, `results` (file below
models/exam -> sha256). A look that began and did not end was interrupted; starting it again continues it.
"""

import hashlib
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

from mlgo.run import json_lines
from mlgo.run.exit_codes import RunError

BEGAN, ENDED = "began", "ended"
_WHAT, _REMEDY = "the log of looks", "Restore it from git; it is only ever appended to"


def read(path: pathlib.Path) -> list[dict[str, Any]]:
    """The looks in `path`, without the unfinished line of a killed process, which is removed.

    Raises: RunError: the file is damaged.
    """
    return json_lines.keep(path, lambda _: True, _WHAT, _REMEDY)


def ended(looks: Sequence[Mapping[str, Any]], exam: str, policy: str) -> Mapping[str, Any] | None:
    """The last look of this exam at the policy with digest `policy` that has a result."""
    found = [look for look in looks if (look["exam"], look["policy"], look["event"]) == (exam, policy, ENDED)]
    return found[-1] if found else None


def has_ended(looks: Sequence[Mapping[str, Any]], exam: str, policy: str) -> bool:
    """Whether the last look of this exam at this policy, if there is one, has a result; else it can be continued."""
    events = [look["event"] for look in looks if (look["exam"], look["policy"]) == (exam, policy)]
    return events[-1:] == [ENDED]


def check_first(looks: Sequence[Mapping[str, Any]], exam: str, policy: str, folder: pathlib.Path) -> None:
    """Raises: RunError: the policy has a result already; names where it is. Args: folder: models/exam."""
    look = ended(looks, exam, policy)
    if look is None:
        return
    where = [_where(folder, name, digest) for name, digest in sorted(look["results"].items())]
    raise RunError(
        f"policy {policy[:12]}",
        f"was looked at by //models/exam:{exam} on {look['date']} (commit {look['commit'][:12]}). The result:"
        f" {', '.join(where)}",
        "Read that result. An exam is looked at once, so that nothing is chosen by it. To repeat it, and have the"
        " reason logged: --again=REASON",
    )


def _where(folder: pathlib.Path, name: str, digest: str) -> str:
    """Where a recorded result is: later looks at other policies write the same file."""
    path = folder / name
    if path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == digest:
        return f"models/exam/{name}"
    return f"models/exam/{name} with sha256 {digest[:12]} (git log -- models/exam/{name})"
