"""Looks at the exam: measures a released policy on libraries that nothing was chosen with, once.

    ./bazelw run //models/exam:inlining_for_size
    ./bazelw run //models/exam:regalloc_eviction
    ./bazelw run //models/exam:regalloc_eviction -- --again="the counter of the first look was wrong"

Every look is logged in models/exam/looks.jsonl: date, commit, digests of the policy and of the compilers, and of the
results. result.json and summary.md of each measurement go to a folder of models/exam; commit them with the log, and run
//models/results:update. A policy that has a result is refused. An interrupted look continues when it is started again.

Exit codes: 0 done, 2 wrong flag or the policy was looked at already, 130 interrupted, others: of the measurement.
"""

import argparse
import dataclasses
import datetime
import hashlib
import pathlib
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mlgo.identity.programs import compiler_identity
from mlgo.policy.identity import identity
from mlgo.run import files, json_lines, locate
from mlgo.run.exit import RESUMABLE, exit_code_of
from mlgo.run.exit_codes import RunError
from models import published
from models.exam import looks

#: What a measurement writes and the exam keeps. Tables of modules or functions have megabytes.
_KEPT = ("result.json", "summary.md")
#: Paths of git: the working tree without what looks write.
_BUT_RESULTS = (":/", ":!/models/exam/looks.jsonl", ":!/models/exam/*/*")
_GIT_SECONDS = 60


@dataclasses.dataclass(frozen=True)
class Measurement:
    """A command that measures, as //models/exam:exam.bzl describes it.

    Attributes:
      folder: of its results, in models/exam.
      command: runfile of a command with --output_dir, and its flags.
    """

    folder: str
    command: str
    flags: Sequence[str]


@dataclasses.dataclass(frozen=True)
class Looker:
    """Who looks at what. Attributes: as a line of the log has them (looks.py)."""

    exam: str
    policy: str
    compilers: Mapping[str, str]
    commit: str

    def line(self, event: str, now: datetime.datetime, **more: Any) -> dict[str, Any]:
        """A line of the log; values of `more` that are None are left out."""
        date = now.strftime("%Y-%m-%dT%H:%M:%SZ")
        given = {key: value for key, value in more.items() if value is not None}
        return {**dataclasses.asdict(self), "event": event, "date": date, **given}


def look(
    looker: Looker,
    measurements: Sequence[Measurement],
    workspace: pathlib.Path,
    again: str | None = None,
    run: Callable[[str, Sequence[str], pathlib.Path], None] = published.run,
    now: Callable[[], datetime.datetime] = lambda: datetime.datetime.now(datetime.UTC),
) -> None:
    """Measures and records.

    Args:
      again: the reason of a repetition.
      run: runs a command with flags and an output folder; raises SystemExit if it fails.
    Raises: RunError: the policy was looked at already and there is no reason to repeat it, or a file cannot be used.
    """
    folder = workspace / "models" / "exam"
    log = folder / "looks.jsonl"
    known = looks.read(log)
    if again is None:
        looks.check_first(known, looker.exam, looker.policy, folder)
    json_lines.append(log, looker.line(looks.BEGAN, now(), again=again))
    work = workspace / "out" / "exam" / f"{looker.exam}-{looker.policy[:12]}"
    if looks.has_ended(known, looker.exam, looker.policy):
        shutil.rmtree(work, ignore_errors=True)
    contents: dict[str, bytes] = {}
    for measurement in measurements:
        output = work / measurement.folder
        run(measurement.command, measurement.flags, output)
        contents |= {f"{measurement.folder}/{name}": (output / name).read_bytes() for name in _KEPT}
    for name, content in contents.items():
        files.write_atomically(folder / name, content)
    digests = {name: hashlib.sha256(contents[name]).hexdigest() for name in contents if name.endswith(".json")}
    json_lines.append(log, looker.line(looks.ENDED, now(), again=again, results=digests))
    print(f"written: {', '.join(f'models/exam/{name}' for name in [*contents, log.name])}")


def commit_of(workspace: pathlib.Path) -> str:
    """The commit that is checked out; "+changes" follows where files differ from it that looks do not write."""

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(workspace), *arguments]
        return subprocess.run(command, capture_output=True, check=True, timeout=_GIT_SECONDS, text=True).stdout.strip()

    try:
        changed = git("status", "--porcelain", "--untracked-files=no", "--", *_BUT_RESULTS)
        return git("rev-parse", "HEAD") + ("+changes" if changed else "")
    except (OSError, subprocess.SubprocessError) as error:
        raise RunError(
            f"workspace {workspace}", f"its commit is unknown: {error}", "Look from a git checkout"
        ) from error


def main(arguments: Sequence[str]) -> int:
    """Looks. Arguments: the description that exam.bzl wrote, then flags. Returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="look", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("description", help=argparse.SUPPRESS)
    parser.add_argument("--again", metavar="REASON", help="repeat a look that has a result; the reason is logged")
    given = parser.parse_args(arguments)
    if given.again is not None and not given.again.strip():
        raise RunError("--again", "is empty", "Give the reason of the repetition")
    workspace = locate.workspace()
    if workspace is None:
        raise RunError("the workspace", "is not known", "Start the command with ./bazelw run")
    exam = files.read_json(locate.runfile(given.description), "the exam", "Build it again")
    looker = Looker(
        exam["exam"],
        identity(locate.runfile(exam["policy"]), exam["exam"]).digest,
        {path: compiler_identity(locate.runfile(path)) for path in exam["compilers"]},
        commit_of(workspace),
    )
    look(looker, [Measurement(**each) for each in exam["measurements"]], workspace, given.again)
    return 0


if __name__ == "__main__":
    sys.exit(exit_code_of(lambda: main(sys.argv[1:]), RESUMABLE))
