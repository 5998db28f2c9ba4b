"""The folder of a run: a lock for one process at a time, stages that run once, and the time that each stage took."""

import fcntl
import json
import os
import pathlib
import shutil
import threading
import time
from collections.abc import Callable, Collection, Mapping
from typing import Any

from mlgo.run import files, manifest
from mlgo.run.exit_codes import RunError
from mlgo.run.json_fields import Fields
from mlgo.run.manifest import Manifest, digest_of_json
from mlgo.run.progress import tell
from mlgo.run.regular_file import read_regular

#: Inputs and configuration of a started stage, in its folder.
STARTED_NAME = "started.json"
#: Seconds of each stage, summed over interrupted runs; stages may overlap. Equal runs differ in this file.
TIMINGS_NAME = "timings.json"
#: The configuration of the run in an output directory.
CONFIGURATION_NAME = "configuration.json"
_LOCK_NAME = ".lock"
#: Beginnings of the names of values in a configuration that mlgo itself decides, and no flag (mlgo/identity/code.py).
_OF_MLGO = ("code", "versions")
#: Folders on the way to a stage, at most.
_STAGE_DEPTH = 4


def started_in(folder: pathlib.Path) -> Any:
    """What STARTED_NAME in the folder of a stage holds; None: nothing that can be read."""
    try:
        return json.loads(read_regular(folder / STARTED_NAME, files.MAX_JSON_BYTES))
    except (OSError, ValueError, RecursionError):
        return None


class RunFolder:
    """An output directory, `path`, that this process has locked until `close`, or until the process ends.

    Args: build_tree: name of the folder in it that the command makes with links to sources; "": none.
    Attributes: results: the directory, or the folder in it that `claim` was given for results.
    Raises: RunError: it cannot be written to, another process has locked it, a link in it leads out of it, or it holds
      folders and is not of a run: stages replace folders.
    """

    def __init__(self, path: pathlib.Path, build_tree: str = ""):
        self.path = self.results = path
        is_new = not _is_run(path)
        self._lock = open_output(path)
        try:
            _refuse_links(path, build_tree)
            if is_new:
                _refuse_foreign(path, build_tree)
        except BaseException:
            if is_new:
                (path / _LOCK_NAME).unlink()
            self.close()
            raise
        self._code: str | None = None
        self._seconds: dict[str, float] = {}
        self._timings = threading.Lock()

    @property
    def work(self) -> pathlib.Path:
        """A folder for temporary files of the process."""
        return self.path / "work"

    def claim(
        self, identity: Mapping[str, Any], results: pathlib.Path | None = None, grows: Collection[str] = ()
    ) -> bool:
        """Before all stages: claim_configuration of `identity` (mlgo/identity/code.py), whose "code" becomes an input
        of every stage; removes temporary files of a killed process.

        Args: results: the folder in it that holds the identity and takes the results; None: the directory itself.
        """
        self.results = self.path if results is None else results
        self._code = digest_of_json(identity["code"])
        resumed = claim_configuration(self.results, identity, grows)
        self.remove_work()
        files.remove_partial(self.path)
        if (self.path / TIMINGS_NAME).exists():
            content = files.read_json(self.path / TIMINGS_NAME, "timings", "Delete the file")
            fields = Fields(content, f"timings ({self.path / TIMINGS_NAME})", "Delete the file")
            self._seconds = {name: fields.read(name, float) for name in content}
        return resumed

    def stage(
        self,
        name: str,
        inputs: Mapping[str, str],
        configuration: Mapping[str, Any],
        work: Callable[[pathlib.Path], Mapping[str, Any]],
        root: pathlib.Path | None = None,
        continues: Callable[[Any, Mapping[str, Any]], bool] | None = None,
    ) -> Manifest:
        """Does what is left of the work of stage `name` in its folder below `root` (None: below `path`).

        Args:
          inputs, configuration: as in `Manifest`; when they differ from those in the folder, the folder is emptied.
          work: writes the outputs into the folder, where finished files of an interrupted run are still there, and
            returns the manifest's summary.
          continues: whether a stage that was started with other {"stage", "inputs", "configuration"} can be continued
            with the present ones; None: never.
        """
        if self._code is None:
            raise AssertionError(f"stage {name} runs before the folder is claimed")
        inputs, folder = {**inputs, "code": self._code}, (root or self.path) / name
        current = manifest.read_if_current(folder, name, inputs, configuration)
        if current is not None:
            tell(f"{name}: done before, in {folder}")
            return current
        _prepare(folder, {"stage": name, "inputs": inputs, "configuration": dict(configuration)}, continues)
        begin = time.monotonic()
        try:
            summary = work(folder)
        finally:
            with self._timings:
                self._seconds[name] = round(self._seconds.get(name, 0.0) + time.monotonic() - begin, 1)
                files.write_json_atomically(self.path / TIMINGS_NAME, self._seconds)
        outputs = manifest.digests_of(folder, manifest.files_below(folder))
        done = Manifest(name, inputs, dict(configuration), outputs, dict(summary))
        manifest.write(folder, done)
        return done

    @property
    def seconds(self) -> Mapping[str, float]:
        """Seconds by stage."""
        return dict(self._seconds)

    def remove_work(self) -> None:
        """Empties `work`."""
        shutil.rmtree(self.work, ignore_errors=True)

    def close(self) -> None:
        """Releases the lock."""
        os.close(self._lock)


