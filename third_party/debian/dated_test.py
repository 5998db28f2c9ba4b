"""The dated archive: which address and times the lock records, and that every pinned archive is found there in a year.

Its stand-in has the layout of the real one, on loopback: archive/NAME/TIME/pool/... redirects to the file's digest.
"""

import contextlib
import dataclasses
import hashlib
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

import dated
import fetch
import lockfile
import pace
import places

from third_party.debian.testing import archives

HERE = pathlib.Path(__file__).parent
PATIENT = pace.Limits(pause_seconds=0, look_seconds=0.01)
RELEASE = {"Origin": "Debian", "Label": "Debian", "Codename": "forky", "Date": "Fri, 30 Oct 2026 18:08:01 UTC"}
OF_RELEASE, OF_LABEL, OF_ORIGIN = (f"https://{name}.example/{dated.SNAPSHOT_ID}/" for name in ("r", "l", "o"))
#: Sources that no stable suite has in the version that is needed. Keep this list short.
OF_TESTING = {"brotli", "flatbuffers", "llvm-toolchain-22", "llvm-toolchain-23", "oourafft", "sqlite3", "tensorflow"}
A_YEAR_AGO = "20251127T000000Z"


def redirects(path: str) -> archives.Behaviour:
    """A behaviour that sends the client to another path of the same server."""

    def behave(handler, mirror):
        del mirror  # Whichever it is.
        handler.wfile.write(archives.header("301 Moved Permanently", location=f"/{path}", content_length=0))

    return behave


class DatedArchive:
    """A server that has archives as they lay in a suite at one time, and no mirror's pool.

    Attributes:
        suites: what the lock would record of it; filled by `serving`.
    """

    def __init__(self, contents, time):
        self._time = time
        self._files, self._moved = {}, {}
        for entry, content in contents.items():
            self._files[f"file/{entry.sha256}"] = content
            dated_path = f"archive/{self._name(entry.suite)}/{time}/{entry.path}"
            self._moved[dated_path] = redirects(f"file/{entry.sha256}")
        self._names = {entry.suite for entry in contents}
        self.suites = {}

    @staticmethod
    def _name(suite):
        return "debian-security" if suite.endswith("-security") else "debian"

    @contextlib.contextmanager
    def serving(self):
        with archives.serving(archives.Mirror(self._files, behaviours=self._moved)) as host:
            self.suites = {
                suite: dated.Suite(f"{host}/archive/{self._name(suite)}/{dated.SNAPSHOT_ID}/", (self._time,))
                for suite in self._names
            }
            yield host


class RecordedTest(unittest.TestCase):
    def suite(self, settings=None, **fields):
        return dated.of_release({**RELEASE, **fields}, settings or {})

    def test_the_time_is_half_a_day_after_the_release(self):
        self.assertEqual(self.suite().times, ("20261031T060801Z",))

    def test_the_address_in_apts_order(self):
        settings = {"Override::Label::Debian": OF_LABEL, "Origin::Debian": OF_ORIGIN}
        self.assertEqual(self.suite(settings, Snapshots=OF_RELEASE).address, OF_LABEL)
        del settings["Override::Label::Debian"]
        self.assertEqual(self.suite(settings, Snapshots=OF_RELEASE).address, OF_RELEASE)
        self.assertEqual(self.suite(settings).address, OF_ORIGIN)
        self.assertEqual(self.suite(settings, Snapshots="no").address, "")
        self.assertEqual(self.suite().address, "")

    def test_pinned_archives_keep_their_time_and_an_address_stays_known(self):
        old = {"forky": dated.Suite(OF_ORIGIN, ("20260101T000000Z",)), "sid": dated.Suite(OF_ORIGIN, (A_YEAR_AGO,))}
        read = {"forky": self.suite(), "trixie": self.suite()}
        kept = dated.merged(old, read, keeps_pinned=True)
        self.assertEqual(sorted(kept), ["forky", "sid"])
        self.assertEqual(kept["forky"], dated.Suite(OF_ORIGIN, ("20260101T000000Z", "20261031T060801Z")))
        self.assertEqual(
            kept["forky"].bases(), ["https://o.example/20261031T060801Z", "https://o.example/20260101T000000Z"]
        )
        later = {"forky": kept["forky"], "forky-updates": dated.Suite(OF_LABEL, (A_YEAR_AGO,))}
        self.assertEqual(dated.bases("forky", later), [*kept["forky"].bases(), f"https://l.example/{A_YEAR_AGO}"])
        anew = dated.merged(old, read, keeps_pinned=False)
        self.assertEqual(anew, {"forky": dated.Suite(OF_ORIGIN, ("20261031T060801Z",))})

    def test_a_file_is_read_as_it_was_written(self):
        suites = {"forky": dated.Suite(OF_ORIGIN, (A_YEAR_AGO,))}
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "dated.json")
            path.write_text(dated.to_json(suites), encoding="utf-8")
            self.assertEqual(dated.load(path), suites)
            for broken in ("", "[]", '{"a": {}}', '{"a": {"address": "x", "times": ["today"]}}'):
                path.write_text(broken, encoding="utf-8")
                with self.subTest(broken), self.assertRaisesRegex(lockfile.LockError, "restore it from git or run"):
                    dated.load(path)

    def test_every_suite_of_the_lock_has_a_place(self):
        lock, suites = lockfile.load(HERE / "lock.json"), dated.load()
        self.assertLessEqual({entry.suite for entry in lock.all_entries()}, set(suites))
        for suite in suites.values():
            self.assertTrue(suite.times)
            self.assertTrue(suite.address.startswith("https://"), suite.address)


