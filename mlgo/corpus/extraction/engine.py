"""Reads many objects at a time, and adds modules to the corpus in the order of their names."""

import collections
import concurrent.futures
from collections.abc import Iterable, Iterator, Sequence

from mlgo.corpus.contained_files import NameRefused
from mlgo.corpus.extraction import licences
from mlgo.corpus.extraction.listing import BuildObject
from mlgo.corpus.extraction.modules import ModuleContent, ModuleReader
from mlgo.corpus.extraction.outcome import Kind, LeftOut, Omission
from mlgo.corpus.extraction.report import Report
from mlgo.corpus.writer import CorpusWriter
from mlgo.run.progress import Progress

#: Modules read ahead of the one being written, per worker. Limits memory.
_READ_AHEAD = 4


def extract(
    writer: CorpusWriter,
    objects: Sequence[tuple[str, BuildObject]],
    read: ModuleReader,
    omissions: Iterable[Omission],
    licence: str,
    workers: int,
    progress: Progress,
) -> Report:
    """Adds the module of every object to `writer`, which is left unfinished.

    Args:
      objects: names and objects, sorted by name, so that collisions do not depend on timing.
      read: how a module is read.
      omissions: what was left out before.
      licence: SPDX expression of modules whose source states none.
      workers: objects read at a time.
      progress: advanced for every object.

    Raises: RunError: the corpus cannot be written.
    """
    left_out = list(omissions)
    properties = {}
    for name, found, content in _read_all(objects, read, workers):
        if isinstance(content, LeftOut):
            left_out.append(Omission(name, content.kind, content.reason))
        else:
            stated = licences.of_source(found.source) if found.source else None
            # mlgo-utils reads no archives: a member must not replace a module that mlgo-utils would extract.
            rank = 0 if found.member is None else 1
            try:
                writer.add(name, content.bitcode, content.command, content.thinlto_index, stated or licence, rank)
                properties[name] = content.properties
            except NameRefused as error:
                left_out.append(Omission(name, Kind.NAME_TAKEN, error.wrong))
        progress.advance()
    return Report.of(writer.result(), left_out, properties)


def _read_all(
    objects: Sequence[tuple[str, BuildObject]], read: ModuleReader, workers: int
) -> Iterator[tuple[str, BuildObject, ModuleContent | LeftOut]]:
    def read_one(name: str, found: BuildObject) -> ModuleContent | LeftOut:
        try:
            return read(name, found)
        except LeftOut as error:
            return error

    # Threads: the work is reading, and hashing that lets go of the interpreter.
    pool = concurrent.futures.ThreadPoolExecutor(workers)
    pending: collections.deque = collections.deque()
    try:
        for name, found in objects:
            pending.append((name, found, pool.submit(read_one, name, found)))
            if len(pending) > workers * _READ_AHEAD:
                yield _finished(*pending.popleft())
        while pending:
            yield _finished(*pending.popleft())
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _finished(name: str, found: BuildObject, future: concurrent.futures.Future):
    return name, found, future.result()
