"""A build farm on this machine: BuildGrid, and BuildBox's workers, each in a root folder of its own.

The first start downloads about 80 MB. The farm runs until Ctrl-C. Needs root, apt, pip and CPython 3.11.
Build on it in another terminal with the options that the farm prints.

    PYTHONPATH=. python3 -m tests.remote_execution.farm --folder=/tmp/farm --workers=3
"""

import argparse
import contextlib
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator

from tests.isolation.processes import in_root, process
from tests.isolation.root_folders import RootFolderError, run
from tests.remote_execution import installation
from tests.remote_execution.failure import FarmError

_START_SECONDS = 60
_NICE = 15
_FUSE = pathlib.Path("/dev/fuse")
#: How a worker gives an action its inputs: as a file system of its own that lends them, or as links in a folder.
STAGING_MODES = ("fuse", "copy-or-link")
_WORK = "/usr/bin/busybox env -i PATH=/usr/bin HOME=/state TMPDIR=/tmp /usr/bin/busybox sh /state/worker.sh {arguments}"


def configuration(template: str, folder: pathlib.Path, port: int, database: str) -> str:
    """The text of buildgrid.yml for one server."""
    for name, value in (("@FOLDER@", str(folder)), ("@PORT@", str(port)), ("@DATABASE@", database)):
        template = template.replace(name, value)
    return template


@contextlib.contextmanager
def _database(folder: pathlib.Path) -> Iterator[str]:
    """An empty PostgreSQL; yields its URL."""
    root, port = folder / "server", free_port()
    programs = next((root / "usr/lib/postgresql").glob("*/bin")).relative_to(root)
    shutil.rmtree(root / "database/farm", ignore_errors=True)
    enter = ["unshare", "--mount", "sh", "-c", 'mount --rbind /dev "$0/dev" && exec chroot --userspec=65534:65534 "$@"']
    enter += [str(root), str(root)]
    initdb = [f"/{programs}/initdb", "-D", "/database/farm", "-U", "farm", "-A", "trust", "-E", "UTF8", "--locale=C"]
    run(enter + initdb, "initdb of PostgreSQL")
    server = [
        f"/{programs}/postgres",
        "-D",
        "/database/farm",
        "-h",
        "127.0.0.1",
        "-p",
        str(port),
        "-k",
        "/tmp",
        "-c",
        "fsync=off",
    ]
    with process(enter + server, folder / "postgresql.log") as started:
        wait_for(port, started, folder / "postgresql.log")
        yield f"postgresql+psycopg2://farm@127.0.0.1:{port}/postgres"


@contextlib.contextmanager
def _buildgrid(folder: pathlib.Path, database: str, port: int) -> Iterator[None]:
    bgd = folder / "buildgrid/bin/bgd"
    text = (installation.HERE / "buildgrid.yml").read_text("utf-8")
    (folder / "buildgrid.yml").write_text(configuration(text, folder, port, database), "utf-8")
    run([bgd, "migrate", "apply", database], "bgd migrate")
    log = folder / "buildgrid.log"
    with process([bgd, "server", "start", folder / "buildgrid.yml"], log) as started:
        wait_for(port, started, log)
        yield


def _worker(folder: pathlib.Path, number: int, port: int, jobs: int, staging: str) -> contextlib.AbstractContextManager:
    root = folder / f"worker{number}"
    shutil.rmtree(root, ignore_errors=True)
    # Hard links: three root folders take the place of one.
    for source, target in ((folder / "worker", root), (folder / "actions", root / "actions")):
        shutil.copytree(source, target, symlinks=True, copy_function=os.link)
    for name in ("dev", "old", "proc", "tmp", "state"):
        (root / name).mkdir(exist_ok=True)
    shutil.copy(installation.HERE / "worker.sh", root / "state/worker.sh")
    work = _WORK.format(arguments=f"{port} worker{number} {jobs} {staging}")
    return process(["nice", f"-n{_NICE}", *in_root(root, work)], folder / f"worker{number}.log")


def free_port() -> int:
    """A port of the loopback interface that no process listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(port: int, server: subprocess.Popen, log: pathlib.Path) -> None:
    """Returns when the server accepts connections.

    Raises: FarmError: it ends, or does not listen within a minute.
    """
    end = time.monotonic() + _START_SECONDS
    while time.monotonic() < end and server.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.2)
    raise FarmError(f"{log.name}: the server does not listen; its last words: {log.read_text('utf-8')[-1500:]}")


@contextlib.contextmanager
def farm(folder: pathlib.Path, workers: int, jobs: int, staging: str) -> Iterator[tuple[int, list[subprocess.Popen]]]:
    """Yields the port of a running farm and the processes of its workers.

    Args: staging: of `STAGING_MODES`.
    Raises: FarmError: this machine cannot stage so, or the server does not start.
    """
    if staging == "fuse" and not _FUSE.exists():
        raise FarmError(f"{_FUSE}: is absent, and workers lend inputs to actions by it; give --staging=copy-or-link")
    installation.install(folder)
    with contextlib.ExitStack() as running:
        port = free_port()
        running.enter_context(_buildgrid(folder, running.enter_context(_database(folder)), port))
        numbers = range(1, workers + 1)
        yield port, [running.enter_context(_worker(folder, number, port, jobs, staging)) for number in numbers]


def add_staging(parser: argparse.ArgumentParser) -> None:
    """Adds the option `--staging`."""
    parser.add_argument(
        "--staging",
        choices=STAGING_MODES,
        default=STAGING_MODES[0],
        help="how an action gets its inputs: by a file system that lends them, or as links (default: %(default)s)",
    )


def main(arguments: list[str]) -> int:
    """Runs a farm until Ctrl-C or SIGTERM."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=pathlib.Path, required=True, help="programs, logs and stored results")
    parser.add_argument("--workers", type=int, default=3, help="number of workers (default: 3)")
    parser.add_argument("--jobs", type=int, default=2, help="actions at once on each worker (default: 2)")
    add_staging(parser)
    flags = parser.parse_args(arguments)
    if flags.workers < 1 or flags.jobs < 1:
        parser.error("--workers and --jobs: must be 1 or more")
    if os.geteuid():
        parser.error("the farm mounts root folders: start it as root")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with farm(flags.folder.absolute(), flags.workers, flags.jobs, flags.staging) as (port, workers):
            print(f"--config=remote_execution --remote_executor=grpc://127.0.0.1:{port}", flush=True)
            print(f"process ids of the workers: {' '.join(str(worker.pid) for worker in workers)}", flush=True)
            while True:
                signal.pause()
    except (FarmError, RootFolderError) as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("the farm has ended", file=sys.stderr)
        return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
