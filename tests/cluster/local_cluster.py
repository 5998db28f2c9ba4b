"""A Ray cluster on this machine: each node is a raylet with a loopback address, started as a user would start it."""

import contextlib
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from tests.isolation.processes import descendants

#: Bytes of each node's object store, close to the least that Ray takes.
_OBJECT_STORE_BYTES = 80 * 10**6
_START_SECONDS = 120
#: Settings of Ray by which a node that is gone is noticed in two seconds, not in fifteen: runs of tests are shorter.
_SOON_NOTICED = {
    "RAY_health_check_initial_delay_ms": "500",
    "RAY_health_check_period_ms": "500",
    "RAY_health_check_timeout_ms": "5000",
    "RAY_health_check_failure_threshold": "3",
}


class LocalCluster:
    """Use as a context manager: at the end no process is left.

    Args: cache: folder for what nodes cache, which all share.
    """

    def __init__(self, cache: pathlib.Path):
        # Ray puts sockets below it, whose names have room for 107 characters: test directories are longer than that.
        self._temporary = pathlib.Path(tempfile.mkdtemp(prefix="ray", dir="/tmp"))
        self._environment = {
            **os.environ,
            "MLGO_CLUSTER_CACHE": str(cache),
            "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
            "RAY_TMPDIR": str(self._temporary),
            "HOME": str(self._temporary),
            **_SOON_NOTICED,
        }
        self._nodes: list[subprocess.Popen] = []
        self.address = f"127.0.0.1:{_free_port()}"

    def start_node(self, cpus: int, cache: pathlib.Path | None = None) -> int:
        """Starts a node, the head first; returns the id of its process, with which it ends.

        Args: cache: its own folder for what it caches; None: the cluster's.
        """
        number = len(self._nodes) + 1
        where = [
            "--head",
            f"--port={self.address.split(':')[1]}",
            "--include-dashboard=false",
            f"--temp-dir={self._temporary}",
        ]
        if self._nodes:
            where = [f"--address={self.address}"]
        command = [
            sys.executable,
            "-m",
            "mlgo.cluster.ray_command",
            "start",
            "--block",
            *where,
            f"--num-cpus={cpus}",
            f"--node-ip-address=127.0.0.{number}",
            f"--object-store-memory={_OBJECT_STORE_BYTES}",
            "--min-worker-port=0",
            "--max-worker-port=0",
            "--disable-usage-stats",
        ]
        output = open(self._temporary / f"node{number}.txt", "w", encoding="utf-8")  # pylint: disable=consider-using-with
        with output:
            process = subprocess.Popen(  # pylint: disable=consider-using-with
                command,
                env=self._environment | ({} if cache is None else {"MLGO_CLUSTER_CACHE": str(cache)}),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._nodes.append(process)
        deadline = time.monotonic() + _START_SECONDS
        while "Ray runtime started" not in (said := pathlib.Path(output.name).read_text(encoding="utf-8")):
            if process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(f"node {number} did not start:\n{said}")
            time.sleep(0.05)
        return process.pid

    def raylet_of(self, node: int) -> int:
        """Process id of the raylet that the node started as `node` runs."""
        children = pathlib.Path(f"/proc/{node}/task/{node}/children").read_text(encoding="ascii").split()
        (raylet,) = [
            int(child) for child in children if pathlib.Path(f"/proc/{child}/comm").read_text().strip() == "raylet"
        ]
        return raylet

    def send(self, node: int, number: int) -> None:
        """Sends a signal to all processes of the node started as `node`."""
        for process in descendants(node):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, number)

    def processes(self) -> list[int]:
        """Ids of all processes that are part of the cluster."""
        mark = f"RAY_TMPDIR={self._temporary}".encode()
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            if entry.name.isdigit() and int(entry.name) != os.getpid():
                try:
                    if mark in (entry / "environ").read_bytes().split(b"\0"):
                        found.append(int(entry.name))
                except OSError:
                    continue
        return found

    def __enter__(self) -> "LocalCluster":
        return self

    def __exit__(self, *_) -> None:
        # The last started first: a node without its head only complains.
        for node in reversed(self._nodes):
            node.kill()
            node.wait()
        deadline = time.monotonic() + 30
        while left := self.processes():
            for process in left:
                try:
                    os.kill(process, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            if time.monotonic() > deadline:
                raise AssertionError(f"processes {left} of the cluster do not end")
            time.sleep(0.05)
        shutil.rmtree(self._temporary, ignore_errors=True)


def _free_port() -> int:
    """A port that nothing listens on, and that the kernel gives to no connection before the head takes it.

    Ports for connections begin at 32,768 (net.ipv4.ip_local_port_range).
    """
    for port in random.SystemRandom().sample(range(20_000, 32_000), 100):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise OSError("none of 100 ports is free")
