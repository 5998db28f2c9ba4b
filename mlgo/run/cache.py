"""A cache of files on disk, keyed by the digest of their inputs, limited in size and shared by runs.

An entry is the folder KK/KEY, where KEY has 64 hexadecimal digits and KK is its first two. It holds the files and
digests.json, the sha256 of each. One rename creates an entry, without fsync; a damaged entry counts as absent.
"""

import contextlib
import json
import os
import pathlib
import shutil
import tempfile
from collections.abc import Mapping

from mlgo.run import files
from mlgo.run.manifest import digest_of_bytes
from mlgo.run.regular_file import read_regular

_DIGESTS_NAME = "digests.json"


class Cache:
    """A folder of entries. Args: most_bytes: above this size, `trim` removes the least recently used ones."""

    def __init__(self, folder: pathlib.Path, most_bytes: int):
        self._folder, self._most_bytes = folder, most_bytes

    def fetch(self, key: str) -> dict[str, bytes] | None:
        """The entry's files by name; None when the entry is absent or damaged."""
        entry = self._entry(key)
        try:
            digests = json.loads(read_regular(entry / _DIGESTS_NAME, self._most_bytes))
            contents = {name: read_regular(entry / name, self._most_bytes) for name in digests}
            if {name: digest_of_bytes(content) for name, content in contents.items()} != digests:
                raise ValueError("damaged")
            os.utime(entry)
            return contents
        except FileNotFoundError:
            return None
        except (ValueError, TypeError, OSError, RecursionError):
            shutil.rmtree(entry, ignore_errors=True)
            return None

    def store(self, key: str, contents: Mapping[str, bytes]) -> None:
        """Stores `contents` by name unless the entry exists. A full disk is no error: nothing is stored."""
        entry = self._entry(key)
        if entry.is_dir():
            return
        digests = {name: digest_of_bytes(content) for name, content in contents.items()}
        with contextlib.suppress(OSError):  # Also when another run has just stored the same entry.
            entry.parent.mkdir(parents=True, exist_ok=True)
            partial = tempfile.mkdtemp(dir=entry.parent, prefix=f".{key[:8]}.", suffix=files.PARTIAL_SUFFIX)
            try:
                for name, content in {**contents, _DIGESTS_NAME: files.encode_json(digests)}.items():
                    pathlib.Path(partial, name).write_bytes(content)
                os.rename(partial, entry)
            finally:
                shutil.rmtree(partial, ignore_errors=True)

    def trim(self) -> int:
        """Removes the least recently used entries until the rest fits; returns the number of removed entries."""
        entries = []
        for entry in self._folder.glob("??/*"):
            with contextlib.suppress(OSError):  # Another run has just removed it.
                size = sum(file.stat().st_size for file in entry.iterdir())
                entries.append((entry.stat().st_mtime_ns, str(entry), size))
        total, removed = sum(size for _, _, size in entries), 0
        for _, path, size in sorted(entries):
            if total <= self._most_bytes:
                break
            shutil.rmtree(path, ignore_errors=True)
            total, removed = total - size, removed + 1
        return removed

    def _entry(self, key: str) -> pathlib.Path:
        return self._folder / key[:2] / key
