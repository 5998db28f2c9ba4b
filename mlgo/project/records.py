"""Reads what record.sh wrote: one record for each command of a compiler or linker that a build ran.

A record is a sequence of texts, each with a NUL behind it: `mlgo-record-1`, tool, folder, number of words, words; for
each response file `response`, name, content; where clang was given other words, `before`, what `times` of sh prints,
`again`, their number, words; `done`, exit code, who ran it, what `times` of sh prints, and `end`.
A process writes into a file of its own, so that parallel builds need no lock; a killed one leaves no `end`.
"""

from __future__ import annotations

import dataclasses
import os
import pathlib
import re
from collections.abc import Callable, Iterator

from mlgo.corpus.extraction.quoting import expand_response_files, response_file_reader, split_response
from mlgo.run.exit_codes import RunError

_BEGIN, _RESPONSE, _DONE, _END = "mlgo-record-1", "response", "done", "end"
_BEFORE, _AGAIN = "before", "again"
_LINKERS_FILE = "-Wl,@"
_TIME = re.compile(r"(\d+)m([\d.]+)s")


@dataclasses.dataclass(frozen=True)
class Record:
    """A command that ended.

    Attributes:
      tool: "clang", "clang++" or "ld".
      directory: folder in which it ran, absolute.
      words: its options and inputs, response files expanded.
      exit_code: of the command.
      by: who ran it: "clang", "ld" or, where clang refused the command, "other".
      seconds: CPU time.
      ended: when, in nanoseconds since 1970.
    """

    tool: str
    directory: str
    words: tuple[str, ...]
    exit_code: int
    by: str
    seconds: float
    ended: int


def read_records(folder: pathlib.Path) -> tuple[list[Record], int]:
    """The records in `folder` in the order of their ends, and the number of those that say nothing."""
    found, broken = [], 0
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        texts = [os.fsdecode(text) for text in pathlib.Path(entry.path).read_bytes().split(b"\0")]
        starts = [place for place, text in enumerate(texts) if text == _BEGIN]
        for start, end in zip(starts, [*starts[1:], len(texts)]):
            try:
                found.append(_record(iter(texts[start + 1 : end]), entry.stat().st_mtime_ns))
            except (StopIteration, ValueError, RunError):  # Of a response file that names itself.
                broken += 1
    return sorted(found, key=lambda record: record.ended), broken


def _record(texts: Iterator[str], ended: int) -> Record:
    """Raises: StopIteration, ValueError: it is cut off."""
    tool, directory, count = next(texts), next(texts), int(next(texts))
    words = [next(texts) for _ in range(count)]
    responses = {}
    kind = next(texts)
    while kind == _RESPONSE:
        name = next(texts)
        responses[name] = next(texts)
        kind = next(texts)
    before = 0.0
    while kind == _BEFORE:
        before = _child_seconds(next(texts))
        if next(texts) != _AGAIN:
            raise ValueError(_AGAIN)
        words = [next(texts) for _ in range(int(next(texts)))]
        kind = next(texts)
    if kind != _DONE:
        raise ValueError(kind)
    code, by, times = int(next(texts)), next(texts), next(texts)
    if next(texts) != _END:
        raise ValueError("no end")
    on_disk = response_file_reader(directory)

    def read(name: str) -> str | None:
        return responses[name] if name in responses else on_disk(name)

    expanded = expand_response_files([_with_linkers_file(word, read) for word in words], read)
    return Record(tool, directory, tuple(expanded), code, by, _child_seconds(times) - before, ended)


def _with_linkers_file(word: str, read: Callable[[str], str | None]) -> str:
    """-Wl,@FILE with the words of the file in its place."""
    text = read(word[len(_LINKERS_FILE) :]) if word.startswith(_LINKERS_FILE) else None
    return word if text is None else ",".join(("-Wl", *split_response(text)))


def _child_seconds(times: str) -> float:
    """CPU seconds of the children: the second line of what `times` prints, user and system time."""
    return sum(60 * int(minutes) + float(seconds) for minutes, seconds in _TIME.findall(times)[2:4])
