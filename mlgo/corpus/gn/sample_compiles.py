"""Compiles the sources of a sample one by one, with the commands that Ninja has for them, and measures each.

Ninja itself would first make all that the target of an object depends on, such as programs of other targets and pages
of the browser. A compile reads its source and headers only.
"""

import dataclasses
import pathlib
import shlex
import threading
import time
from collections.abc import Iterable, Mapping, Sequence

from mlgo.corpus.gn import gn_build
from mlgo.corpus.gn.project import Configured
from mlgo.run import child, json_lines, progress

#: Ends of the names of files that a compile includes.
_HEADERS = (".h", ".hh", ".hpp", ".hxx", ".inc", ".inl", ".ipp", ".def")
#: Time limit of one compile, seconds.
_SECONDS = 600
#: Objects that Ninja is asked about at a time: their names must fit in one command line.
_ASKED_AT_ONCE = 2000
_DONE = "compiled.jsonl"
_OBJECT = "object"


@dataclasses.dataclass(frozen=True)
class Compiled:
    """Attributes:
    cpu_seconds: user and system.
    memory_bytes: peak resident memory.
    bytes: of the object; 0: there is none.
    failure: what the compiler said when it made no object, else "".
    """

    cpu_seconds: float
    memory_bytes: int
    bytes: int = 0
    failure: str = ""


def commands_of(configured: Configured, objects: Sequence[str]) -> dict[str, str]:
    """Object -> the shell command that makes it, which counts paths from the build folder.

    Raises: RunError: ninja does not make them.
    """
    found: dict[str, str] = {}
    for start in range(0, len(objects), _ASKED_AT_ONCE):
        asked = objects[start : start + _ASKED_AT_ONCE]
        lines = gn_build.last_commands(configured.tools, configured.layout, asked, configured.environment)
        found |= zip(asked, lines, strict=True)
    return found


def read_by(commands: Mapping[str, str], inputs: Iterable[str]) -> list[str]:
    """The files among `inputs` that compiles read: headers, and the source that each of `commands` names; sorted."""
    sources = {word for command in commands.values() for word in _sources(shlex.split(command))}
    return sorted(path for path in set(inputs) if path.endswith(_HEADERS) or path in sources)


def _sources(words: Sequence[str]) -> list[str]:
    return [following for word, following in zip(words, words[1:]) if word == "-c"]


def compile_all(configured: Configured, commands: Mapping[str, str], jobs: int, seconds: float) -> dict[str, Compiled]:
    """Runs `commands`; an interrupted run is resumed, and failures are tried again.

    Args: commands: object -> its command; jobs: at a time; seconds: none is begun later.
    Returns: object -> what became of it, for those that were begun.
    """
    build, store = configured.layout.build, configured.layout.work / _DONE
    done = {path: made for path, made in _earlier(store, build).items() if path in commands}
    rest = [path for path in commands if path not in done]
    bar = progress.start("sample", len(commands), "compiles", len(done))
    deadline = time.monotonic() + seconds

    lock = threading.Lock()

    def compile_one(path: str) -> None:
        if time.monotonic() > deadline:
            return
        made = _compile(build, path, commands[path], configured.environment)
        with lock:
            done[path] = made
            if not made.failure:
                json_lines.append(store, {_OBJECT: path, **dataclasses.asdict(made)}, durable=False)
            bar.advance()

    child.in_parallel(jobs, compile_one, rest)
    bar.close()
    return {path: done[path] for path in commands if path in done}


def _compile(build: pathlib.Path, path: str, command: str, environment: Mapping[str, str]) -> Compiled:
    (build / path).parent.mkdir(parents=True, exist_ok=True)
    try:
        ended = child.run(["/bin/sh", "-c", command], build, _SECONDS, environment=environment)
    except child.NotRun as error:
        return Compiled(float(_SECONDS), 0, failure=str(error))
    made = Compiled(ended.user_seconds + ended.system_seconds, int(ended.memory_mb * 1024 * 1024))
    if ended.exit_code or not (build / path).is_file():
        return dataclasses.replace(made, failure=ended.messages or f"exit code {ended.exit_code}, no message")
    return dataclasses.replace(made, bytes=(build / path).stat().st_size)


def _earlier(store: pathlib.Path, build: pathlib.Path) -> dict[str, Compiled]:
    """What earlier runs compiled and is still there. Raises: RunError: the file is not one of ours."""
    fields = {_OBJECT, *(field.name for field in dataclasses.fields(Compiled))}

    def is_there(record: json_lines.Record) -> bool:
        return record.keys() == fields and (build / str(record[_OBJECT])).is_file()

    records = json_lines.keep(store, is_there, "compiled sample", "Delete it")
    return {record.pop(_OBJECT): Compiled(**record) for record in records}
