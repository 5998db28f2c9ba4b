"""What builds in a project made, recorded or stated by compile_commands.json, kept in the cache for later runs."""

from __future__ import annotations

import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from mlgo.corpus.extraction.quoting import expand_response_files, read_entry, response_file_reader, split_shell
from mlgo.corpus.options.driver import parse_driver
from mlgo.project import recording, steps
from mlgo.project.command_line import Archive, Compile, Header, Link, Made, understand
from mlgo.project.compiler import Compiler, shortened
from mlgo.project.recording import Record, compiler_place, read_records
from mlgo.run.exit_codes import RunError
from mlgo.run.files import encode_json, parse_json, read_json, write_atomically
from mlgo.run.regular_file import read_file, read_regular

_RECORDS, _RECORDING, _REMOVED = "records.", "recording.json", "removed"
_FORMAT = 1
# Of a link.txt.
_MOST_BYTES = 64 << 20
_NO_LINK = "Configure the folder again, or add --link=..."
_OPTION = re.compile("-[fmp]")
# As in record.sh: what changes the meaning of a program stays, and clang refuses it.
_UNKNOWN = re.compile(
    r"(?:unknown argument:?|unsupported option) '(-(?:f(?!.*(?:charset|exceptions|struct|underscor)|fixed-|call-|plugin"
    r"|hard|strub|openacc|gnu-tm|signaling-nans|single-precision-constant)|mstringop-strategy=|minline-.*-stringops"
    r"|mbranch-cost=|pass-exit-codes)[^']*)'"
)
# Between the commands of a line of a shell.
_ENDS = ("&&", "||", ";")
_KINDS: Mapping[str, Callable[..., Made]] = {kind.__name__: kind for kind in (Archive, Compile, Header, Link)}


class Recorded(NamedTuple):
    """What is known of the builds of a project."""

    commands: list[Made]  #: in the order of their ends.
    seconds: float  #: CPU time of the build; 0: it was not run, and other compilers may have made its objects.
    changed: Mapping[str, int | None]  #: what was linked -> when, in nanoseconds since 1970.


def read(cache: pathlib.Path, verb: str) -> Recorded:
    """What was recorded. Raises: RunError: nothing."""
    kept = _read(cache)
    if not kept:
        raise RunError(f"mlgo {verb}", "has no command, and no build was recorded here", f"Write: mlgo {verb} -- make")
    try:
        return Recorded([_command_of(entry) for entry in kept["commands"]], kept["build_seconds"], kept["changed"])
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        remedy = f"Remove it, clean, and write: mlgo {verb} -- make"
        raise RunError(str(cache / _RECORDING), "was not written by this mlgo", remedy) from error


def record(compiler: Compiler, cache: pathlib.Path, command: Sequence[str], say: Callable[[str], None]) -> int:
    """Runs the build and adds what it made to what is known of builds before; its exit code."""
    recording.make_links(cache / "path", compiler, os.environ.get("PATH", os.defpath))
    path = pathlib.Path(tempfile.mkdtemp(dir=cache, prefix=_RECORDS))
    environment = recording.environment_of(compiler, cache / "path", os.environ, records=path, command=command)
    code, seconds = recording.run_build(command, environment)
    if not path.is_dir():
        if code:
            return code
        wrong = f"removed {path.parent}, where its commands are recorded"
        raise RunError("the build", wrong, "Name a folder that it does not remove: --output=../mlgo")
    made, broken = _keep(cache, path, lambda kept, found: max(seconds, kept))
    if not made and _read(cache)["commands"]:
        say("this build made nothing by a compiler that mlgo knows; what is known is from builds before")
    if broken:
        say(f"{broken} commands of the build are not known: they were ended, or the disk is full")
    return code


def adopt(cache: pathlib.Path) -> None:
    """Keeps what builds made whose `mlgo` was killed."""
    for path in sorted(cache.glob(f"{_RECORDS}*")):
        _keep(cache, path, lambda kept, found: kept + found)


