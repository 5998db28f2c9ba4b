"""Files that exist in memory only, for parsers that take a path or a descriptor."""

import contextlib
import os
import pathlib
from collections.abc import Iterator


@contextlib.contextmanager
def file_of(content: bytes) -> Iterator[int]:
    """The descriptor of a file with `content`, open until the block ends."""
    descriptor = os.memfd_create("input")
    try:
        os.pwrite(descriptor, content, 0)
        yield descriptor
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def path_of(content: bytes) -> Iterator[pathlib.Path]:
    """The path of a file with `content`, valid until the block ends."""
    with file_of(content) as descriptor:
        yield pathlib.Path(f"/proc/self/fd/{descriptor}")
