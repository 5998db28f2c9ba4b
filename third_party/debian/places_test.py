import dataclasses
import hashlib
import pathlib
import tempfile
import unittest
import unittest.mock

import fetch
import lockfile
import pace
import places

from third_party.debian.testing import archives

PATIENT = pace.Limits(pause_seconds=0, look_seconds=0.01)
HERE = pathlib.Path(__file__).parent
STAMP = "20261101T000000Z"
SECURITY = "pool/updates/main/f/foo/foo_1.0_amd64.deb"


class PlacesTest(unittest.TestCase):
    def setUp(self):
        self.scratch = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.cache = self.scratch / "cache"
        self.content = b"bytes of foo"
        self.entry = archives.entry("foo", self.content)
        self.source = archives.entry("src", b"packed by Debian", "pool/main/s/src/src_1.0.orig.tar.xz")
        self.said: list[str] = []
        self.upstream: dict[str, dict] = {}
        patch = unittest.mock.patch.object(places, "load_upstream", lambda: self.upstream)
        patch.start()
        self.addCleanup(patch.stop)

    def fetch(self, entry, *bases):
        return fetch.fetch([entry], self.cache, bases, self.said.append, PATIENT)[entry].read_bytes()

    def folder(self, files):
        root = self.scratch / f"mirror{len(list(self.scratch.iterdir()))}"
        for name, content in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_bytes(content)
        root.mkdir(exist_ok=True)
        return str(root)

    def test_a_security_update_that_moved_to_the_main_pool_at_a_point_release(self):
        entry = dataclasses.replace(self.entry, path=SECURITY)
        with archives.serving(archives.Mirror({self.entry.path: self.content})) as base:
            self.assertEqual(self.fetch(entry, base), self.content)
        self.assertEqual(
            self.said,
            [
                f"debian: foo 1.0: not from {base}: HTTP 404",
                f"debian: foo 1.0: found in another pool, {base}/{self.entry.path}",
            ],
        )

    def test_a_file_of_the_main_pool_that_only_the_security_archive_has(self):
        self.assertEqual(self.fetch(self.entry, self.folder({SECURITY: self.content})), self.content)

    def test_the_security_archive_beside_the_only_mirror(self):
        entry = dataclasses.replace(self.entry, path=SECURITY)
        with archives.serving(archives.Mirror({f"debian-security/{SECURITY}": self.content})) as base:
            self.assertEqual(self.fetch(entry, f"{base}/debian"), self.content)
        self.assertIn("the archive beside a mirror", self.said[-1])

    def test_siblings_keep_their_time_stamp(self):
        self.assertEqual(places.siblings("http://h/debian"), ["http://h/debian-security"])
        self.assertEqual(
            places.siblings(f"http://h/archive/debian-security/{STAMP}"), [f"http://h/archive/debian/{STAMP}"]
        )
        self.assertEqual(places.siblings("/srv/archives"), [])

    def test_a_dated_mirror_is_asked_last(self):
        found = places.beyond_the_mirrors(self.entry, [f"http://a/debian/{STAMP}", "http://b/debian"], {})
        self.assertEqual([place.base for place in found][:2], ["http://b/debian", f"http://a/debian/{STAMP}"])

    def test_a_folder_that_holds_archives_by_digest_is_read_without_a_line_for_each(self):
        self.assertEqual(self.fetch(self.entry, self.folder({self.entry.sha256: self.content})), self.content)
        self.assertEqual([line for line in self.said if self.entry.name in line], [])

    def test_a_folder_that_holds_archives_by_name(self):
        self.assertEqual(self.fetch(self.entry, self.folder({self.entry.file_name: self.content})), self.content)
        self.assertIn("found in a folder of archives", self.said[-1])

    def test_the_release_of_upstream_with_the_pinned_bytes(self):
        with archives.serving(archives.Mirror({"releases/src-1.0.tar.xz": b"packed by Debian"})) as host:
            self.upstream = {"src": {"version": "1.0", "url": f"{host}/releases/src-1.0.tar.xz"}}
            self.assertEqual(self.fetch(self.source, self.folder({})), b"packed by Debian")
        self.assertIn("found in upstream's release, ", self.said[-1])

    def upstreams_own(self, host, content=b"packed by upstream"):
        digest = hashlib.sha256(b"packed by upstream").hexdigest()
        url = f"{host}/src-1.0.tar.gz"
        return {"src": {"version": "1.0", "url": url, "size": len(content), "sha256": digest}}

    def test_the_release_of_upstream_in_another_packing_is_kept_and_found_again_without_a_network(self):
        with archives.serving(archives.Mirror({"src-1.0.tar.gz": b"packed by upstream"})) as host:
            self.upstream = self.upstreams_own(host)
            self.assertEqual(self.fetch(self.source, self.folder({})), b"packed by upstream")
        self.assertEqual(self.fetch(self.source, self.folder({})), b"packed by upstream")
        backup = self.folder({self.upstream["src"]["sha256"]: b"packed by upstream"})
        self.cache = self.scratch / "other_cache"
        self.assertEqual(self.fetch(self.source, backup), b"packed by upstream")

    def test_other_bytes_at_upstream_are_not_taken(self):
        with archives.serving(archives.Mirror({"src-1.0.tar.gz": b"changed by someone"})) as host:
            self.upstream = self.upstreams_own(host)
            with self.assertRaisesRegex(fetch.FetchError, "src 1.0 .*4 other places were tried.*pin today's version"):
                self.fetch(self.source, self.folder({}))
        self.assertFalse((self.cache / self.upstream["src"]["sha256"]).exists())

    def test_a_release_of_another_version_is_not_asked_for(self):
        self.upstream = {"src": {"version": "1.1", "url": "http://127.0.0.1:1/src-1.1.tar.gz"}}
        with self.assertRaisesRegex(fetch.FetchError, "src 1.0 .*: none of 1 mirrors has it"):
            self.fetch(self.source, self.folder({}))
        self.assertFalse([line for line in self.said if "upstream" in line])

    def test_what_is_gone_is_noted_for_the_launcher_and_what_cannot_be_reached_is_not(self):
        with self.assertRaisesRegex(fetch.FetchError, "foo 1.0 .*: none of 1 mirrors has it"):
            self.fetch(self.entry, self.folder({}))
        self.assertEqual((places.gone_notes(self.cache) / self.entry.sha256).read_text(), "foo 1.0\n")
        with self.assertRaisesRegex(fetch.UnreachableError, "none of 1 Debian mirrors can be reached"):
            self.fetch(self.source, "http://127.0.0.1:1")
        self.assertFalse((places.gone_notes(self.cache) / self.source.sha256).exists())


