"""The folder of a run: one process at a time works in it, its stages run once, and how long they took is written down."""

import fcntl
import os
import pathlib
import shutil
import time
from collections.abc import Callable, Mapping
from typing import Any

from mlgo.run import files, stages
from mlgo.run.exit_codes import RunError
from mlgo.run.manifest import Manifest
from mlgo.run.progress import tell

#: Seconds each stage took in this run and in earlier, interrupted ones; two equal runs differ in it.
TIMINGS_NAME = "timings.json"

#: Records what the run in an output directory was configured with.
CONFIGURATION_NAME = "configuration.json"

_LOCK_NAME = ".lock"


class RunFolder:
    """An output directory that this process has for itself until `close`, or until it ends.

    Args: path: created when absent.
    Raises: RunError: it cannot be written to, or another process works in it.
    """

    def __init__(self, path: pathlib.Path):
        self.path = path
        self._lock = open_output(path)
        self._seconds: dict[str, float] = {}

    @property
    def work(self) -> pathlib.Path:
        """A folder below it for what nobody needs after the process has ended."""
        return self.path / "work"

    def claim(self, identity: Mapping[str, Any]) -> bool:
        """Makes it the folder of the run with this identity, or finds that it is; removes what a killed process left.

        Returns: whether there is an earlier run to go on with.
        Raises: RunError: it is the folder of a run with another identity; every difference is listed.
        """
        self.remove_work()
        files.remove_partial(self.path)
        resumed = claim_configuration(self.path, identity)
        if (self.path / TIMINGS_NAME).exists():
            self._seconds = files.read_json(self.path / TIMINGS_NAME, "timings", "Delete the file")
        return resumed

    def stage(
        self,
        name: str,
        inputs: Mapping[str, str],
        configuration: Mapping[str, Any],
        work: Callable[[pathlib.Path], Mapping[str, Any]],
    ) -> Manifest:
        """The manifest of stage `name` after what is left of its work was done; see stages.run_once."""

        def timed(folder: pathlib.Path) -> Mapping[str, Any]:
            begin = time.monotonic()
            try:
                return work(folder)
            finally:
                self._seconds[name] = round(self._seconds.get(name, 0.0) + time.monotonic() - begin, 1)
                files.write_json_atomically(self.path / TIMINGS_NAME, self._seconds)

        return stages.run_once(self.path / name, name, inputs, configuration, timed, tell)

    @property
    def seconds(self) -> Mapping[str, float]:
        """Seconds by stage."""
        return dict(self._seconds)

    def remove_work(self) -> None:
        """Empties `work`."""
        shutil.rmtree(self.work, ignore_errors=True)

    def close(self) -> None:
        """Lets others work in it."""
        os.close(self._lock)


def open_output(folder: pathlib.Path) -> int:
    """Creates `folder` when absent and takes its lock, which lasts as long as this process.

    Returns: the lock's file descriptor.
    Raises: RunError: the folder cannot be written to, or another process works in it.
    """
    remedy = "Give another --output_dir"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(folder / _LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise RunError(f"--output_dir={folder}", f"cannot be written to: {error.strerror}", remedy) from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(lock)
        raise RunError(f"--output_dir={folder}", "is in use by another run", f"Wait for it, or: {remedy}") from error
    return lock


def claim_configuration(folder: pathlib.Path, configuration: Mapping[str, Any]) -> bool:
    """Records the configuration of the run in `folder`, or finds it to be the same as that of an earlier run.

    Returns: whether an earlier run with this configuration is there to go on with.
    Raises: RunError: an earlier run had another configuration; every difference is listed.
    """
    path = folder / CONFIGURATION_NAME
    if not path.exists():
        files.write_json_atomically(path, configuration)
        return False
    remedy = f"Give the old values, or another --output_dir, or delete {folder}"
    earlier = files.read_json(path, "configuration of the earlier run", remedy)
    differences = _differences("", earlier, configuration)
    if differences:
        listing = "".join(f"\n  {line}" for line in differences)
        raise RunError(f"--output_dir={folder}", f"holds a run with another configuration:{listing}\n", remedy)
    return True


def _differences(name: str, earlier: Any, now: Any) -> list[str]:
    if isinstance(earlier, Mapping) and isinstance(now, Mapping):
        lines = []
        for key in sorted(set(earlier) | set(now)):
            lines += _differences(f"{name}.{key}" if name else key, earlier.get(key), now.get(key))
        return lines
    # Compared as JSON: a tuple comes back as a list.
    if files.encode_json(earlier) == files.encode_json(now):
        return []
    return [f"{name}: was {earlier!r}, now {now!r}"]
