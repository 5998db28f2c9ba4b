"""Runs bazelw on stand-ins for machines of other distributions: root folders on this machine, with 8 GB of memory.

Example, as root on Debian:

    PYTHONPATH=. python3 -m tests.foreign_hosts.try_hosts --folder=/tmp/hosts --hosts=without_apt,other_apt

Every run is by an ordinary user with umask 077, without user namespaces, in a clone whose path has blanks and letters
beyond ASCII. Debian's archives come from a folder that is mounted read-only, Python packages from where this machine's
pip finds them. The first start downloads 80 MB for each suite. Prints a line for each run, with seconds and the peak of
anonymous memory. Exit code: 0 all runs as expected, 1 a run differs (its output is below --folder), 2 misuse.
"""

import argparse
import contextlib
import dataclasses
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence

from mlgo.run.exit_codes import RunError
from tests.clones import clone, nested
from tests.foreign_hosts import hosts, machine, memory, proxy
from tests.foreign_hosts.runs import RELEASE, RUNS, Run
from tests.isolation.processes import in_chroot
from tests.isolation.root_folders import Apt, RootFolderError, run

WORKSPACE = pathlib.Path(__file__).resolve().parents[2]
_PATH = "/usr/bin:/bin"
_NAMES = ("mlgo", "second")


@dataclasses.dataclass(frozen=True)
class Result:
    """What a run gave.

    Attributes:
      trouble: what is not as expected; "" for a run that is.
      peak_bytes: anonymous memory.
    """

    host: str
    name: str
    trouble: str
    seconds: float
    peak_bytes: int


def trouble(expected: Run, exit_code: int, output: str, killed: int) -> str:
    """What is not as expected, in one line; "" when all is."""
    if killed:
        return f"{killed} processes ended for lack of memory"
    if exit_code != expected.exit_code:
        return f"exit code {exit_code}, not {expected.exit_code}"
    for pattern in expected.says:
        if not re.search(pattern, output, re.MULTILINE):
            return f"does not say {pattern!r}"
    for pattern in expected.never_says:
        if re.search(pattern, output, re.MULTILINE):
            return f"says {pattern!r}"
    return ""


def line(result: Result) -> str:
    """One line of the table."""
    peak = f"{result.peak_bytes / 1e6:6.0f} MB"
    return f"{result.host:12} {result.name:55} {result.trouble or 'ok':4} {result.seconds:6.0f} s {peak}"


class Stage:
    """The stand-ins below a folder, and their runs."""

    def __init__(self, folder: pathlib.Path, archives: pathlib.Path, memory_bytes: int, jobs: int):
        self._folder, self._archives, self._memory_bytes, self._jobs = folder, archives, memory_bytes, jobs
        self.logs = folder / "logs"
        self._apts: dict[str, Apt] = {}

    def _apt(self, suite: str) -> Apt:
        if suite not in self._apts:
            shutil.rmtree(self._folder / "apt" / suite, ignore_errors=True)
            self._apts[suite] = Apt(self._folder / "apt" / suite, suite)
        return self._apts[suite]

    def root(self, name: str) -> pathlib.Path:
        """The root folder of a host, with its clone."""
        root = hosts.make(hosts.HOSTS[name], self._folder, self._apt)
        shutil.rmtree(root / hosts.CLONES, ignore_errors=True)
        for clone_name in _NAMES:
            clone.copy(WORKSPACE, root / hosts.CLONES / clone_name)
        return root

    def result(self, host: str, root: pathlib.Path, asked: Run, number: int) -> Result:
        """Carries out a run; its output is in `folder`/logs."""
        self._prepare(root, asked)
        log = self.logs / f"{host}_{number}.txt"
        log.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.ExitStack() as running:
            group = running.enter_context(memory.limited(f"mlgo_{os.getpid()}_{host}_{number}", self._memory_bytes))
            environment = {"PATH": _PATH, "LANG": "C.UTF-8", **asked.environment}
            if asked.proxy:
                serving = proxy.serving(self._archives, WORKSPACE / "third_party/debian/lock.json")
                address = running.enter_context(serving).address
                environment = {name: value.format(proxy=address) for name, value in environment.items()}
            pip = machine.pip_settings() if asked.packages else {}
            preparation = [group.enter]
            preparation += machine.mounts(root, self._archives, hosts.HOSTS[host].certificates, pip)
            for name in asked.read_only:
                preparation += [f"mount --bind {name} {name}", f"mount -o remount,bind,ro {name}"]
            place = shlex.quote(f"/{hosts.CLONES}/{_NAMES[0]}")
            script = f"umask 077; cd {place}; {asked.command.replace('{bazel}', f'--jobs={self._jobs}')}"
            command = in_chroot(root, script, asked.user, environment | pip, preparation)
            start = time.monotonic()
            with open(log, "wb") as output:
                ended = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, check=False)
            seconds = time.monotonic() - start
            said = log.read_text(encoding="utf-8", errors="replace")
            wrong = trouble(asked, ended.returncode, said, group.killed)
        return Result(host, asked.name, wrong, seconds, group.peak_bytes)

    def _prepare(self, root: pathlib.Path, asked: Run) -> None:
        """Gives the clones to the user, as umask 077 would have made them, and empties the caches."""
        for name in _NAMES:
            rc_file = root / hosts.CLONES / name / "user.bazelrc"
            rc_file.unlink(missing_ok=True)
            if asked.rc:
                rc_file.write_text(asked.rc, encoding="utf-8")
        run(["chmod", "-R", "go=", root / hosts.CLONES], "chmod of the clones")
        run(["chown", "-R", f"{asked.user}:{asked.user}", root / "work"], "chown of the clones")
        if asked.fresh:
            self.empty(root)

    def empty(self, root: pathlib.Path) -> None:
        """Removes what runs have left in the home folder and in the folder of caches."""
        for folder in (root / "home/user", root / hosts.CACHES):
            for path in folder.iterdir():
                nested.remove(path)


