"""A limit of memory for the processes of a run, and what they need: control groups of either version.

Pages of files count against the limit and are given up under pressure, so that the peak of interest is that of
anonymous memory, which is sampled.
"""

import contextlib
import dataclasses
import pathlib
import threading
import time
from collections.abc import Iterator

from tests.isolation.root_folders import RootFolderError

_CONTROL = pathlib.Path("/sys/fs/cgroup")
_SAMPLE_SECONDS = 0.5
_END_SECONDS = 10


@dataclasses.dataclass(frozen=True)
class _Version:
    """Names of the files of one version of control groups, and of their fields."""

    folder: pathlib.Path
    limit: str
    events: str
    anonymous: tuple[str, ...]


_VERSIONS = (
    # Linux, Documentation/admin-guide/cgroup-v1/memory.rst and cgroup-v2.rst.
    _Version(_CONTROL / "memory", "memory.limit_in_bytes", "memory.oom_control", ("total_rss", "total_shmem")),
    _Version(_CONTROL, "memory.max", "memory.events", ("anon", "shmem")),
)


class Group:
    """A control group.

    Attributes:
      peak_bytes: the most anonymous and shared memory at once, as sampled twice a second.
      enter: a command of a shell that puts the shell and its later children into the group.
    """

    def __init__(self, folder: pathlib.Path, version: _Version):
        self._folder, self._version, self._ended = folder, version, threading.Event()
        self.peak_bytes = 0
        self.enter = f"echo 0 > {folder}/cgroup.procs"

    @property
    def killed(self) -> int:
        """Processes that the kernel ended because the limit was reached."""
        return _fields(self._folder / self._version.events).get("oom_kill", 0)

    def _sample(self) -> None:
        while not self._ended.wait(_SAMPLE_SECONDS):
            stat = _fields(self._folder / "memory.stat")
            self.peak_bytes = max(self.peak_bytes, sum(stat.get(name, 0) for name in self._version.anonymous))

    @contextlib.contextmanager
    def _sampled(self) -> Iterator["Group"]:
        thread = threading.Thread(target=self._sample)
        thread.start()
        try:
            yield self
        finally:
            self._ended.set()
            thread.join()


def _fields(path: pathlib.Path) -> dict[str, int]:
    lines = (line.split() for line in path.read_text(encoding="ascii").splitlines())
    return {words[0]: int(words[1]) for words in lines if len(words) == 2 and words[1].isdigit()}


@contextlib.contextmanager
def limited(name: str, limit_bytes: int) -> Iterator[Group]:
    """A control group with a limit; it is removed with the block, when its processes have ended.

    Raises: RootFolderError: this machine lets no group be made.
    """
    for version in _VERSIONS:
        if not (version.folder / "cgroup.procs").exists():
            continue
        folder = version.folder / name
        try:
            folder.mkdir()
            (folder / version.limit).write_text(str(limit_bytes), encoding="ascii")
        except OSError as error:
            with contextlib.suppress(OSError):
                folder.rmdir()
            raise RootFolderError(
                f"{folder}: no limit of memory can be set ({error.strerror}). Run as root with the memory controller"
            ) from None
        try:
            with Group(folder, version)._sampled() as group:
                yield group
        finally:
            _remove(folder)
        return
    raise RootFolderError(f"{_CONTROL}: no control group for memory. Mount one and run the same command again")


def _remove(folder: pathlib.Path) -> None:
    end = time.monotonic() + _END_SECONDS
    while True:
        try:
            return folder.rmdir()
        except OSError as error:
            if time.monotonic() > end:
                raise RootFolderError(f"{folder}: cannot be removed ({error.strerror}). Remove it by hand") from None
            time.sleep(0.1)
