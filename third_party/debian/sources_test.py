import os
import pathlib
import tempfile
import unittest
import unittest.mock

import sources

from third_party.debian.testing import archives

# A silent mirror is waited for so long, all others as long as they need on a busy machine.
_SILENCE_SECONDS, _PATIENCE_SECONDS = 0.3, 60
_PATH = "pool/x"


class OpenUrlTest(unittest.TestCase):
    def failure(self, behaviour, start=0, seconds=_PATIENCE_SECONDS):
        """How a request ends that this behaviour answers."""
        mirror = archives.Mirror({}, behaviours={_PATH: behaviour})
        with archives.serving(mirror) as base, self.assertRaises(sources.Failed) as caught:
            with sources.open_url(f"{base}/{_PATH}", start, seconds) as answer:
                while answer.read(100):
                    pass
        return caught.exception

    def status(self, status, **fields):
        return self.failure(archives.sends(archives.header(status, **fields)))

    def test_a_mirror_that_never_answers(self):
        failure = self.failure(archives.is_silent(), seconds=_SILENCE_SECONDS)
        self.assertEqual((failure.kind, failure.reason), (sources.Kind.SILENT, "silent for 0.3 s"))
        self.assertIsInstance(failure, sources.TooSlow)

    def test_a_header_that_comes_byte_by_byte_for_ever(self):
        drips = archives.sends(b"HTTP/1.1 200 OK\r\nX: ", for_ever=b"x", pause_seconds=0.02)
        failure = self.failure(drips, seconds=_SILENCE_SECONDS)
        self.assertEqual((failure.kind, failure.reason), (sources.Kind.SILENT, "silent for 0.3 s"))

    def test_silence_in_the_body(self):
        stops = archives.is_silent(archives.header("200 OK", content_length=10), b"abc")
        failure = self.failure(stops, seconds=1)
        self.assertEqual((failure.kind, failure.reason), (sources.Kind.TEMPORARY, "silent for 1 s"))

    def test_statuses(self):
        for status, kind in (
            ("404 Not Found", sources.Kind.ABSENT),
            ("410 Gone", sources.Kind.ABSENT),
            ("403 Forbidden", sources.Kind.REFUSED),
            ("407 Proxy Authentication Required", sources.Kind.REFUSED),
            ("502 Bad Gateway", sources.Kind.TEMPORARY),
        ):
            with self.subTest(status):
                failure = self.status(status)
                self.assertEqual((failure.kind, failure.reason), (kind, f"HTTP {status[:3]}"))

    def test_a_mirror_tells_how_long_to_wait(self):
        self.assertEqual(self.status("503 Busy", retry_after="7").wait_seconds, 7)
        self.assertEqual(self.status("429 Too Many", retry_after="7").wait_seconds, 7)
        self.assertEqual(self.status("503 Busy", retry_after="Sun, 22 Nov 2026 04:00:00 GMT").wait_seconds, 0)

    def test_redirects_lead_to_no_other_scheme(self):
        for place in ("file:///etc/passwd", "ftp://127.0.0.1:1/x", "data:text/plain,x"):
            with self.subTest(place):
                failure = self.status("302 Found", location=place, content_length=0)
                self.assertEqual(failure.kind in (sources.Kind.REFUSED, sources.Kind.SILENT), True, failure)
                self.assertRegex(failure.reason, "not followed|unknown url type")

    def test_a_redirect_to_another_place_is_followed_without_the_password(self):
        seen = []

        def note(handler, mirror):
            seen.append(handler.headers.get("Authorization"))
            archives.sends(archives.header("200 OK", content_length=2), b"ok")(handler, mirror)

        with archives.serving(archives.Mirror({}, behaviours={"to": note})) as second:
            move = archives.sends(archives.header("302 Found", location=f"{second}/to", content_length=0))

            def note_and_move(handler, mirror):
                seen.append(handler.headers.get("Authorization"))
                move(handler, mirror)

            with archives.serving(archives.Mirror({}, behaviours={"from": note_and_move})) as first:
                url = f"{first.replace('//', '//me:p%40ss@')}/from"
                with sources.open_url(url, 0, _PATIENCE_SECONDS) as answer:
                    self.assertEqual(answer.read(10), b"ok")
        self.assertEqual(seen, ["Basic bWU6cEBzcw==", None])

    def test_the_answer_to_a_request_for_a_part(self):
        for fields in ({}, {"content_range": "bytes 4-9/10"}, {"content_range": "words"}):
            with self.subTest(fields):
                answer = archives.sends(archives.header("206 Partial Content", content_length=5, **fields), b"56789")
                self.assertIsInstance(self.failure(answer, start=5), sources.RangeRefused)
        self.assertIsInstance(self.failure(archives.sends(archives.header("416 No")), start=5), sources.RangeRefused)

    def test_addresses_that_are_none(self):
        for url, said in (
            ("foo://host/x", "unknown url type: foo"),
            ("http://[/x", "no address"),
            ("http://host:port/x", "nonnumeric port"),
            ("http://" + "a" * 70 + ".example/x", "label empty or too long"),
        ):
            with self.subTest(url), self.assertRaisesRegex(sources.Failed, said):
                with sources.open_url(url, 0, _PATIENCE_SECONDS):
                    pass

    def test_a_proxy_is_asked_for_the_whole_address(self):
        mirror = archives.Mirror({"http://mirror.example/debian/pool/x": b"through the proxy"})
        with archives.serving(mirror) as proxy:
            with unittest.mock.patch.dict(os.environ, {"http_proxy": proxy, "no_proxy": ""}):
                with sources.open_url("http://mirror.example/debian/pool/x", 0, 5) as answer:
                    self.assertEqual(answer.read(100), b"through the proxy")

    def test_a_broken_proxy_is_named_without_its_password(self):
        with archives.serving(archives.Mirror({})) as gone:
            pass  # No process listens there any more.
        proxy = gone.replace("//", "//me:secret@")
        for scheme in ("http", "https"):
            with self.subTest(scheme), unittest.mock.patch.dict(os.environ, {f"{scheme}_proxy": proxy, "no_proxy": ""}):
                with self.assertRaises(sources.Failed) as caught:
                    with sources.open_url(f"{scheme}://mirror.example/x", 0, _PATIENCE_SECONDS):
                        pass
                self.assertIn(f"through the proxy {gone[len('http://') :]}", caught.exception.reason)
                self.assertNotIn("secret", caught.exception.reason)

    def test_reasons_show_no_password_and_no_control_character(self):
        failure = sources.Failed(sources.Kind.REFUSED, "to http://me:p@ss@host/x\x1b[2J" + "y" * 1000)
        self.assertEqual(failure.reason[:24], "to http://***@host/x?[2J")
        self.assertLess(len(failure.reason), 500)


