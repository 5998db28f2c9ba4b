"""The folder of a run: one process at a time works in it, its stages run once, and how long they took is written down."""

import os
import pathlib
import shutil
import time
from collections.abc import Callable, Mapping
from typing import Any

from mlgo.pipeline import preflight
from mlgo.run import files, stages
from mlgo.run.manifest import Manifest
from mlgo.trace.setup import tell

#: Seconds each stage took in this run and in earlier, interrupted ones; two equal runs differ in it.
TIMINGS_NAME = "timings.json"


class RunFolder:
    """An output directory that this process has for itself until `close`, or until it ends.

    Args: path: created when absent.
    Raises: RunError: it cannot be written to, or another process works in it.
    """

    def __init__(self, path: pathlib.Path):
        self.path = path
        self._lock = preflight.open_output(path)
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
        resumed = preflight.claim_configuration(self.path, identity)
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
