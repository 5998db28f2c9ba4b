"""What a node's cache takes, refuses and forgets."""

import hashlib
import os
import pathlib
import tempfile
import unittest

from mlgo.cluster.blobs import BlobCache, DamagedBlob


def digest_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


class BlobCacheTest(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name, "cache")

    def cache(self, capacity_bytes: int = 1000) -> BlobCache:
        return BlobCache(self.folder, capacity_bytes)

    def test_what_arrived_in_pieces_is_there_for_every_process(self):
        cache, digest = self.cache(), digest_of(b"abcdef")
        self.assertIsNone(cache.path(digest))
        cache.append(digest, 0, b"abc", False)
        self.assertIsNone(cache.path(digest))
        cache.append(digest, 3, b"def", True)
        self.assertEqual(cache.path(digest).read_bytes(), b"abcdef")
        self.assertEqual(self.cache().path(digest).read_bytes(), b"abcdef")
        self.assertTrue(os.access(cache.path(digest), os.X_OK))

    def test_pieces_are_read_for_another_node(self):
        cache, digest = self.cache(), digest_of(b"abcdef")
        with self.assertRaises(FileNotFoundError):
            cache.read(digest, 0, 4)
        cache.append(digest, 0, b"abcdef", True)
        self.assertEqual([cache.read(digest, offset, 4) for offset in (0, 4, 8)], [b"abcd", b"ef", b""])

    def test_an_empty_file(self):
        cache = self.cache()
        cache.append(digest_of(b""), 0, b"", True)
        self.assertEqual(cache.path(digest_of(b"")).read_bytes(), b"")

    def test_other_content_is_refused_and_leaves_nothing(self):
        cache = self.cache()
        with self.assertRaisesRegex(DamagedBlob, "what arrived has the digest"):
            cache.append(digest_of(b"right"), 0, b"wrong", True)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_a_piece_that_is_missing(self):
        cache, digest = self.cache(), digest_of(b"abcdef")
        with self.assertRaisesRegex(DamagedBlob, "offset 3"):
            cache.append(digest, 3, b"def", True)
        cache.append(digest, 0, b"a", False)
        with self.assertRaisesRegex(DamagedBlob, "offset 3"):
            cache.append(digest, 3, b"def", True)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_an_interrupted_upload_begins_anew(self):
        cache, digest = self.cache(), digest_of(b"abcdef")
        cache.append(digest, 0, b"abc", False)
        cache.append(digest, 0, b"abcdef", True)
        self.assertEqual([path.name for path in self.folder.iterdir()], [digest])

    def test_a_file_that_was_damaged_later_is_missing(self):
        digest = digest_of(b"abcdef")
        self.cache().append(digest, 0, b"abcdef", True)
        path = self.folder / digest
        path.chmod(0o644)
        path.write_bytes(b"abcdeX")
        self.assertIsNone(self.cache().path(digest))
        self.assertFalse(path.exists())

    def test_names_that_are_no_digests(self):
        for name in ("../../etc/passwd", "", "0" * 63, "G" * 64):
            with self.assertRaisesRegex(ValueError, "no sha256"):
                self.cache().append(name, 0, b"", True)

    def test_a_full_cache_forgets_what_was_not_used_for_long(self):
        cache = self.cache(capacity_bytes=250)
        contents = [bytes([number]) * 100 for number in range(3)]
        for age, content in zip((7200, 10000), contents):
            cache.append(digest_of(content), 0, content, True)
            path = cache.path(digest_of(content))
            then = path.stat().st_mtime - age
            os.utime(path, (then, then))
        cache.append(digest_of(contents[2]), 0, contents[2], True)
        self.assertEqual([cache.path(digest_of(content)) is not None for content in contents], [True, False, True])


if __name__ == "__main__":
    unittest.main()