class EveryArchiveTest(unittest.TestCase):
    """Each archive of the lock is missing once; its bytes are stand-ins, its name, path and suite are the real ones."""

    def test_the_ladder_answers_for_every_archive(self):
        lock = lockfile.load(HERE / "lock.json")
        upstream = places.load_upstream(HERE / "upstream.json")
        root = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        mirror, backup = root / "mirror", root / "backup"
        for folder in (mirror, backup):
            folder.mkdir()
        entries = [stand_in(entry) for entry in lock.all_entries()]
        released = {"x": b""}
        with archives.serving(archives.Mirror(released)) as host:
            for name, tarball in upstream.items():
                tarball["url"] = f"{host}/{name}.tar"
                tarball.pop("size", None), tarball.pop("sha256", None)
                released[f"{name}.tar"] = bytes_of(lock.sources[name])
            with (
                unittest.mock.patch.object(places, "load_upstream", lambda: upstream),
                unittest.mock.patch.object(places.dated, "load", dict),
            ):
                answers = {entry: self.answers(entry, root, mirror, backup) for entry in entries}
        self.assertGreater(len(answers), 300)
        for entry, (gone, moved) in answers.items():
            is_released = ".orig.tar." in entry.path and entry.name in upstream
            self.assertRegex(gone, "found in upstream's release" if is_released else "pin today's version", entry.path)
            self.assertRegex(moved, "found in (another pool|a folder of archives)", entry.path)

    def answers(self, entry, root, mirror, backup):
        """What is said of the archive when no mirror has it, and when a backup has it in another place."""
        said: list[str] = []
        cache = root / "cache"
        try:
            path = fetch.fetch([entry], cache, [str(mirror)], said.append, PATIENT)[entry]
            path.unlink()
        except fetch.FetchError as error:
            said.append(str(error))
        gone = said[-1]
        other = backup / next(iter(places.other_paths(entry.path)), entry.file_name)
        other.parent.mkdir(parents=True, exist_ok=True)
        other.write_bytes(bytes_of(entry))
        fetch.fetch([entry], cache, [str(mirror), str(backup)], said.append, PATIENT)[entry].unlink()
        return gone, said[-1]


def bytes_of(entry: lockfile.Entry) -> bytes:
    return f"stand-in for {entry.file_name}".encode()


def stand_in(entry: lockfile.Entry) -> lockfile.Entry:
    content = bytes_of(entry)
    return dataclasses.replace(entry, sha256=hashlib.sha256(content).hexdigest(), size=len(content))


class UpstreamTest(unittest.TestCase):
    def test_releases_are_of_the_pinned_versions(self):
        sources = lockfile.load(HERE / "lock.json").sources
        for name, tarball in places.load_upstream().items():
            with self.subTest(name):
                self.assertEqual(tarball["version"], sources[name].version)
                self.assertIn(tarball["version"], tarball["url"])
                self.assertTrue(tarball["url"].startswith("https://"))

    def test_a_damaged_file_is_one_sentence(self):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            file.write("{}")
            file.flush()
            with self.assertRaisesRegex(
                lockfile.LockError, "cannot be read as JSON with tarballs .*restore it from git"
            ):
                places.load_upstream(file.name)


if __name__ == "__main__":
    unittest.main()
