"""The lock: what is chosen of what the mirrors have, what is said when it is gone, and that it reads what it writes."""

import contextlib
import io
import pathlib
import tempfile
import unittest

import chromium_lock
import hypothesis
import hypothesis.strategies as st
import lockfile
import pin
import sources
import versions

from third_party.debian.testing import archives

_MADISON = """\
  chromium | 156.0.8078.79-1~deb12u1 | http://mirror.example/debian-security bookworm-security/main amd64 Packages
  chromium | 150.0.7871.100-1~deb12u1 | http://mirror.example/debian bookworm/main Sources
  chromium | 99.0.1.1-1 | http://mirror.example/debian bookworm/main Sources
  chromium | 156.0.8078.79-1~deb12u1 | http://mirror.example/debian-security bookworm-security/main Sources
"""
_STABLE, _SECURITY, _OLD = "150.0.7871.100-1~deb12u1", "156.0.8078.79-1~deb12u1", "99.0.1.1-1"


def uris(version: str) -> str:
    upstream, encoded = version.split("-")[0], version.replace("~", "%7e")
    return "".join(
        f"'http://mirror.example/debian/pool/main/c/chromium/{name}' {name.replace('%7e', '~')} {size}"
        f" SHA256:{digit * 64}\n"
        for name, size, digit in (
            (f"chromium_{encoded}.dsc", 1, "1"),
            (f"chromium_{upstream}.orig-pre-gen.tar.xz", 2, "2"),
            (f"chromium_{upstream}.orig.tar.xz", 3, "3"),
            (f"chromium_{encoded}.debian.tar.xz", 4, "4"),
        )
    )


class FakeArchive(versions.Archive):
    """Debian's archive with the answers above."""

    def __init__(self):
        self.apt = lambda program, *arguments: _MADISON if program == "apt-cache" else uris(arguments[-1].split("=")[1])


class LockTest(unittest.TestCase):
    def pinned(self, version: str = "", gone: str = "") -> chromium_lock.Origin:
        return pin.pin_debian(FakeArchive(), lambda entry: not gone or gone not in entry.path, version)

    def test_listed_in_order_of_numbers(self):
        self.assertEqual(
            versions.listed(_MADISON), [(_OLD, "bookworm"), (_STABLE, "bookworm"), (_SECURITY, "bookworm-security")]
        )

    def test_both_tarballs_and_no_other(self):
        source, packaging = versions.entries_of(uris(_STABLE), _STABLE, "bookworm")
        self.assertEqual((source.size, packaging.size), (3, 4))
        self.assertEqual(packaging.path, f"pool/main/c/chromium/chromium_{_STABLE}.debian.tar.xz")
        with self.assertRaisesRegex(lockfile.LockError, "names no debian tarball"):
            versions.entries_of(uris(_STABLE).replace("debian.tar", "other.tar"), _STABLE, "bookworm")

    def test_stable_lasts_longest(self):
        self.assertEqual(self.pinned().version, _STABLE)
        self.assertEqual(self.pinned().major, 150)

    def test_listed_but_gone(self):
        self.assertEqual(self.pinned(gone="7871").version, _OLD)
        with self.assertRaisesRegex(
            lockfile.LockError,
            f"^chromium {_SECURITY}: has left.*There today: {_OLD}, {_STABLE}. Take one .*--version={_STABLE}$",
        ):
            self.pinned(_SECURITY, gone="8078")
        with self.assertRaisesRegex(lockfile.LockError, "There today: none that could be seen"):
            self.pinned(gone="pool")

    def test_version_asked_for(self):
        self.assertEqual(self.pinned(_SECURITY).source.suite, "bookworm-security")

    def test_upstreams_tarball(self):
        with tempfile.TemporaryDirectory() as folder:
            tarball = pathlib.Path(folder, "chromium-150.0.7871.100.tar.xz")
            tarball.write_bytes(b"content")
            with contextlib.redirect_stdout(io.StringIO()) as said:
                self.assertEqual(pin.main([f"--upstream={tarball}", f"--directory={folder}"]), 0)
            self.assertEqual(said.getvalue(), "+ upstream 150.0.7871.100\n")
            origin = chromium_lock.parse(pathlib.Path(folder, "lock.json").read_text(encoding="utf-8"))["upstream"]
            self.assertEqual((origin.mirrors, origin.source.path, origin.source.size), ((folder,), tarball.name, 7))
            self.assertTrue(pin.is_there(origin.source, origin.mirrors))
            for wrong in (f"{folder}/chromium.tar.xz", f"{folder}/chromium-1.0.0.0.tar.xz"):
                with contextlib.redirect_stderr(io.StringIO()) as said:
                    self.assertEqual(pin.main([f"--upstream={wrong}", f"--directory={folder}"]), 1)
                self.assertIn(f"lock: --upstream={wrong}: ", said.getvalue())

    def test_upstreams_tarball_from_an_address(self):
        name = "chromium-150.0.7871.100.tar.xz"
        for behaviour, words in (
            (archives.sends(archives.header("200 OK", content_length=100), b"short"), "cut off after 5 of 100 bytes"),
            (archives.sends(archives.header("200 OK"), for_ever=bytes(5000)), "it has more than 9000 bytes"),
            (archives.sends(archives.header("302 Found", location="file:///etc/passwd")), "a redirect to file:"),
        ):
            with archives.serving(archives.Mirror({}, behaviours={name: behaviour})) as base:
                with self.subTest(words), tempfile.TemporaryDirectory() as folder:
                    with self.assertRaisesRegex(sources.Failed, words):
                        pin.download(f"{base}/{name}", pathlib.Path(folder, name), 9000)
        with archives.serving(archives.Mirror({name: b"content"})) as base, tempfile.TemporaryDirectory() as folder:
            pin.download(f"{base}/{name}", pathlib.Path(folder, name), 9000)
            self.assertEqual(pathlib.Path(folder, name).read_bytes(), b"content")

    def test_committed_lock(self):
        committed = pathlib.Path(__file__).with_name("lock.json").read_text(encoding="utf-8")
        origins = chromium_lock.parse(committed)
        self.assertEqual(chromium_lock.to_text(origins), committed)
        self.assertIsNotNone(origins["debian"].packaging)

    def test_what_is_no_lock(self):
        for text, words in (
            ("{", "not JSON"),
            ('{"version": 9}', "lock version 9, expected 1"),
            ('{"version": 1}', "not whole .'origins'"),
            ('{"version": 1, "origins": {"debian": {"version": "1"}}}', "not whole .'source'"),
            ('{"version": 1, "origins": {"debian": {"version": "1", "source": {"sha256": "0"}}}}', "not whole"),
        ):
            with self.subTest(text), self.assertRaisesRegex(lockfile.LockError, words):
                chromium_lock.parse(text)
        with self.assertRaisesRegex(lockfile.LockError, "four numbers"):
            chromium_lock.major_of("150")

    @hypothesis.settings(deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
    @hypothesis.given(
        st.dictionaries(
            st.text(),
            st.builds(
                lambda digest, size, mirrors: chromium_lock.Origin(
                    "1.2.3.4", lockfile.Entry("chromium", "1", digest * 64, size, "s", "p"), None, tuple(mirrors)
                ),
                st.sampled_from("0123456789abcdef"),
                st.integers(1, 2**40),
                st.lists(st.text(), max_size=2),
            ),
        )
    )
    def test_reads_what_it_writes(self, origins):
        self.assertEqual(chromium_lock.parse(chromium_lock.to_text(origins)), origins)


if __name__ == "__main__":
    unittest.main()
