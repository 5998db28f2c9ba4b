"""Network namespaces of this machine, joined by a switch in this process, which can lose and delay frames.

A namespace has one interface besides its loopback: a TAP device, whose frames this process reads and writes. There is
no way from there to this machine's own interfaces, and addresses are those that RFC 5737 keeps for documentation.
Nothing has a name that outlives this process: the kernel removes namespaces and devices when the last process in them
and this one end.
"""

import contextlib
import ctypes
import fcntl
import os
import select
import struct
import subprocess
import threading
import time

from mlgo.run.exit_codes import RunError
from tests.cluster.faults import Count, Fault, Switch

_CLONE_NEWNET = 0x40000000  # linux/sched.h
_TUNSETIFF = 0x400454CA  # linux/if_tun.h
_IFF_TAP, _IFF_NO_PI = 0x0002, 0x1000
_DEVICE = "link0"
#: Of a frame's content: 200 MB of compiler are 20,000 frames.
_MTU = 9000
_FRAME_BYTES = _MTU + 64
_LONGEST_WAIT_SECONDS = 0.5


class Network:
    """Use as a context manager, as root.

    Args:
      nodes: number of namespaces, 1 to 250.
      seed: of the frames that are lost.

    Raises (on entry): RunError: the kernel has no network namespaces or no TAP devices, or this user may not make them.
    """

    def __init__(self, nodes: int, seed: int = 1):
        self._nodes = nodes
        self._switch = Switch(nodes, seed)
        self._taps: list[int] = []
        self._namespaces: list[int] = []
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._carry, name="switch", daemon=True)

    def address(self, node: int) -> str:
        """IPv4 address of node 0, 1, ..."""
        return f"192.0.2.{node + 1}"

    def inside(self, node: int) -> list[str]:
        """Words before a command that runs in the namespace of a node."""
        return ["nsenter", f"--net=/proc/{os.getpid()}/fd/{self._namespaces[node]}"]

    def set_fault(self, node: int, fault: Fault) -> None:
        """From now on frames of the node have this fault."""
        with self._lock:
            self._switch.faults[node] = fault

    def count(self, node: int) -> Count:
        """Frames of the node so far."""
        with self._lock:
            return Count(**vars(self._switch.counts[node]))

    def __enter__(self) -> "Network":
        try:
            for node in range(self._nodes):
                self._add(node)
        except BaseException:
            self._close()
            raise
        self._thread.start()
        return self

    def __exit__(self, *_) -> None:
        self._ended.set()
        self._thread.join()
        self._close()

    def _close(self) -> None:
        for descriptor in (*self._taps, *self._namespaces):
            os.close(descriptor)
        self._taps, self._namespaces = [], []

    def _add(self, node: int) -> None:
        problems: list[BaseException] = []

        def make() -> None:
            try:
                self._make(self.address(node))
            except (OSError, subprocess.CalledProcessError) as error:
                problems.append(error)

        # A namespace belongs to a thread: this one ends with its work, and the others stay where they are.
        thread = threading.Thread(target=make)
        thread.start()
        thread.join()
        if problems:
            remedy = "Start this as root on a machine with iproute2, /dev/net/tun and network namespaces"
            raise RunError(f"network namespace of node {node + 1}", f"cannot be made: {problems[0]}", remedy)

    def _make(self, address: str) -> None:
        if ctypes.CDLL(None, use_errno=True).unshare(_CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), f"unshare: {os.strerror(ctypes.get_errno())}")
        self._namespaces.append(os.open("/proc/thread-self/ns/net", os.O_RDONLY))
        tap = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        self._taps.append(tap)
        fcntl.ioctl(tap, _TUNSETIFF, struct.pack("16sH", _DEVICE.encode(), _IFF_TAP | _IFF_NO_PI))
        for words in (f"address add {address}/24 dev {_DEVICE}", f"link set {_DEVICE} mtu {_MTU} up", "link set lo up"):
            subprocess.run(["ip", *words.split()], check=True, capture_output=True)

    def _carry(self) -> None:
        links = {tap: link for link, tap in enumerate(self._taps)}
        poll = select.epoll()
        for tap in links:
            poll.register(tap, select.EPOLLIN)
        with contextlib.closing(poll):
            while not self._ended.is_set():
                with self._lock:
                    arrival = self._switch.next_arrival()
                wait = _LONGEST_WAIT_SECONDS if arrival is None else arrival - time.monotonic()
                readable = poll.poll(min(max(wait, 0.0), _LONGEST_WAIT_SECONDS))
                with self._lock:
                    for tap, _ in readable:
                        with contextlib.suppress(BlockingIOError):
                            self._switch.accept(links[tap], os.read(tap, _FRAME_BYTES), time.monotonic())
                    arrived = self._switch.due(time.monotonic())
                for link, frame in arrived:
                    # A receiver whose queue is full loses the frame, as on any network.
                    with contextlib.suppress(OSError):
                        os.write(self._taps[link], frame)
