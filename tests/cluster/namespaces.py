"""A Ray cluster on this machine whose nodes see neither each other's files nor each other's network: each has a root
folder, a cache, processors and a network namespace of its own. Needs root.

A node's root folder shows what docs/train-on-a-cluster.md says a node needs: the machine's programs and libraries in
/usr, Python, numpy and Ray. It has no checkout. The first node is the head; the training command runs there, so its
root folder also shows the checkout, Bazel's output and the folder of the run.
"""

import contextlib
import importlib.util
import os
import pathlib
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence

from mlgo.run.exit_codes import RunError
from tests.cluster import speed
from tests.cluster.network import Network
from tests.isolation.processes import children, descendants, in_root, process

_HERE = pathlib.Path(__file__).resolve().parent
_PORT = 6379
#: Bytes of each node's object store, close to the least that Ray takes.
_OBJECT_STORE_BYTES = 80 * 10**6
_START_SECONDS = 240
_STARTED = "Ray runtime started"
_OPTIONS = (
    "--num-cpus=1",
    f"--object-store-memory={_OBJECT_STORE_BYTES}",
    "--include-log-monitor=false",
    "--disable-usage-stats",
)


class Cluster:
    """Nodes that `running` has started.

    Attributes:
      address: of the head, HOST:PORT.
      network: between the nodes.
      folder_of_run: of this machine; the head's root folder shows it at the same place, and programs may write there.
    """

    def __init__(self, folder: pathlib.Path, network: Network, shown: Sequence[pathlib.Path]):
        self.network = network
        self.address = f"{network.address(0)}:{_PORT}"
        self.folder_of_run = folder / "run"
        self.folder_of_run.mkdir()
        self._folder, self._shown = folder, shown
        self._groups: list[speed.Group] = []
        self._processes: list[subprocess.Popen] = []

    def start_node(self, until: contextlib.ExitStack) -> None:
        """Starts one more node, the head first, and returns when it is in the cluster.

        Args: until: ends it.
        Raises: RunError: it does not start; carries its last words.
        """
        number = len(self._processes)
        root, log = self._folder / f"node{number + 1}", self._folder / f"node{number + 1}.log"
        mounts = _make_root(root, self._shown if number == 0 else [], [self.folder_of_run] if number == 0 else [])
        where = ["--head", f"--port={_PORT}", "--include-dashboard=false"] if number == 0 else []
        where = where or [f"--address={self.address}"]
        command = _start([f"--node-ip-address={self.network.address(number)}", *where, *_OPTIONS])
        group = until.enter_context(speed.group(f"mlgo-{os.getpid()}-node{number + 1}"))
        words = self.network.inside(number) + in_root(root, command, mounts)
        # Ends with this program even if this program is killed.
        words = ["setpriv", "--pdeathsig=KILL", *group.entering(words)]
        started = until.enter_context(process(words, log))
        self._groups.append(group)
        self._processes.append(started)
        end = time.monotonic() + _START_SECONDS
        while _STARTED not in (said := log.read_text("utf-8", "replace")):
            if started.poll() is not None or time.monotonic() > end:
                raise RunError(f"node {number + 1}", "does not start", f"Its last words: {said[-1500:]}")
            time.sleep(0.2)

    def limit(self, node: int, cores: float) -> None:
        """From now on node 0, 1, ... has so many cores."""
        self._groups[node].limit(cores)

    def starts(self, node: int) -> int:
        """How often Ray has started on a node, as far as its log says."""
        return (self._folder / f"node{node + 1}.log").read_text("utf-8", "replace").count(_STARTED)

    def on_the_head(self) -> list[str]:
        """Words before a command that runs on the head, which must be a node of the cluster."""
        (first,) = children(self._processes[0].pid)
        return ["nsenter", f"--target={first}", "--mount", "--net", "--pid"]

    def memory_bytes(self) -> int:
        """Memory of all processes of all nodes; what they share counts once (Pss)."""
        found = 0
        for process_id in [each for started in self._processes for each in descendants(started.pid)]:
            with contextlib.suppress(OSError, ValueError):
                text = pathlib.Path(f"/proc/{process_id}/smaps_rollup").read_text("ascii")
                found += 1024 * int(text.partition("\nPss:")[2].split()[0])
        return found


@contextlib.contextmanager
def running(folder: pathlib.Path, nodes: int, shown: Sequence[pathlib.Path]) -> Iterator[Cluster]:
    """A cluster; at the end its processes, namespaces and control groups are gone.

    Args:
      folder: empty; receives the root folders, whose temporary files and caches count, and the nodes' logs.
      shown: folders of this machine that the head's root folder shows, at the same place.

    Raises:
      RunError: the kernel or this user lacks network namespaces, TAP devices, mount namespaces or control groups, or a
        node does not start.
    """
    # Left in the reverse order: processes first, then their groups and the network.
    with Network(nodes) as network, contextlib.ExitStack() as until:
        cluster = Cluster(folder, network, shown)
        for _ in range(nodes):
            cluster.start_node(until)
        yield cluster


def _start(options: Sequence[str]) -> str:
    """The first program of a node, as words of a shell in its root folder."""
    environment = {
        "PATH": "/usr/sbin:/usr/bin",
        "HOME": "/tmp",
        "LC_ALL": "C.UTF-8",
        "PYTHONPATH": "/ray:/site",
        "MLGO_CLUSTER_CACHE": "/cache",
    }
    settings = [f"{name}={value}" for name, value in environment.items()]
    return shlex.join(["/usr/bin/env", "-i", *settings, "/bin/sh", "/node/node.sh", "/python/bin/python3.11", *options])


def _make_root(root: pathlib.Path, shown: Sequence[pathlib.Path], writable: Sequence[pathlib.Path]) -> list[str]:
    """Makes a node's root folder; returns the commands that mount what it shows, for `in_root`."""
    for name in ("cache", "dev", "etc", "node", "old", "proc", "tmp"):
        (root / name).mkdir(parents=True, exist_ok=True)
    for name in ("bin", "sbin", "lib", "lib64"):
        (root / name).symlink_to(f"usr/{name}")
    (root / "etc/hosts").write_text("127.0.0.1 localhost\n", "ascii")
    (root / "etc/passwd").write_text("root:x:0:0:root:/tmp:/bin/sh\n", "ascii")
    (root / "node/node.sh").write_bytes((_HERE / "node.sh").read_bytes())
    command = pathlib.Path(importlib.util.find_spec("mlgo.cluster.ray_command").origin)
    (root / "node/ray_command.py").write_bytes(command.read_bytes())
    visible = {
        "usr": pathlib.Path("/usr"),
        "python": pathlib.Path(sys.executable).resolve().parents[1],
        "ray": _packages_with("ray"),
        "site": _packages_with("numpy"),
    }
    visible |= {_below_root(folder): folder for folder in (*shown, *writable)}
    mounts = []
    for name, source in visible.items():
        (root / name).mkdir(parents=True, exist_ok=True)
        option = "bind" if source in writable else "bind,ro"
        mounts.append(f"mount -o {option} {shlex.quote(str(source))} {shlex.quote(name)}")
    return [*mounts, "mount -t tmpfs -o size=1g shm dev/shm"]


def _below_root(folder: pathlib.Path) -> str:
    return folder.relative_to("/").as_posix()


def _packages_with(name: str) -> pathlib.Path:
    """The folder of Python packages that has package `name`."""
    return pathlib.Path(importlib.util.find_spec(name).origin).resolve().parents[1]