class PackagesTest(unittest.TestCase):
    """packages.json takes from testing only what no other suite has: mirrors drop its versions within weeks."""

    def test_what_only_testing_has(self):
        request = lockfile.load_request(HERE / "packages.json")
        testing = {family for family, suites in request.suites.items() if not suites[0].startswith("bookworm")}
        self.assertEqual({name for name, family in request.sources.items() if family in testing}, OF_TESTING)
        groups = {name for name, group in request.groups.items() if group.suite in testing}
        # Bazel needs testing as a whole; the launcher resolves it anew when a part is gone. LLVM 23 is an option.
        self.assertEqual(groups, {"bazel", "llvm23_libraries"})
        self.assertEqual([family for family in request.packages if family in testing], ["sid"])
        self.assertEqual([name for name in request.packages["sid"] if "23" not in name], [])


class EveryArchiveTest(unittest.TestCase):
    """In a year, no mirror has an archive of the lock. Contents are stand-ins; all else is real."""

    def test_each_is_found_in_the_dated_archive(self):
        contents = {}
        for entry in lockfile.load(HERE / "lock.json").all_entries():
            content = f"stand-in for {entry.file_name}".encode()
            digest = hashlib.sha256(content).hexdigest()
            contents[dataclasses.replace(entry, sha256=digest, size=len(content))] = content
        self.assertGreater(len(contents), 300)
        archive, said = DatedArchive(contents, A_YEAR_AGO), []
        with archive.serving(), archives.serving(archives.Mirror({})) as mirror, tempfile.TemporaryDirectory() as cache:
            with unittest.mock.patch.object(places.dated, "load", lambda: archive.suites):
                found = fetch.fetch(contents, cache, [f"{mirror}/debian"], said.append, PATIENT)
            self.assertEqual({entry: path.read_bytes() for entry, path in found.items()}, contents)
        # An archive that is in two suites is fetched once.
        archives_there = {entry.sha256 for entry in contents}
        self.assertEqual(len([line for line in said if "found in the dated archive, " in line]), len(archives_there))


class CloneOfLastYearTest(unittest.TestCase):
    """A clone whose lock is a year old, on a machine whose mirrors have newer versions: what a repository rule runs."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)
        self.clone, self.root = self.scratch / "clone", self.scratch / "tree"
        self.clone.mkdir()
        self.root.mkdir()
        for path in [*HERE.glob("*.py"), HERE / "upstream.json"]:
            if not path.name.endswith("_test.py"):
                shutil.copy(path, self.clone)
        self.contents = {}
        for name, suite, pool in (
            ("moved", "forky", "pool/main"),
            ("mended", "bookworm-security", "pool/updates/main"),
        ):
            content = archives.deb_bytes({f"./usr/share/{name}": name.encode()})
            entry = archives.entry(name, content, f"{pool}/{name[0]}/{name}/{name}_1.0_amd64.deb")
            self.contents[dataclasses.replace(entry, suite=suite)] = content

    def unpack(self, mirrors):
        """(exit code, standard error) of the script that a repository rule runs."""
        (self.clone / "dated.json").write_text(dated.to_json(self.archive.suites), encoding="utf-8")
        entries = [dataclasses.asdict(entry) for entry in self.contents]
        request = {"entries": entries, "kind": "packages", "exclude": [], "rpath": []}
        done = subprocess.run(
            [sys.executable, "-EsB", self.clone / "tree.py"],
            input=json.dumps(request),
            cwd=self.root,
            env={"XDG_CACHE_HOME": str(self.scratch / "cache"), "MLGO_DEBIAN_MIRRORS": mirrors, "PATH": "/nowhere"},
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stderr

    def test_it_is_unpacked_from_the_pinned_archives(self):
        self.archive = DatedArchive(self.contents, A_YEAR_AGO)
        newer = {entry.path.replace("1.0", "2.0"): b"of today" for entry in self.contents}
        with self.archive.serving(), archives.serving(archives.Mirror(newer)) as mirror:
            code, said = self.unpack(f"{mirror}/debian")
        self.assertEqual(code, 0, said)
        self.assertEqual(archives.tree(self.root / "usr/share"), {"moved": b"moved", "mended": b"mended"})
        self.assertRegex(
            said, r"mended 1\.0: found in the dated archive, http\S*/archive/debian-security/20251127T000000Z/"
        )

    def no_mirror(self):
        """mirrors.py of the clone, on a machine whose apt names none."""
        path = self.clone / "mirrors.py"
        text = path.read_text(encoding="utf-8")
        self.assertIn('APT_ETC = "/etc/apt"', text)
        path.write_text(text.replace('APT_ETC = "/etc/apt"', 'APT_ETC = "/nowhere"'), encoding="utf-8")

    def test_no_mirror_need_be_named(self):
        self.no_mirror()
        self.archive = DatedArchive(self.contents, A_YEAR_AGO)
        with self.archive.serving():
            code, said = self.unpack("")
        self.assertEqual(code, 0, said)
        self.assertEqual(archives.tree(self.root / "usr/share"), {"moved": b"moved", "mended": b"mended"})
        self.assertRegex(said, "no Debian mirror: .*--debian_mirror=URL.*from Debian's dated archive, which is slow")
        self.assertNotIn("found in", said)

    def test_without_a_network_it_says_how_to_name_a_mirror(self):
        self.no_mirror()
        self.archive = DatedArchive(self.contents, A_YEAR_AGO)
        with self.archive.serving():
            pass  # No process listens there any more.
        code, said = self.unpack("")
        self.assertEqual(code, 1)
        self.assertRegex(
            said, r"can be reached \(.*Connection refused.*\), so (moved|mended) 1\.0 is missing\..*name a mirror"
        )
        self.assertFalse((self.scratch / "cache/mlgo/archives/gone").exists())


if __name__ == "__main__":
    unittest.main()