def try_all(stage: Stage, plan: Mapping[str, Sequence[Run]], say: Callable[[str], None]) -> list[Result]:
    """The results of all runs, each told by `say` when it is there."""
    results = []
    for host, asked in plan.items():
        root = stage.root(host)
        for number, each in enumerate(asked, start=1):
            results.append(stage.result(host, root, each, number))
            say(line(results[-1]))
        stage.empty(root)
    return results


def main(arguments: list[str]) -> int:
    """Runs the plan of the flags."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=pathlib.Path, required=True, help="root folders and outputs, 5 GB (a path)")
    parser.add_argument("--hosts", default=",".join(RUNS), help="names of stand-ins (default: %(default)s)")
    parser.add_argument("--runs", default="", help="only runs whose name contains this text (default: all)")
    parser.add_argument("--release", action="store_true", help="build //release:clang on the last host, 15 minutes")
    parser.add_argument(
        "--archives",
        type=pathlib.Path,
        default=nested.archive_cache(os.environ),
        help="folder of Debian archives, by digest or as third_party/debian:mirror makes it (default: %(default)s)",
    )
    parser.add_argument("--memory_gb", type=float, default=8, help="limit for each run in GB (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=2, help="actions at once (default: %(default)s)")
    flags = parser.parse_args(arguments)
    names = flags.hosts.split(",")
    unknown = [name for name in names if name not in RUNS]
    if unknown:
        parser.error(f"--hosts: {unknown[0]} is no stand-in; known: {', '.join(RUNS)}")
    if os.geteuid():
        parser.error("root folders are mounted: start this as root")
    plan = {name: [each for each in RUNS[name] if flags.runs in each.name] for name in names}
    if flags.release:
        plan[names[-1]].append(RELEASE)
    # A run ends with this program, and its processes with the run.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    stage = Stage(flags.folder.absolute(), flags.archives.absolute(), int(flags.memory_gb * 2**30), flags.jobs)
    try:
        results = try_all(stage, plan, lambda text: print(text, flush=True))
    except (RootFolderError, RunError) as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted; the same command starts again with the root folders that are made", file=sys.stderr)
        return 130
    failed = [result for result in results if result.trouble]
    first = f" (first: {failed[0].host}, {failed[0].name}: {failed[0].trouble})" if failed else ""
    print(f"done {len(results)} runs, {len(failed)} failed{first} -> {stage.logs}", file=sys.stderr)
    return 1 if failed or not results else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