def _prepare(
    folder: pathlib.Path, asked: Mapping[str, Any], continues: Callable[[Any, Mapping[str, Any]], bool] | None
) -> None:
    """Records what a stage is started with, and removes what it cannot continue. Args: see RunFolder.stage."""
    started, path = files.encode_json(asked), folder / STARTED_NAME
    is_same = _holds(path, started)
    if is_same or (continues is not None and continues(started_in(folder), asked)):
        files.remove_partial(folder)
        # First: a manifest must never lie beside a configuration that it is not of.
        (folder / manifest.FILE_NAME).unlink(missing_ok=True)
    else:
        if folder.exists():
            tell(f"{asked['stage']}: runs again, for {_changed(started_in(folder), asked)}")
        shutil.rmtree(folder, ignore_errors=True)
    if not is_same:
        files.write_atomically(path, started)


def _changed(earlier: Any, asked: Mapping[str, Any]) -> str:
    """What differs between the two records of a started stage, for the user."""
    if not isinstance(earlier, Mapping):
        return "its folder does not say what its results rest on"
    names = []
    for part in ("inputs", "configuration"):
        before = earlier.get(part)
        before = before if isinstance(before, Mapping) else {}
        now = json.loads(files.encode_json(asked[part]))
        names += sorted(name for name in {*before, *now} if before.get(name) != now.get(name))
    return f"{', '.join(names) or 'its name'} changed"


def _holds(path: pathlib.Path, content: bytes) -> bool:
    try:
        return read_regular(path, len(content)) == content
    except OSError:
        return False


def open_output(folder: pathlib.Path) -> int:
    """Creates and locks `folder` until the returned descriptor is closed. Raises: RunError: not writable, or locked."""
    subject, remedy = f"--output_dir={folder}", "Give another --output_dir"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        lock = os.open(folder / _LOCK_NAME, flags, 0o644)
    except OSError as error:
        raise RunError(subject, f"cannot be written to: {error.strerror}", remedy) from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(lock)
        raise RunError(subject, "is in use by another run", f"Wait for it, or: {remedy}") from error
    return lock


def _refuse_links(folder: pathlib.Path, build_tree: str) -> None:
    """Raises: RunError: a link leads out of `folder`, and so would writes. Runs make links only in a build tree."""
    root = pathlib.Path(os.path.realpath(folder))
    for directory, folders, names in os.walk(folder):
        for name in [*folders, *names]:
            path = os.path.join(directory, name)
            if os.path.islink(path) and not pathlib.Path(os.path.realpath(path)).is_relative_to(root):
                wrong = f"holds the symbolic link {os.path.relpath(path, folder)}, which leads out of it"
                raise RunError(f"--output_dir={folder}", wrong, "Remove the link, or give another --output_dir")
        if build_tree in folders and directory == os.fspath(folder):
            folders.remove(build_tree)


