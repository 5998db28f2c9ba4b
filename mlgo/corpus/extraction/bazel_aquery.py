"""Objects that the links in a `bazel aquery --output=jsonproto` take (analysis_v2.proto of Bazel 7 and 8)."""

import os
import pathlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from mlgo.corpus.extraction import quoting
from mlgo.corpus.extraction.inputs import BuildObject, Listing, absolute, objects_of_link, read_json
from mlgo.corpus.options.driver import output_of
from mlgo.run.exit_codes import RunError

WHAT = "the output of `bazel aquery --output=jsonproto --include_param_files 'deps(//your:target)'`"


def load(path: pathlib.Path, base: str) -> Listing:
    """The objects and archives of all links in the file at `path`, relative to `base` (execution root or workspace)."""
    return objects_of(read_actions(path), base)


def read_actions(path: pathlib.Path) -> list[Mapping[str, Any]]:
    """The actions in the file at `path`. Raises: RunError: it is no answer of aquery."""
    answer = read_json(path, WHAT)
    actions = answer.get("actions") if isinstance(answer, dict) else None
    if not isinstance(actions, list) or not all(isinstance(action, dict) for action in actions):
        raise RunError(f"--input={path}", "has no list of `actions`", f"give {WHAT}")
    return actions


def objects_of(
    actions: Sequence[Mapping[str, Any]], base: str, reader: Callable = quoting.response_file_reader
) -> Listing:
    """What the links among `actions` take; mlgo-utils looks at the last link only."""
    sources = dict(_sources(actions))
    objects: dict[str, BuildObject] = {}
    for action in _links(actions):
        for found in objects_of_link(link_words(action, base, reader), base).objects:
            if found.stated not in objects:
                source = sources.get(found.stated)
                place, source = _existing(base, found.stated), absolute(base, source) if source else None
                objects[found.stated] = BuildObject(found.stated, place, base, source)
    return Listing(tuple(objects.values()))


def link_words(action: Mapping[str, Any], base: str, reader: Callable = quoting.response_file_reader) -> list[str]:
    """The words of a link, parameter files put in place: as aquery gives them, else as they lie on the disk."""
    files = action.get("paramFiles")
    given = {
        file["execPath"]: _texts(file.get("arguments"))
        for file in (files if isinstance(files, list) else ())
        if isinstance(file, dict) and isinstance(file.get("execPath"), str)
    }
    read = reader(base)
    words: list[str] = []
    for argument in _texts(action.get("arguments")):
        name = argument.removeprefix("-Wl,").removeprefix("@")
        if argument.startswith(("@", "-Wl,@")) and name in given:
            words += given[name]
        elif argument.startswith("@"):
            words += quoting.expand_response_files([argument], read)
        else:
            words.append(argument)
    return words


def last_link(actions: Sequence[Mapping[str, Any]], base: str) -> tuple[str, ...]:
    """The words of the last link among `actions`, parameter files put in place. Raises: RunError: there is none."""
    if not (links := _links(actions)):
        remedy = "query the binary: bazel aquery --output=jsonproto //the:binary"
        raise RunError("the aquery", "has no CppLink action", remedy)
    return tuple(link_words(links[-1], base))


def _links(actions: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [action for action in actions if action.get("mnemonic") == "CppLink"]


def _sources(actions: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """Object file → its source, for compile actions."""
    for action in actions:
        if action.get("mnemonic") == "CppCompile":
            arguments = _texts(action.get("arguments"))
            output = output_of(arguments, None)
            if output and "-c" in arguments[:-1]:
                yield output, arguments[arguments.index("-c") + 1]


def _existing(base: str, stated: str) -> str:
    """The object's path. LLVM's document gives bazel-bin as the base, below which Bazel's paths do not exist."""
    place = absolute(base, stated)
    parts = stated.split("/")
    if len(parts) > 3 and parts[0] == "bazel-out" and parts[2] == "bin" and not os.path.exists(place):
        below = absolute(base, "/".join(parts[3:]))
        if os.path.exists(below):
            return below
    return place


def _texts(value: Any) -> list[str]:
    return [word for word in value if isinstance(word, str)] if isinstance(value, list) else []