def _keep(cache: pathlib.Path, records: pathlib.Path, total: Callable[[float, float], float]) -> tuple[int, int]:
    """Adds what was recorded to what is known of builds before, and removes the folder.

    Args: total: from the CPU seconds of the build that are known and those of the records to the new ones.
    Returns: the number of commands that made something, and that of records that are cut off.
    """
    found, broken = read_records(records)
    made = with_kept_objects([each for one in found for each in understand(one)], records / "objects", cache / _REMOVED)
    kept = _read(cache)
    _write(cache, kept, made, total(kept.get("build_seconds", 0.0), sum(one.seconds for one in found)))
    shutil.rmtree(records, ignore_errors=True)
    return len(made), broken


def with_kept_objects(made: Sequence[Made], kept: pathlib.Path, folder: pathlib.Path) -> list[Made]:
    """`made`, with links of what record.sh `kept` in place of objects that no command made and that are gone.

    Args: folder: where these move to.
    """
    outputs = {each.output for each in made}

    def found(word: str) -> str:
        if not word.startswith("/") or word in outputs or os.path.exists(word):
            return word
        own = folder / word[1:]
        if (kept / word[1:]).is_file():
            own.parent.mkdir(parents=True, exist_ok=True)
            os.replace(kept / word[1:], own)
        return str(own) if own.is_file() else word

    return [
        dataclasses.replace(one, words=tuple(map(found, one.words))) if isinstance(one, Link) else one for one in made
    ]


def state(
    compiler: Compiler, cache: pathlib.Path, database: pathlib.Path, links: Sequence[str], say: Callable[[str], None]
) -> None:
    """Keeps what a compile_commands.json says, in the place of what is known of builds before."""
    made, others = commands_of(database, links)
    made = _without_unknown(compiler, cache, made)
    if others:
        name, why = min(others.items())
        say(f"{len(others)} commands are passed over; the first: {os.path.basename(name)} {why}")
    _write(cache, {}, made, 0.0)


def _without_unknown(compiler: Compiler, cache: pathlib.Path, made: Sequence[Made]) -> list[Made]:
    """The commands without options of optimisation that only gcc knows; record.sh leaves them out of builds it sees."""
    given = {one: list(parse_driver(one.words)) for one in made if isinstance(one, (Compile, Link))}
    single = {option.words for options in given.values() for option in options if _OPTION.match(option.words[0])}
    asked = sorted(words[0] for words in single if len(words) == 1)
    with tempfile.TemporaryDirectory(dir=cache, prefix=".options.") as folder:
        command = [compiler.tool("clang"), "-###", "-x", "c", "-c", os.devnull, *asked]
        said = steps.run(shortened(command, pathlib.Path(folder, "response")), folder).messages
    unknown = {(word,) for word in _UNKNOWN.findall(said)}
    return [
        dataclasses.replace(one, words=tuple(word for o in given[one] if o.words not in unknown for word in o.words))
        if one in given
        else one
        for one in made
    ]


def _write(cache: pathlib.Path, kept: Mapping[str, Any], made: Sequence[Made], seconds: float) -> None:
    """Adds `made` to what was kept before."""
    outputs = {each.output for each in made}
    before = [entry for entry in kept.get("commands", ()) if entry["output"] not in outputs]
    commands = [*before, *({"kind": type(each).__name__, **dataclasses.asdict(each)} for each in made)]
    times = {each.output: time_of(each.output) for each in made if isinstance(each, Link)}
    changed = {**kept.get("changed", {}), **times}
    content = {"format": _FORMAT, "commands": commands, "build_seconds": seconds, "changed": changed}
    write_atomically(cache / _RECORDING, encode_json(content))
    named = {word for entry in commands for word in entry.get("words", ())}
    for folder, _, names in os.walk(cache / _REMOVED, topdown=False):
        for name in names:
            if os.path.join(folder, name) not in named:
                os.unlink(os.path.join(folder, name))
        if not os.listdir(folder):
            os.rmdir(folder)


def time_of(path: str) -> int | None:
    """When a file was last changed, in nanoseconds since 1970; None: it is not there."""
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return None


def _read(cache: pathlib.Path) -> dict[str, Any]:
    """What `_write` wrote; empty when there is nothing that can be used."""
    try:
        content = parse_json(read_regular(cache / _RECORDING), _RECORDING, "Remove it")
        if content.get("format") != _FORMAT or not all(isinstance(one["output"], str) for one in content["commands"]):
            return {}
        return {**content, "build_seconds": float(content["build_seconds"]), "changed": dict(content["changed"])}
    except (RunError, OSError, ValueError, AttributeError, KeyError, TypeError):
        return {}


