"""Reads ahead and writes behind, in threads: a stage of many small files does not wait for the disk after each."""

import collections
import concurrent.futures
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

_Item = TypeVar("_Item")
_Read = TypeVar("_Read")
_THREADS = 4
#: Writes under way or waiting; bounds the memory.
_MOST_PENDING = 16


class WriteQueue:
    """Use it in a `with` block, whose end waits for all writes."""

    def __init__(self):
        self._pool = concurrent.futures.ThreadPoolExecutor(_THREADS, thread_name_prefix="write")
        self._pending: collections.deque[concurrent.futures.Future] = collections.deque()

    def submit(self, write: Callable[[], None]) -> None:
        """Calls `write` in a thread, in no order, soon. Raises: the exception of an earlier write."""
        self._pending.append(self._pool.submit(write))
        while len(self._pending) > _MOST_PENDING or (self._pending and self._pending[0].done()):
            self._pending.popleft().result()

    def __enter__(self) -> "WriteQueue":
        return self

    def __exit__(self, kind, *_) -> None:
        """Raises: the exception of a write, unless the block ends with one of its own."""
        self._pool.shutdown(wait=True)
        while self._pending:
            write = self._pending.popleft()
            if kind is None:
                write.result()


def read_ahead(read: Callable[[_Item], _Read], items: Iterable[_Item], threads: int, ahead: int) -> Iterator[_Read]:
    """What `read`, called in threads, returns or raises for each of `items`, in order; at most `ahead` of them wait."""
    pool = concurrent.futures.ThreadPoolExecutor(threads, thread_name_prefix="read")
    pending: collections.deque[concurrent.futures.Future[_Read]] = collections.deque()
    try:
        for item in items:
            pending.append(pool.submit(read, item))
            if len(pending) > ahead:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
