import hashlib
import os
import pathlib
import tempfile
import threading
import unittest
import unittest.mock

import fetch

from third_party.debian.testing import archives


class FetchTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)
        self.cache = self.scratch / "cache"
        self.content = os.urandom(300_000)
        self.entry = archives.entry("foo", self.content)
        self.said = []

    def fetch(self, *mirrors):
        return fetch.fetch([self.entry], self.cache, mirrors, self.said.append)[self.entry]

    def directory(self, content):
        path = self.scratch / f"mirror{len(list(self.scratch.iterdir()))}" / self.entry.path
        path.parent.mkdir(parents=True)
        path.write_bytes(content)
        return str(path)[: -len(self.entry.path) - 1]

    def test_a_directory_is_a_mirror(self):
        self.assertEqual(self.fetch(self.directory(self.content)).read_bytes(), self.content)

    def test_next_mirror_is_tried_when_the_file_is_gone(self):
        with (
            archives.serving(archives.Mirror({})) as empty,
            archives.serving(archives.Mirror({self.entry.path: self.content})) as full,
        ):
            self.assertEqual(self.fetch(empty, full).read_bytes(), self.content)

    def test_an_interrupted_download_goes_on_where_it_stopped(self):
        mirror = archives.Mirror({self.entry.path: self.content}, cut_after=100_000)
        with archives.serving(mirror) as base:
            self.assertEqual(self.fetch(base).read_bytes(), self.content)
        self.assertEqual([header for _, header in mirror.requests], ["", "bytes=100000-"])

    def test_a_mirror_that_always_cuts_off_is_one_sentence_with_both_sizes_and_digests(self):
        short = self.content[:100_000]
        mirror = archives.Mirror({self.entry.path: short}, announce=len(self.content))
        with archives.serving(mirror) as base, unittest.mock.patch.object(fetch.time, "sleep"):
            with self.assertRaises(fetch.ChecksumError) as caught:
                self.fetch(base)
        self.assertEqual(
            str(caught.exception),
            "foo 1.0 (foo_1.0_amd64.deb): none of 1 mirrors has it (cut off: size is 100000 bytes and sha256 "
            f"{hashlib.sha256(short).hexdigest()}, the lock says 300000 bytes and {self.entry.sha256}). "
            "Run the same command again, which resumes a download that was cut off; if that does not help, "
            "name a mirror or directory that has it in MLGO_DEBIAN_MIRRORS, or pin today's version: "
            "./bazelw run //third_party/debian:lock",
        )
        with archives.serving(archives.Mirror({self.entry.path: self.content})) as base:
            self.assertEqual(self.fetch(base).read_bytes(), self.content)

    def test_a_truncated_archive_in_a_directory(self):
        with self.assertRaisesRegex(
            fetch.ChecksumError,
            rf"foo_1\.0_amd64\.deb.*\(cut off: size is 1000 bytes and sha256 [0-9a-f]{{64}}, the lock "
            rf"says 300000 bytes and {self.entry.sha256}\)",
        ):
            self.fetch(self.directory(self.content[:1000]))
        self.assertFalse((self.cache / self.entry.sha256).exists())

    def test_a_beginning_of_something_else_is_not_gone_on_with_twice(self):
        self.cache.mkdir()
        partial = (self.cache / self.entry.sha256).with_suffix(".part")
        partial.write_bytes(b"<html>sign in</html>" * 100)
        mirror = archives.Mirror({self.entry.path: self.content})
        with archives.serving(mirror) as base:
            self.assertEqual(self.fetch(base).read_bytes(), self.content)
        self.assertEqual([header for _, header in mirror.requests], ["bytes=2000-", ""])

    def test_a_truncated_file_in_the_cache_is_fetched_anew(self):
        self.fetch(self.directory(self.content))
        (self.cache / self.entry.sha256).write_bytes(self.content[:10])
        self.assertEqual(self.fetch(self.directory(self.content)).read_bytes(), self.content)

    def test_a_damaged_file_in_the_cache_is_removed_and_named(self):
        path = self.fetch(self.directory(self.content))
        fetch.drop_if_damaged(self.entry, path)
        path.write_bytes(self.content[::-1])
        with self.assertRaisesRegex(
            fetch.ChecksumError,
            r"^foo 1\.0 \(.*\): damaged in the archive cache \(size is 300000 bytes and sha256 .*, the "
            r"lock says .*\); it is removed now\. Run the same command again",
        ):
            fetch.drop_if_damaged(self.entry, path)
        self.assertFalse(path.exists())

    def test_other_bytes_are_refused_and_the_next_mirror_serves(self):
        wrong = self.directory(self.content[::-1])
        self.assertEqual(self.fetch(wrong, self.directory(self.content)).read_bytes(), self.content)
        os.unlink(self.cache / self.entry.sha256)
        with self.assertRaisesRegex(
            fetch.ChecksumError, f"sha256 [0-9a-f]{{64}}, the lock says 300000 bytes and {self.entry.sha256}"
        ):
            self.fetch(wrong)
        self.assertFalse((self.cache / self.entry.sha256).exists())

    def test_a_version_that_left_every_mirror_names_package_and_remedy(self):
        with archives.serving(archives.Mirror({})) as base:
            with self.assertRaises(fetch.FetchError) as caught:
                self.fetch(base, str(self.scratch))
        message = str(caught.exception)
        for part in ("foo 1.0", "2 mirrors", "HTTP 404", "not in the directory", "MLGO_DEBIAN_MIRRORS", "debian:lock"):
            self.assertIn(part, message)

    def test_all_others_arrive_before_a_missing_one_is_reported(self):
        other = archives.entry("bar", b"x" * 100)
        with archives.serving(archives.Mirror({other.path: b"x" * 100})) as base:
            with self.assertRaises(fetch.FetchError):
                fetch.fetch([self.entry, other], self.cache, [base], self.said.append)
        self.assertTrue((self.cache / other.sha256).exists())

    def test_missing_entries_are_handed_on(self):
        with archives.serving(archives.Mirror({})) as base:
            with self.assertRaises(fetch.FetchError) as caught:
                self.fetch(base)
        self.assertEqual(caught.exception.entries, (self.entry,))
        self.assertNotIsInstance(caught.exception, fetch.UnreachableError)

    def test_a_mirror_that_does_not_answer_is_asked_for_one_archive_only(self):
        with archives.serving(archives.Mirror({})) as gone:
            pass  # Nobody listens there any more.
        entries = [archives.entry(f"foo{index}", str(index).encode()) for index in range(40)]
        attempts = []
        with (
            unittest.mock.patch.object(
                fetch.urllib.request,
                "urlopen",
                side_effect=lambda *_, **__: (
                    attempts.append(1) or (_ for _ in ()).throw(fetch.urllib.error.URLError("Connection refused"))
                ),
            ),
            unittest.mock.patch.object(fetch.time, "sleep"),
        ):
            with self.assertRaisesRegex(
                fetch.UnreachableError,
                r"none of 1 Debian mirrors can be reached \(Connection refused\).*"
                r"MLGO_DEBIAN_MIRRORS.*and 39 more",
            ):
                fetch.fetch(entries, self.cache, [gone], self.said.append)
        self.assertLessEqual(len(attempts), fetch.PARALLEL_DOWNLOADS * fetch.ATTEMPTS_PER_MIRROR)

    def test_a_full_disk_is_told_as_such_and_not_blamed_on_the_mirrors(self):
        full = OSError(fetch.errno.ENOSPC, "No space left on device")
        with (
            archives.serving(archives.Mirror({self.entry.path: self.content})) as base,
            unittest.mock.patch.object(fetch._Meter, "add", side_effect=full),
        ):
            with self.assertRaisesRegex(fetch.DiskError, r"archive cache .*No space left on device.*XDG_CACHE_HOME"):
                self.fetch(base)

    def test_two_at_once_download_once(self):
        mirror = archives.Mirror({self.entry.path: self.content})
        with archives.serving(mirror) as base:
            threads = [threading.Thread(target=self.fetch, args=(base,)) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        self.assertEqual(len(mirror.requests), 1)

    def test_a_cached_archive_needs_no_mirror(self):
        self.fetch(self.directory(self.content))
        environ = {"XDG_CACHE_HOME": str(self.scratch / "xdg")}
        cached = fetch.default_cache(environ)
        cached.mkdir(parents=True)
        os.rename(self.cache / self.entry.sha256, cached / self.entry.sha256)
        self.assertEqual(fetch.fetch_with_environment([self.entry], environ)[self.entry], cached / self.entry.sha256)


if __name__ == "__main__":
    unittest.main()