def _is_run(folder: pathlib.Path) -> bool:
    return any(os.path.lexists(folder / name) for name in (_LOCK_NAME, CONFIGURATION_NAME))


def _refuse_foreign(folder: pathlib.Path, build_tree: str) -> None:
    """Raises: RunError: a folder in it has files, and is neither of a run nor `build_tree`."""
    for path in sorted(folder.iterdir()):
        if path.is_dir() and path.name != build_tree and not _is_run(path) and any(path.iterdir()):
            wrong = f"holds the folder {path.name}, and is not the folder of a run, which replaces folders in it"
            raise RunError(f"--output_dir={folder}", wrong, "Give a new or an empty --output_dir")


def claim_configuration(folder: pathlib.Path, configuration: Mapping[str, Any], grows: Collection[str] = ()) -> bool:
    """Records the configuration of the run in `folder`, or compares it with that of an earlier run.

    Args: grows: names, such as "inputs.corpora", of mappings and lists that may have more entries than before.
    Returns: whether there is an earlier run to resume.
    Raises: RunError: the earlier run has another configuration, and every difference is listed; or none is recorded.
    """
    path, subject = folder / CONFIGURATION_NAME, f"--output_dir={folder}"
    remedy = f"Give another --output_dir, or delete {folder}"
    if not path.exists():
        if _has_stages(folder):  # Some commands of earlier versions recorded no configuration.
            wrong = "holds results of an earlier version of mlgo, which does not say what they rest on"
            raise RunError(subject, wrong, remedy)
        files.write_json_atomically(path, configuration)
        return False
    earlier = files.read_json(path, "configuration of the earlier run", remedy)
    differences = _differences("", earlier, configuration, grows)
    of_mlgo = [name.partition(".")[2] for name in differences if name.startswith(_OF_MLGO)]
    if of_mlgo:  # No flag brings the old code back.
        wrong = f"holds results of another version of mlgo (what differs: {', '.join(of_mlgo)})"
        raise RunError(subject, wrong, remedy)
    if differences:
        listing = "".join(f"\n  {name}: {line}" for name, line in differences.items())
        wrong = f"holds a run with another configuration:{listing}\n"
        raise RunError(subject, wrong, f"Give the old values, or another --output_dir, or delete {folder}")
    if files.encode_json(earlier) != files.encode_json(configuration):
        files.write_json_atomically(path, configuration)
    return True


def _has_stages(folder: pathlib.Path) -> bool:
    """Whether there are stages of a run in `folder`; those of a run in a folder below it do not count."""
    for depth in range(1, _STAGE_DEPTH + 1):
        for path in folder.glob("*/" * depth + STARTED_NAME):
            started = started_in(path.parent)
            if isinstance(started, Mapping) and started.get("stage") == path.parent.relative_to(folder).as_posix():
                return True
    return False


def _differences(name: str, earlier: Any, now: Any, grows: Collection[str]) -> dict[str, str]:
    """Name of a value -> what differs. Args: name: of the two; "": of the whole."""
    may_grow = name in grows
    if isinstance(earlier, Mapping) and isinstance(now, Mapping):
        found: dict[str, str] = {}
        for key in sorted(earlier.keys() | now.keys()):
            inner = f"{name}.{key}" if name else key
            if not (may_grow and key not in earlier):
                found |= _differences(inner, earlier.get(key), now.get(key), grows)
        return found
    # Compared as JSON, in which a tuple is a list.
    if files.encode_json(earlier) == files.encode_json(now):
        return {}
    if may_grow and isinstance(earlier, list) and isinstance(now, (list, tuple)) and set(earlier) <= set(now):
        return {}
    if isinstance(now, Mapping) or isinstance(earlier, Mapping):  # Not all that is in it.
        return {name: "was not recorded" if earlier is None else "is recorded there, and is not in this run"}
    return {name: f"was {earlier!r}, now {now!r}"}
