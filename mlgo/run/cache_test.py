import errno
import os
import pathlib
import shutil
from unittest import mock

from mlgo.run.cache import Cache
from mlgo.run.testing.folder_case import FolderCase

_KEYS = [f"{index:064x}" for index in range(4)]


class CacheTest(FolderCase):
    def setUp(self):
        super().setUp()
        self.cache = Cache(self.folder / "cache", 450)

    def path(self, key: str) -> pathlib.Path:
        return self.folder / "cache" / key[:2] / key

    def test_round_trip(self):
        self.assertIsNone(self.cache.fetch(_KEYS[0]))
        self.cache.store(_KEYS[0], {"a": b"1", "b": b""})
        self.cache.store(_KEYS[1], {})
        self.assertEqual(self.cache.fetch(_KEYS[0]), {"a": b"1", "b": b""})
        self.assertEqual(self.cache.fetch(_KEYS[1]), {})
        self.assertEqual([path.name for path in self.folder.rglob(".*")], [])

    def test_first_entry_stays(self):
        self.cache.store(_KEYS[0], {"a": b"1"})
        self.cache.store(_KEYS[0], {"a": b"2"})
        self.assertEqual(self.cache.fetch(_KEYS[0]), {"a": b"1"})

    def test_damaged_entry_counts_as_absent(self):
        damages = {
            "a": lambda path: path.write_bytes(b"2"),
            "b": lambda path: path.unlink(),
            "digests.json": lambda path: path.write_bytes(b""),
        }
        for name, damage in damages.items():
            with self.subTest(name):
                self.cache.store(_KEYS[0], {"a": b"1", "b": b"2"})
                damage(self.path(_KEYS[0]) / name)
                self.assertIsNone(self.cache.fetch(_KEYS[0]))
                shutil.rmtree(self.path(_KEYS[0]), ignore_errors=True)

    def test_entries_unused_for_longest_go(self):
        for age, key in enumerate(_KEYS):
            self.cache.store(key, {"a": b"x" * 100})
            os.utime(self.path(key), (1000 + age, 1000 + age))
        self.assertIsNotNone(self.cache.fetch(_KEYS[0]))  # used again
        self.assertEqual(self.cache.trim(), 2)
        self.assertEqual([key for key in _KEYS if self.cache.fetch(key)], [_KEYS[0], _KEYS[3]])

    def test_full_disk_is_no_error(self):
        with mock.patch.object(os, "rename", side_effect=OSError(errno.ENOSPC, "full")):
            self.cache.store(_KEYS[0], {"a": b"1"})
        self.assertIsNone(self.cache.fetch(_KEYS[0]))
        self.assertEqual(self.cache.trim(), 0)
