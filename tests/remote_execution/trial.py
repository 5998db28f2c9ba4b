"""Builds a target on this machine and on a farm of this machine, and compares files and CPU time.

    PYTHONPATH=. python3 -m tests.remote_execution.trial --folder=/tmp/farm --target=//release:clang
    PYTHONPATH=. python3 -m tests.remote_execution.trial --folder=/tmp/farm --target=//mlgo/corpus:lua \\
        --lose_worker_after=20
    PYTHONPATH=. python3 -m tests.remote_execution.trial --folder=/tmp/farm --target=//release:clang --again

Both builds begin with nothing built. On the farm no action falls back to this machine; those that cannot run there
(docs/remote-execution.md) are counted. With --lose_worker_after, one worker is killed when so many actions have ended.
With --again, the farm builds a second time: all actions run once more, on workers that hold their inputs.
Exit codes: 0 all files are equal, 1 some differ or a build failed, 2 the farm could not be started.
"""

import argparse
import contextlib
import dataclasses
import hashlib
import json
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator

from mlgo.run.exit_codes import RunError
from tests.clones.nested import NestedBazel
from tests.clones.outputs import digests
from tests.isolation.cpu_account import CpuAccount, cpu_account
from tests.isolation.root_folders import RootFolderError
from tests.remote_execution import cpu_by_kind
from tests.remote_execution.failure import FarmError
from tests.remote_execution.farm import add_staging, farm

_WORKSPACE = pathlib.Path(__file__).resolve().parents[2]
_POLL_SECONDS = 0.5
#: Bytes that have been sent within this machine: between Bazel, the farm's server and its workers.
_LOOPBACK_BYTES = pathlib.Path("/sys/class/net/lo/statistics/rx_bytes")


@dataclasses.dataclass(frozen=True)
class Build:
    """One build of the target.

    Attributes:
      files: path below the execution root → digest.
      runners: where actions ran → how many.
      cpu_seconds: of Bazel and all that it started here.
      wall_seconds: of the build.
    """

    files: dict[str, str]
    runners: dict[str, int]
    cpu_seconds: float
    wall_seconds: float


def ended_actions(events: pathlib.Path) -> int:
    """How many actions a build has ended, by its file of build events."""
    with contextlib.suppress(FileNotFoundError), events.open("rb") as lines:
        return sum(b'"actionCompleted"' in line for line in lines)
    return 0


def runners_of(events: pathlib.Path) -> dict[str, int]:
    """Where the actions of a build ran → how many, by its file of build events; empty: the file does not say."""
    for line in events.read_text("utf-8").splitlines():
        if '"actionSummary"' in line:
            counts = json.loads(line)["buildMetrics"]["actionSummary"].get("runnerCount", ())
            return {each["name"]: each["count"] for each in counts}
    return {}


@dataclasses.dataclass(frozen=True)
class FarmBuild:
    """A build on the farm.

    Attributes:
      build: the build, with what it used outside of the farm.
      cpu_seconds: of the farm.
      by_kind: kind of process → CPU seconds of the farm (cpu_by_kind.py).
      moved_bytes: what went over the loopback network.
    """

    build: Build
    cpu_seconds: float
    by_kind: dict[str, float]
    moved_bytes: int

    def lines(self, name: str, local: Build) -> list[str]:
        """What is said of it. Args: local: the same build without the farm."""
        total = self.build.cpu_seconds + self.cpu_seconds
        # Of what a worker ran, nobody tells the time when it has ended.
        by_kind = {**self.by_kind, "the rest, compiles above all": self.cpu_seconds - sum(self.by_kind.values())}
        return [
            _described(name, self.build),
            f"{name}: {self.cpu_seconds:.0f} CPU s of the farm; in all {total:.0f} CPU s,"
            f" {total / local.cpu_seconds:.2f} times the build here; {self.moved_bytes / 1e6:,.0f} MB moved",
            *(
                f"  {kind}: {seconds:.0f} CPU s"
                for kind, seconds in sorted(by_kind.items(), key=lambda item: -item[1])
                if round(seconds)
            ),
        ]


@contextlib.contextmanager
def _losing(worker: subprocess.Popen, events: pathlib.Path, after: int) -> Iterator[None]:
    """Kills `worker` when `after` actions of the build in the block have ended."""
    over = threading.Event()

    def watch() -> None:
        while not over.wait(_POLL_SECONDS):
            if (count := ended_actions(events)) >= after:
                os.killpg(worker.pid, signal.SIGKILL)
                print(f"killed worker 1 after {count} actions", flush=True)
                return

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()