def _command_of(entry: Mapping[str, Any]) -> Made:
    fields: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in entry.items()}
    return _KINDS[fields.pop("kind")](**fields)


def commands_of(database: pathlib.Path, links: Sequence[str]) -> tuple[list[Made], dict[str, str]]:
    """The compiles of a compile_commands.json, with links; and source -> why it is passed over.

    Links are those of `links`, commands in the database's folder, else of the build.ninja beside the database, else of
    the link.txt files that CMake writes for make. Raises: RunError: the database cannot be read, or no link is found.
    """
    entries = read_json(database, "compile commands", "Give a compile_commands.json")
    if not isinstance(entries, list):
        raise RunError(f"--compile_commands={database}", "is not a list of commands", "Give a compile_commands.json")
    folder = os.path.dirname(os.path.abspath(database))
    found: list[Made] = []
    others: dict[str, str] = {}
    for index, entry in enumerate(entries):
        command = read_entry(entry, folder)
        if isinstance(command, str):
            others[f"entry {index}"] = command
            continue
        made = _understood(command.words, command.directory)
        if not made:
            why = f"is no compile of clang's: {os.path.basename(''.join(command.words[:1])) or 'it has no words'}"
            others[command.source or f"entry {index}"] = why
        found += made
    found += _links(database, folder, links)
    return found, others


def _understood(words: Sequence[str], directory: str) -> list[Made]:
    """What a command makes, as if clang had run it; empty: it is no compiler's."""
    place = compiler_place(words)
    if place is None:
        return []
    tool = "clang++" if "++" in os.path.basename(words[place]) else "clang"
    return understand(Record(tool, directory, tuple(words[place + 1 :]), 0, "clang", 0.0, 0))


def _links(database: pathlib.Path, folder: str, given: Sequence[str]) -> list[Link]:
    if given:
        made = [one for command in given for one in _made_by(command, folder)]
        if not made:
            raise RunError(f"--link={given[0]}", "links nothing", "Write it as the build does: cc a.o b.o -o program")
        return made
    if os.path.exists(os.path.join(folder, "build.ninja")):
        return _of_ninja(folder)
    texts = sorted(pathlib.Path(folder).glob("**/CMakeFiles/*.dir/link.txt"))
    found = [one for path in texts for one in _made_by(_link_txt(path), path.parents[2])]
    if not found:
        raise RunError(
            f"--compile_commands={database}",
            "has no links, and neither build.ninja nor CMake's link.txt is beside it",
            "Add --link='cc a.o b.o -o program', or write the build behind --",
        )
    return found


def _link_txt(path: pathlib.Path) -> str:
    return os.fsdecode(read_file(path, _MOST_BYTES, "a link of CMake", _NO_LINK))


def _of_ninja(folder: str) -> list[Link]:
    ninja = shutil.which("ninja")
    if ninja is None:
        raise RunError("ninja", "is not on PATH, and tells the links of build.ninja", "Install it, or add --link=...")
    done = subprocess.run([ninja, "-C", folder, "-t", "commands"], capture_output=True, check=False)
    if done.returncode:
        wrong = f"cannot read {folder}: {done.stderr.decode('utf-8', 'replace').strip()[-200:]}"
        raise RunError("ninja -t commands", wrong, _NO_LINK)
    lines = os.fsdecode(done.stdout).splitlines()
    return [one for line in lines if " -c " not in line for one in _made_by(line, folder)]


def _made_by(text: str, folder: str | pathlib.Path) -> list[Link]:
    """The links in a text of shell commands."""
    found: list[Link] = []
    for line in text.splitlines():
        directory = str(folder)
        for words in _commands(split_shell(line)):
            if words[0] == "cd" and len(words) == 2:
                directory = os.path.normpath(os.path.join(directory, words[1]))
                continue
            expanded = tuple(expand_response_files(words, response_file_reader(directory)))
            found += [one for one in _understood(expanded, directory) if isinstance(one, Link)]
    return found


def _commands(words: Sequence[str]) -> Iterator[list[str]]:
    """The single commands of a line of a shell."""
    current: list[str] = []
    for word in [*words, _ENDS[0]]:
        if word in _ENDS or word.endswith(";"):
            current += [word.rstrip(";")] if word not in _ENDS else []
            if current:
                yield current
            current = []
        else:
            current.append(word)
