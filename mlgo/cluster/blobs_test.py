"""What a node's cache takes, refuses and forgets."""

import hashlib
import os
import pathlib
import tempfile
import time
import unittest
from unittest import mock

from mlgo.cluster.blobs import BlobCache, DamagedBlob


def digest_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def not_read():
    """Pieces that must not be needed."""
    raise AssertionError("the content is here already")
    yield b""


class BlobCacheTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()), "cache")

    def cache(self, capacity_bytes: int = 1000) -> BlobCache:
        return BlobCache(self.folder, capacity_bytes)

    def names(self) -> list[str]:
        return sorted(path.name for path in self.folder.iterdir() if path.name != ".lock")

    def test_what_arrived_in_pieces_is_there_for_every_process(self):
        cache, digest = self.cache(), digest_of(b"abcdef")
        self.assertEqual(cache.path(digest, [b"abc", b"def"]).read_bytes(), b"abcdef")
        for other in (cache, self.cache()):
            self.assertEqual(other.path(digest, not_read()).read_bytes(), b"abcdef")
        self.assertTrue(os.access(self.folder / digest, os.X_OK))
        self.assertEqual(cache.path(digest_of(b""), [b""]).read_bytes(), b"")

    def test_other_content_is_refused_and_leaves_nothing(self):
        with self.assertRaisesRegex(DamagedBlob, "what arrived has the digest"):
            self.cache().path(digest_of(b"right"), [b"wrong"])
        self.assertEqual(self.names(), [])

    def test_a_damaged_file_is_fetched_again(self):
        cache, digest = self.cache(), digest_of(b"abcdef")
        for known in (cache, self.cache()):
            path = known.path(digest, [b"abcdef"])
            path.chmod(0o755)
            path.write_bytes(b"damage")
            self.assertEqual(known.path(digest, [b"abcdef"]).read_bytes(), b"abcdef")

    def test_a_digest_that_would_be_another_place(self):
        with self.assertRaisesRegex(ValueError, "is no sha256"):
            self.cache().path("../" + "0" * 61, [b""])

    def test_a_full_cache_forgets_what_was_unused_longest_and_keeps_what_is_in_use(self):
        contents = [bytes([number]) * 400 for number in range(4)]
        with self.cache() as cache:
            for age, content in zip((9000, 8000, 0), contents):
                path = cache.path(digest_of(content), [content])
                status = path.stat()
                os.utime(path, (status.st_atime - age, status.st_mtime - age))
            # 1,200 bytes so far, and a compile uses all of them.
            self.assertEqual(self.names(), sorted(map(digest_of, contents[:3])))
        # The two oldest ones go; the two young ones stay.
        cache.path(digest_of(contents[3]), [contents[3]])
        self.assertEqual(self.names(), sorted(map(digest_of, contents[2:])))

    def test_the_clock_does_not_say_what_is_in_use(self):
        contents = [bytes([number]) * 400 for number in range(3)]
        for seconds in (-1e9, 1e9):
            with self.subTest(seconds), mock.patch("time.time", return_value=time.time() + seconds):
                with self.cache() as first:
                    used = first.path(digest_of(contents[0]), [contents[0]])
                    os.utime(used, (1, 1))
                    with self.cache() as other:
                        for content in contents[1:]:
                            path = other.path(digest_of(content), [content])
                            os.utime(path, (time.time() + 1e8, 1))
                    self.assertEqual(used.read_bytes(), contents[0])
                with self.cache(capacity_bytes=400) as last:
                    new = last.path(digest_of(b"new"), [b"new"])
                    self.assertEqual(self.names(), [new.name])
