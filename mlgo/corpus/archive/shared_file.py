"""A file that several threads and forked processes read at once."""

import io
import os
import pathlib

from mlgo.run.regular_file import open_regular


class SharedFile(io.RawIOBase):
    """A file for reading. The descriptor has no position of its own: each process has one, and `read_at` needs none."""

    def __init__(self, file: pathlib.Path | int):
        """Args: file: its path, or an open descriptor, which is closed with this object."""
        super().__init__()
        self._descriptor = file if isinstance(file, int) else _opened(file)
        status = os.fstat(self._descriptor)
        self.bytes = status.st_size
        #: Differs when the file was changed or exchanged.
        self.identity = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
        self._position = 0

    def read_at(self, offset: int, count: int) -> bytes:
        """`count` bytes from `offset`; fewer only at the end of the file."""
        parts = []
        # One call reads 2 GiB at most.
        while count > 0 and (part := os.pread(self._descriptor, min(count, 1 << 30), offset)):
            parts.append(part)
            offset, count = offset + len(part), count - len(part)
        return b"".join(parts)

    def read(self, size: int = -1) -> bytes:
        content = self.read_at(self._position, self.bytes - self._position if size is None or size < 0 else size)
        self._position += len(content)
        return content

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self.bytes}[whence]
        if start + offset < 0:
            raise ValueError(f"a position before the file: {start + offset}")
        self._position = start + offset
        return self._position

    def fileno(self) -> int:
        return self._descriptor

    def tell(self) -> int:
        return self._position

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def close(self) -> None:
        if not self.closed and hasattr(self, "_descriptor"):  # Absent when opening failed.
            os.close(self._descriptor)
        super().close()


def _opened(path: pathlib.Path) -> int:
    """A descriptor of its own for the regular file at `path`. Raises: OSError: it is none, or cannot be opened."""
    with open_regular(path) as descriptor:
        return os.dup(descriptor)