class Trial:
    """Builds of one target with one output base.

    Attributes:
      bazel: a Bazel whose server, and all that it starts, belongs to the account.
      events: the file of build events of the last build.
    """

    def __init__(self, folder: pathlib.Path, target: str, account: CpuAccount):
        self._target, self._account, self.events = target, account, folder / "events.json"
        launcher = folder / "counted_bazel"
        command = shlex.join(account.entering([str(_WORKSPACE / "bazelw")]))
        launcher.write_text(f'#!/bin/sh\nexec {command} "$@"\n', "utf-8")
        launcher.chmod(0o755)
        self.bazel = NestedBazel(launcher, _WORKSPACE, folder / "output_base")

    def fetch(self) -> None:
        """Downloads and unpacks all that the target needs.

        Raises: AssertionError: a download fails, or the target is none.
        """
        # A server that runs already would not belong to the account.
        self.bazel.end()
        self.bazel.run("build", "--nobuild", self._target)

    def build(self, *options: str) -> Build:
        """Builds the target from nothing.

        Raises: AssertionError: the build fails; carries the end of what Bazel said.
        """
        self.bazel.run("clean")
        self.events.unlink(missing_ok=True)
        events = [f"--build_event_json_file={self.events}", "--build_event_publish_all_actions"]
        cpu, wall = self._account.seconds(), time.monotonic()
        self.bazel.run("build", *events, *options, self._target)
        cpu, wall = self._account.seconds() - cpu, time.monotonic() - wall
        root = pathlib.Path(self.bazel.run("info", "execution_root").strip())
        names = self.bazel.run("cquery", "--output=files", *options, self._target).split("\n")
        return Build(files_of(root, filter(None, names)), runners_of(self.events), cpu, wall)


def files_of(root: pathlib.Path, names: Iterable[str]) -> dict[str, str]:
    """Path below `root` of each file, and of each file in a folder → its digest."""
    found: dict[str, str] = {}
    for name in names:
        if (root / name).is_dir():
            found |= {f"{name}/{below}": digest for below, digest in digests(root / name).items()}
        else:
            with (root / name).open("rb") as file:
                found[name] = hashlib.file_digest(file, "sha256").hexdigest()
    return found


def _described(name: str, build: Build) -> str:
    runners = ", ".join(f"{count} {runner}" for runner, count in build.runners.items())
    times = f"{build.cpu_seconds:.0f} CPU s of Bazel and its children, {build.wall_seconds:.0f} s"
    return f"{name}: {times}, actions: {runners}"


def _built_on_farm(trial: Trial, account: CpuAccount, options: list[str]) -> FarmBuild:
    """Builds on the farm that `account` counts. Args: options: Bazel's, which choose the farm."""
    moved, seconds, kinds = int(_LOOPBACK_BYTES.read_text()), account.seconds(), _farm_kinds(account)
    build = trial.build(*options)
    used = {kind: value - kinds.get(kind, 0.0) for kind, value in _farm_kinds(account).items()}
    return FarmBuild(build, account.seconds() - seconds, used, int(_LOOPBACK_BYTES.read_text()) - moved)


def _farm_kinds(account: CpuAccount) -> dict[str, float]:
    """CPU seconds by kind of process of the farm, without this program, which waits for Bazel's client too."""
    return cpu_by_kind.by_kind(each for each in account.process_ids() if each != os.getpid())


def _tried(folder: pathlib.Path, target: str, workers: int, staging: str, lose_after: int, again: bool) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as running:
        ours, theirs = (running.enter_context(cpu_account(f"mlgo_{name}_{os.getpid()}")) for name in ("bazel", "farm"))
        trial = Trial(folder, target, ours)
        running.callback(trial.bazel.end)
        trial.fetch()
        local = trial.build()
        print(_described("here", local), flush=True)
        # What an earlier trial left in the store would not be built.
        shutil.rmtree(folder / "cas", ignore_errors=True)
        running.enter_context(theirs.of_children())
        port, processes = running.enter_context(farm(folder, workers, jobs=2, staging=staging))
        # Actions whose tags forbid the farm still run here.
        options = [
            "--config=remote_execution",
            f"--remote_executor=grpc://127.0.0.1:{port}",
            "--spawn_strategy=remote,sandboxed",
            "--noremote_local_fallback",
        ]
        with _losing(processes[0], trial.events, lose_after) if lose_after else contextlib.nullcontext():
            equal = _compared("with the farm", local, _built_on_farm(trial, theirs, options))
        if again:
            # Neither Bazel nor the farm takes an earlier result; workers still hold the inputs.
            second = _built_on_farm(trial, theirs, [*options, "--noremote_accept_cached"])
            equal &= _compared("again", local, second)
    return int(not equal)


def _compared(name: str, local: Build, remote: FarmBuild) -> bool:
    """Says what a build on the farm took. Returns: whether its files are those of the local one."""
    here, there = local.files.items(), remote.build.files.items()
    lines = [
        *remote.lines(name, local),
        f"{name}: {len(here & there)} of {len(here)} files are equal",
        *(f"differs: {file}" for file in sorted({file for file, _ in here ^ there})),
    ]
    print("\n".join(lines), flush=True)
    return here == there


def main(arguments: list[str]) -> int:
    """Runs a trial; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--folder", type=pathlib.Path, required=True, help="programs, logs, stored results, and the output base"
    )
    parser.add_argument("--target", default="//release:clang", help="what is built (default: //release:clang)")
    parser.add_argument("--workers", type=int, default=3, help="number of workers (default: 3)")
    parser.add_argument(
        "--lose_worker_after", type=int, default=0, help="actions after which a worker is killed (default: 0, never)"
    )
    parser.add_argument("--again", action="store_true", help="also build a second time on the same workers")
    add_staging(parser)
    flags = parser.parse_args(arguments)
    if flags.workers < 1 + bool(flags.lose_worker_after):
        parser.error("--workers: one must be left")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        folder = flags.folder.absolute()
        return _tried(folder, flags.target, flags.workers, flags.staging, flags.lose_worker_after, flags.again)
    except (FarmError, RootFolderError, RunError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    except AssertionError as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
