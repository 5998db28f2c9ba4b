"""A limit of memory for the processes of a run, and what they need.

Pages of files count against the limit and are given up under pressure, so that the peak of interest is that of
anonymous memory, which is sampled.
"""

import contextlib
import dataclasses
import pathlib
import threading
from collections.abc import Iterator

from mlgo.run.exit_codes import RunError
from tests.isolation import control_group

_SAMPLE_SECONDS = 0.5


@dataclasses.dataclass(frozen=True)
class _Files:
    """Names of the files of one version of control groups, and of their fields."""

    limit: str
    events: str
    anonymous: tuple[str, ...]


#: By version; Linux, Documentation/admin-guide/cgroup-v1/memory.rst and cgroup-v2.rst.
_FILES = {
    1: _Files("memory.limit_in_bytes", "memory.oom_control", ("total_rss", "total_shmem")),
    2: _Files("memory.max", "memory.events", ("anon", "shmem")),
}


class Group(control_group.ControlGroup):
    """A control group that limits memory.

    Attributes:
      peak_bytes: the most anonymous and shared memory at once, as sampled twice a second.
    """

    def __init__(self, folder: pathlib.Path, version: int):
        super().__init__(folder)
        self._files, self._ended = _FILES[version], threading.Event()
        self.peak_bytes = 0

    def limit(self, limit_bytes: int) -> None:
        """Raises: RunError: the kernel does not let this process set it."""
        path = self._folder / self._files.limit
        try:
            path.write_text(str(limit_bytes), encoding="ascii")
        except OSError as error:
            raise RunError(str(path), f"cannot be written: {error.strerror}", "Start this as root") from error

    @property
    def killed(self) -> int:
        """Processes that the kernel ended because the limit was reached."""
        return _fields(self._folder / self._files.events).get("oom_kill", 0)

    def _sample(self) -> None:
        while not self._ended.wait(_SAMPLE_SECONDS):
            stat = _fields(self._folder / "memory.stat")
            self.peak_bytes = max(self.peak_bytes, sum(stat.get(name, 0) for name in self._files.anonymous))

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

    Raises: RunError: see `control_group.made` and `Group.limit`.
    """
    with control_group.made(name, "memory") as (folder, version):
        group = Group(folder, version)
        group.limit(limit_bytes)
        with group._sampled():
            yield group