class OpenFileTest(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.entry = archives.entry("foo", b"content", "foo.deb")
        self.path = self.directory / "foo.deb"

    def failure(self):
        with self.assertRaises(sources.Failed) as caught, sources.open_file(self.directory, self.entry):
            pass
        return caught.exception.kind, caught.exception.reason

    def test_a_link_to_a_file_is_a_file(self):
        (self.directory / "other").write_bytes(b"content")
        self.path.symlink_to("other")
        with sources.open_file(self.directory, self.entry) as answer:
            self.assertEqual(answer.read(100), b"content")

    def test_pipes_devices_and_folders_are_refused(self):
        refused = (sources.Kind.REFUSED, "no regular file in the directory")
        os.mkfifo(self.path)
        self.assertEqual(self.failure(), refused)
        self.path.unlink()
        self.path.symlink_to("/dev/zero")
        self.assertEqual(self.failure(), refused)
        self.path.unlink()
        self.path.mkdir()
        self.assertEqual(self.failure(), refused)

    def test_a_file_without_end_is_not_read(self):
        with open(self.path, "wb") as file:
            file.truncate(2**40)
        self.assertEqual(self.failure(), (sources.Kind.DIFFERENT, f"size is {2**40} bytes, the lock says 7 bytes"))

    def test_a_file_that_cannot_be_read(self):
        self.path.symlink_to(self.path.name)
        kind, reason = self.failure()
        self.assertEqual(kind, sources.Kind.REFUSED)
        self.assertRegex(reason, r"^cannot be read \(.*symbolic links\)$")

    def test_what_is_not_there(self):
        self.assertEqual(self.failure(), (sources.Kind.ABSENT, "not in the directory"))
        self.directory = self.directory / "nowhere"
        self.assertEqual(self.failure(), (sources.Kind.SILENT, "no such directory"))


if __name__ == "__main__":
    unittest.main()
