"""Storage of a corpus's files, which are read by name, relative to the corpus.

Callers must have checked that names do not lead out of the corpus (`description.py`).
"""

import contextlib
import hashlib
import os
import pathlib
from collections.abc import Iterable, Iterator, Mapping

from mlgo.corpus.description import CorpusError
from mlgo.run.regular_file import open_regular, read_regular, size_of_regular

#: Larger files of a corpus are refused: a sparse file of any size costs its maker nothing. Modules have 200 MB at most.
MAX_FILE_BYTES = 4 * 1024**3


class Storage:
    """The files below `path`, and those of `places`, which lie elsewhere, such as files that a user's flags name.

    Symbolic links are followed: Bazel makes such directories. Several threads and forked processes may use it. Methods
    raise CorpusError, naming the file, when a file is absent or unreadable.
    """

    def __init__(self, path: pathlib.Path, places: Mapping[str, pathlib.Path]):
        self.path, self._places = path, places

    def with_places(self, places: Mapping[str, pathlib.Path]) -> "Storage":
        """The same with more files."""
        return Storage(self.path, {**self._places, **places})

    def missing(self, names: Iterable[str]) -> Iterator[str]:
        """Those of `names` that are not there, in their order. Looks at directories, not at each file."""
        present: dict[str, frozenset[str]] = {}
        for name in names:
            folder, _, last = name.rpartition("/")
            if name not in self._places and folder not in present:
                present[folder] = frozenset(self._entries(folder))
            if name not in self._places and last not in present[folder]:
                yield name

    def names_in(self, folder: str) -> list[str]:
        """Names of the files directly in `folder`, sorted, without the folder; empty when there is no such folder."""
        found = {name for name in self._entries(folder) if self.file(f"{folder}/{name}").is_file()}
        more = {name.removeprefix(f"{folder}/") for name in self._places if name.rpartition("/")[0] == folder}
        return sorted(found | more)

    def size(self, name: str) -> int:
        """Bytes of a file."""
        with self._explained(name):
            return size_of_regular(self.file(name))

    def read(self, name: str) -> bytes:
        """Content of a file."""
        with self._explained(name):
            return read_regular(self.file(name), MAX_FILE_BYTES)

    def sha256(self, name: str) -> bytes:
        """Digest (32 bytes) of a file's content."""
        with self._explained(name), open_regular(self.file(name)) as descriptor:
            with open(descriptor, "rb", closefd=False) as file:
                return hashlib.file_digest(file, "sha256").digest()

    def file(self, name: str) -> pathlib.Path:
        """Where a file lies."""
        return self._places.get(name, self.path / name)

    def shown(self, name: str) -> str:
        """How messages call a file."""
        return str(self.file(name))

    def _entries(self, folder: str) -> list[str]:
        # One look per directory: 50,000 files take 0.1 s this way and 0.7 s with a stat of each.
        with self._explained(folder), contextlib.suppress(FileNotFoundError, NotADirectoryError):
            with os.scandir(self.path / folder) as entries:
                return [entry.name for entry in entries]
        return []

    @contextlib.contextmanager
    def _explained(self, name: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise CorpusError(self.shown(name), f"cannot be read: {error.strerror}") from error
