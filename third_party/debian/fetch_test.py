import fcntl
import hashlib
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
import unittest.mock

import digests
import fetch
import pace
import places

from third_party.debian.testing import archives

# Started as a process of its own: downloads until it is interrupted.
DOWNLOADING = """
import sys
sys.path.insert(0, sys.argv[1])
import fetch, lockfile
entry = lockfile.Entry("foo", "1.0", sys.argv[4], 300000, "bookworm", sys.argv[5])
fetch.fetch([entry], sys.argv[2], [sys.argv[3]])
"""
#: No test waits as long as a user would.
QUICK = pace.Limits(silence_seconds=0.3, window_seconds=0.3, pause_seconds=0, look_seconds=0.01)
#: For tests of mirrors that are not slow, whatever else this machine does.
PATIENT = pace.Limits(pause_seconds=0, look_seconds=0.01)


class FetchTest(unittest.TestCase):
    def setUp(self):
        self.scratch = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.cache = self.scratch / "cache"
        self.content = os.urandom(300_000)
        self.entry = archives.entry("foo", self.content)
        self.said = []

    def fetch(self, *mirrors, limits=PATIENT):
        return fetch.fetch([self.entry], self.cache, mirrors, self.said.append, limits)[self.entry]

    def served(self, behaviour, limits=PATIENT, then=None):
        """Fetches from a mirror that behaves so, then from `then`; returns (bytes or None, error, mirror)."""
        mirror = archives.Mirror({}, behaviours={self.entry.path: behaviour})
        with archives.serving(mirror) as base:
            try:
                return self.fetch(base, *([then] if then else []), limits=limits).read_bytes(), None, mirror
            except fetch.FetchError as error:
                return None, error, mirror

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
        with archives.serving(mirror) as base:
            with self.assertRaises(fetch.UnreachableError) as caught:
                self.fetch(base)
        self.assertEqual(
            str(caught.exception),
            f"foo 1.0 (foo_1.0_amd64.deb): none of 1 mirrors has it ({base}: cut off: size is 100000 bytes and sha256 "
            f"{hashlib.sha256(short).hexdigest()}, the lock says 300000 bytes and {self.entry.sha256}); "
            "1 other places were tried. Run the same command again, which resumes a download that was cut off; if that "
            f"does not help, n{places.REMEDY}",
        )
        with archives.serving(archives.Mirror({self.entry.path: self.content})) as base:
            self.assertEqual(self.fetch(base).read_bytes(), self.content)

    def test_a_truncated_archive_in_a_directory(self):
        with self.assertRaisesRegex(
            fetch.ChecksumError,
            rf"foo_1\.0_amd64\.deb.*\(.*: cut off: size is 1000 bytes and sha256 [0-9a-f]{{64}}, the lock "
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

    def test_a_wrong_file_of_the_right_size_in_the_cache_is_replaced_with_one_line(self):
        path = self.fetch(self.directory(self.content))
        path.write_bytes(self.content[::-1])
        self.assertEqual(self.fetch(self.directory(self.content)).read_bytes(), self.content)
        self.assertEqual(len(self.said), 1, self.said)
        self.assertRegex(
            self.said[0],
            r"^debian: foo 1\.0 \(.*\): damaged in the archive cache \(size is 300000 bytes and sha256 .*, the "
            r"lock says .*\); it is removed and downloaded again\.",
        )

    def test_a_folder_in_place_of_a_cached_archive_is_named(self):
        (self.cache / self.entry.sha256).mkdir(parents=True)
        with self.assertRaisesRegex(fetch.DiskError, rf"{self.entry.sha256}: cannot be read or replaced .*Remove it"):
            self.fetch(self.directory(self.content))

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
            with self.assertRaisesRegex(fetch.FetchError, "foo 1.0 .*: none of 1 mirrors has it"):
                fetch.fetch([self.entry, other], self.cache, [base], self.said.append, PATIENT)
        self.assertTrue((self.cache / other.sha256).exists())

    def test_missing_entries_are_handed_on(self):
        with archives.serving(archives.Mirror({})) as base:
            with self.assertRaises(fetch.FetchError) as caught:
                self.fetch(base)
        self.assertEqual(caught.exception.entries, (self.entry,))
        self.assertNotIsInstance(caught.exception, fetch.UnreachableError)

    def test_a_mirror_that_does_not_answer_is_asked_for_one_archive_only(self):
        with archives.serving(archives.Mirror({})) as gone:
            pass  # No process listens there any more.
        entries = [archives.entry(f"foo{index}", str(index).encode()) for index in range(40)]
        attempts, open_url = [], fetch.sources.open_url

        def counted(*arguments):
            attempts.append(1)
            return open_url(*arguments)

        with unittest.mock.patch.object(fetch.sources, "open_url", counted):
            with self.assertRaisesRegex(
                fetch.UnreachableError,
                r"none of 1 Debian mirrors can be reached \(.*Connection refused\).*MLGO_DEBIAN_MIRRORS.*and 39 more",
            ):
                fetch.fetch(entries, self.cache, [gone], self.said.append, PATIENT)
        self.assertLessEqual(len(attempts), fetch.PARALLEL_DOWNLOADS * PATIENT.rounds)
        self.assertRegex(self.said[0], "Connection refused.*; not asked again$")
        self.assertEqual(len(self.said), 1)

    def test_offline_with_a_directory_is_not_called_gone(self):
        with archives.serving(archives.Mirror({})) as gone:
            pass  # No process listens there any more.
        (self.scratch / "empty").mkdir()
        with self.assertRaisesRegex(
            fetch.UnreachableError, "empty: not in the directory; .*Connection refused.*MLGO_DEBIAN_MIRRORS"
        ):
            self.fetch(str(self.scratch / "empty"), gone)

    def test_a_full_disk_is_told_as_such_and_not_blamed_on_the_mirrors(self):
        self.cache.mkdir()
        (self.cache / self.entry.sha256).with_suffix(".part").symlink_to("/dev/full")
        with archives.serving(archives.Mirror({self.entry.path: self.content})) as base:
            with self.assertRaisesRegex(fetch.DiskError, r"archive cache .*No space left on device.*XDG_CACHE_HOME"):
                self.fetch(base)

    def test_a_cache_that_cannot_be_made(self):
        self.cache.write_text("a file where a folder should be")
        with self.assertRaisesRegex(fetch.DiskError, "cannot be written .*XDG_CACHE_HOME"):
            self.fetch(self.directory(self.content))

    def test_a_file_of_a_directory_that_cannot_be_read_is_not_called_a_full_cache(self):
        unreadable = pathlib.Path(self.directory(self.content)) / self.entry.path
        unreadable.unlink()
        unreadable.symlink_to("/proc/self/mem")
        loop = pathlib.Path(self.directory(self.content)) / self.entry.path
        loop.unlink()
        loop.symlink_to(loop.name)
        first, second = (str(path)[: -len(self.entry.path) - 1] for path in (unreadable, loop))
        with self.assertRaisesRegex(fetch.FetchError, r"cannot be read \(.*symbolic links\)"):
            self.fetch(first, second)
        self.assertEqual(self.fetch(first, second, self.directory(self.content)).read_bytes(), self.content)

    def test_a_mirror_that_sends_for_ever_fills_no_disk(self):
        start = archives.header("200 OK")
        content, error, _ = self.served(archives.sends(start, for_ever=bytes(100_000)))
        self.assertIsInstance(error, fetch.ChecksumError)
        self.assertEqual([path.name for path in self.cache.iterdir() if not path.name.endswith(".lock")], [])
        content, error, _ = self.served(
            archives.sends(start, for_ever=bytes(100_000)), then=self.directory(self.content)
        )
        self.assertEqual(content, self.content)

    def test_a_mirror_that_announces_another_size_is_not_read(self):
        for size in (198_000_000, 512):
            with self.subTest(size):
                start = archives.header("200 OK", content_length=size, content_type="text/html")
                _, error, _ = self.served(archives.sends(start, b"<html>" * 10))
                self.assertIsInstance(error, fetch.ChecksumError)
                self.assertIn(f"announces {size} bytes of text/html, the lock says 300000 bytes", str(error))

    def test_one_byte_now_and_then_is_too_slow(self):
        start = archives.header("200 OK", content_length=300_000)
        limits = pace.Limits(window_seconds=0.3, pause_seconds=0, look_seconds=0.01)
        content, _, _ = self.served(
            archives.sends(start, for_ever=b"x", pause_seconds=0.02), limits, self.directory(self.content)
        )
        self.assertEqual(content, self.content)

    def test_a_mirror_that_is_silent_is_asked_once_and_the_next_one_serves(self):
        entries = [archives.entry(name, name.encode()) for name in "abcdefghijkl"]
        served = archives.Mirror({}, behaviours={entry.path: archives.is_silent() for entry in entries})
        kept = self.scratch / "kept"
        for entry in entries:
            (kept / entry.path).parent.mkdir(parents=True)
            (kept / entry.path).write_bytes(entry.name.encode())
        with archives.serving(served) as base:
            paths = fetch.fetch(entries, self.cache, [base, str(kept)], self.said.append, QUICK)
        self.assertEqual([paths[entry].read_bytes() for entry in entries], [name.encode() for name in "abcdefghijkl"])
        self.assertLessEqual(len(served.requests), fetch.PARALLEL_DOWNLOADS)
        self.assertIn(f"debian: {base}: silent for 0.3 s; not asked again", self.said)

    def test_a_mirror_that_is_busy_is_asked_again(self):
        answers = [archives.header("503 Busy", retry_after="0", content_length=0)]
        start = archives.header("200 OK", content_length=300_000)

        def busy_once(handler, mirror):
            archives.sends(answers.pop() if answers else start + self.content)(handler, mirror)

        content, _, mirror = self.served(busy_once)
        self.assertEqual((content, len(mirror.requests)), (self.content, 2))

    def test_a_mirror_that_is_always_busy_is_not_called_gone(self):
        _, error, mirror = self.served(archives.sends(archives.header("503 Busy", content_length=0)))
        self.assertIsInstance(error, fetch.UnreachableError)
        self.assertEqual([path for path, _ in mirror.requests].count(self.entry.path), PATIENT.rounds)

    def test_a_file_that_changed_while_a_download_stopped(self):
        self.cache.mkdir()
        partial = (self.cache / self.entry.sha256).with_suffix(".part")
        partial.write_bytes(self.content[:1000])
        rest = archives.header("206 Partial Content", content_length=5000, content_range="bytes 1000-5999/6000")
        content, _, _ = self.served(archives.sends(rest, bytes(5000)), then=self.directory(self.content))
        self.assertEqual(content, self.content)

    def test_a_mirror_that_has_no_parts_serves_the_whole(self):
        self.cache.mkdir()
        for start in (b"", b"x" * 1000):
            (self.cache / self.entry.sha256).with_suffix(".part").write_bytes(start)
            answers = [archives.header("416 No", content_length=0)] if start else []
            whole = archives.header("200 OK", content_length=300_000) + self.content

            def behave(handler, mirror, answers=answers, whole=whole):
                archives.sends(answers.pop() if answers else whole)(handler, mirror)

            content, _, _ = self.served(behave)
            self.assertEqual(content, self.content)
            os.unlink(self.cache / self.entry.sha256)

    def test_another_process_that_downloads_is_waited_for_and_named(self):
        self.cache.mkdir()
        lock = (self.cache / self.entry.sha256).with_suffix(".lock")
        with open(lock, "w", encoding="ascii") as guard:
            fcntl.flock(guard, fcntl.LOCK_EX)

            def release(line):
                self.said.append(line)
                (self.cache / self.entry.sha256).write_bytes(self.content)
                fcntl.flock(guard, fcntl.LOCK_UN)

            fetch.fetch([self.entry], self.cache, [], release, PATIENT)
        self.assertEqual(self.said, ["debian: another process downloads foo 1.0; waiting for it"])

    def test_an_interrupt_ends_a_download_that_runs_and_the_next_one_goes_on(self):
        begun = threading.Event()

        def stops(handler, mirror):
            handler.wfile.write(archives.header("200 OK", content_length=300_000) + self.content[:100_000])
            begun.set()
            mirror.closed.wait()

        with archives.serving(archives.Mirror({}, behaviours={self.entry.path: stops})) as base:
            process = subprocess.Popen(
                [sys.executable, "-c", DOWNLOADING, os.path.dirname(os.path.abspath(fetch.__file__)), str(self.cache)]
                + [base, self.entry.sha256, self.entry.path],
                stderr=subprocess.PIPE,
                text=True,
            )
            self.assertTrue(begun.wait(60))
            partial = (self.cache / self.entry.sha256).with_suffix(".part")
            while not partial.exists() or partial.stat().st_size < 100_000:
                begun.wait(0.01)
            process.send_signal(signal.SIGINT)
            self.assertIn("KeyboardInterrupt", process.communicate()[1])
        mirror = archives.Mirror({self.entry.path: self.content})
        with archives.serving(mirror) as base:
            self.assertEqual(self.fetch(base).read_bytes(), self.content)
        self.assertEqual(mirror.requests, [(self.entry.path, "bytes=100000-")])

    def test_a_password_in_a_mirrors_address_is_not_printed(self):
        with archives.serving(archives.Mirror({})) as base:
            with self.assertRaises(fetch.FetchError) as caught:
                self.fetch(base.replace("//", "//me:secret@"))
        self.assertIn("//***@127.0.0.1", str(caught.exception))
        self.assertNotIn("secret", "".join([str(caught.exception), *self.said]))

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
        cached = digests.default_cache(environ)
        cached.mkdir(parents=True)
        os.rename(self.cache / self.entry.sha256, cached / self.entry.sha256)
        self.assertEqual(fetch.fetch_with_environment([self.entry], environ)[self.entry], cached / self.entry.sha256)


if __name__ == "__main__":
    unittest.main()
