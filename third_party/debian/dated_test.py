"""The dated archive: which times the lock records, who tells its address, and that every pinned archive is found there
in a year.

Its stand-in has the layout of the real one, on loopback: archive/NAME/TIME/pool/... redirects to the file's digest.
"""

import contextlib
import dataclasses
import hashlib
import json
import os
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
import mirrors
import pace

from third_party.debian.testing import archives

HERE = pathlib.Path(__file__).parent
PATIENT = pace.Limits(pause_seconds=0, look_seconds=0.01)
RELEASE = {"Origin": "Debian", "Label": "Debian", "Codename": "forky", "Date": "Fri, 30 Oct 2026 18:08:01 UTC"}
OF_RELEASE, OF_LABEL, OF_ORIGIN = (f"https://{name}.example/{dated.SNAPSHOT_ID}/" for name in ("r", "l", "o"))
#: Sources that no stable suite has in the version that is needed. Keep this list short.
OF_TESTING = {"brotli", "flatbuffers", "llvm-toolchain-22", "llvm-toolchain-23", "oourafft", "sqlite3", "tensorflow"}
A_YEAR_AGO = "20251127T000000Z"
#: Name in the stand-in's addresses -> label of the Release files.
LABELS = {"debian": "Debian", "debian-security": "Debian-Security"}
SECURITY = {("Debian-Security", "Debian")}


def suite(*times: str) -> dated.Suite:
    return dated.Suite("Debian", "Debian", times)


def redirects(path: str) -> archives.Behaviour:
    """A behaviour that sends the client to another path of the same server."""

    def behave(handler, mirror):
        del mirror  # Whichever it is.
        handler.wfile.write(archives.header("301 Moved Permanently", location=f"/{path}", content_length=0))

    return behave


class DatedArchive:
    """A server that has archives as they lay in a suite at one time, and no mirror's pool.

    Attributes:
        suites: what the lock would record of it.
        settings: of an apt that knows it; filled by `serving`.
    """

    def __init__(self, contents, time):
        self._time = time
        self._files, self._moved = {}, {}
        for entry, content in contents.items():
            self._files[f"file/{entry.sha256}"] = content
            dated_path = f"archive/{self._name(entry.suite)}/{time}/{entry.path}"
            self._moved[dated_path] = redirects(f"file/{entry.sha256}")
        self.suites = {
            entry.suite: dated.Suite(LABELS[self._name(entry.suite)], "Debian", (time,)) for entry in contents
        }
        self.settings = {}

    @staticmethod
    def _name(suite):
        return "debian-security" if suite.endswith("-security") else "debian"

    @contextlib.contextmanager
    def serving(self):
        with archives.serving(archives.Mirror(self._files, behaviours=self._moved)) as host:
            self.settings = {
                f"Label::{label}": f"{host}/archive/{name}/{dated.SNAPSHOT_ID}/" for name, label in LABELS.items()
            }
            yield host

    def apt_config(self, folder):
        """Writes an apt-config into `folder` that knows the archive."""
        folder.mkdir()
        lines = [f'Acquire::Snapshots::URI::{key} "{address}";' for key, address in self.settings.items()]
        program = folder / "apt-config"
        program.write_text("#!/bin/sh\ncat <<'END'\nAPT \"\";\n{}\nEND\n".format("\n".join(lines)))
        program.chmod(0o755)


class RecordedTest(unittest.TestCase):
    def setUp(self):
        dated.address_of.cache_clear()
        self.addCleanup(dated.address_of.cache_clear)

    def address(self, settings=None, mirrors=()):
        with unittest.mock.patch.object(dated, "apt_settings", lambda: settings or {}):
            return dated.address_of("forky", dated.of_release(RELEASE), mirrors)

    def test_the_time_is_half_a_day_after_the_release(self):
        self.assertEqual(dated.of_release(RELEASE), dated.Suite("Debian", "Debian", ("20261031T060801Z",)))

    def test_the_address_in_apts_order(self):
        release = f"Origin: Debian\nSnapshots: {OF_RELEASE}\n".encode()
        of_origin = {"Origin::Debian": OF_ORIGIN}
        with archives.serving(archives.Mirror({"debian/dists/forky/Release": release})) as host:
            mirrors = (f"{host}/other", f"{host}/debian")
            self.assertEqual(self.address({"Override::Label::Debian": OF_LABEL, **of_origin}, mirrors), OF_LABEL)
            dated.address_of.cache_clear()
            self.assertEqual(self.address(of_origin, mirrors), OF_RELEASE)
            dated.address_of.cache_clear()
            self.assertEqual(self.address(of_origin, mirrors[:1]), OF_ORIGIN)

    def test_what_is_no_address_is_none(self):
        with archives.serving(archives.Mirror({"debian/dists/forky/Release": b"Snapshots: no\n"})) as host:
            self.assertEqual(self.address({"Origin::Debian": OF_ORIGIN}, (f"{host}/debian",)), "")
        for wrong in ("https://no.time.example/", f"file:///srv/{dated.SNAPSHOT_ID}", ""):
            dated.address_of.cache_clear()
            self.assertEqual(self.address({"Origin::Debian": wrong}), "", wrong)

    def test_this_machine_may_have_no_apt(self):
        dated.apt_settings.cache_clear()
        self.addCleanup(dated.apt_settings.cache_clear)
        with unittest.mock.patch.dict("os.environ", PATH="/nowhere"):
            self.assertEqual(dated.apt_settings(), {})

    def test_pinned_archives_keep_their_time(self):
        old = {"forky": suite("20260101T000000Z"), "sid": suite(A_YEAR_AGO)}
        read = {"forky": dated.of_release(RELEASE), "trixie": suite(A_YEAR_AGO)}
        kept = dated.merged(old, read, keeps_pinned=True)
        self.assertEqual(sorted(kept), ["forky", "sid", "trixie"])
        self.assertEqual(kept["forky"], suite("20260101T000000Z", "20261031T060801Z"))
        self.assertEqual(dated.merged(old, read, keeps_pinned=False), read)

    def test_newest_first_and_updates_of_a_suite_too(self):
        suites = {"forky": suite("20260101T000000Z", "20261031T060801Z"), "forky-updates": suite(A_YEAR_AGO)}
        with unittest.mock.patch.object(dated, "apt_settings", lambda: {"Origin::Debian": OF_ORIGIN}):
            found = dated.bases("forky", suites, ())
        times = ["20261031T060801Z", "20260101T000000Z", A_YEAR_AGO]
        self.assertEqual(found, [f"https://o.example/{time}" for time in times])

    def test_a_file_is_read_as_it_was_written(self):
        suites = {"forky": suite(A_YEAR_AGO)}
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "dated.json")
            path.write_text(dated.to_json(suites), encoding="utf-8")
            self.assertEqual(dated.load(path), suites)
            for broken in ("", "[]", '{"a": {}}', '{"a": {"label": "", "origin": "", "times": ["now"]}}'):
                path.write_text(broken, encoding="utf-8")
                with self.subTest(broken), self.assertRaisesRegex(lockfile.LockError, "restore it from git or run"):
                    dated.load(path)

    def test_every_suite_of_the_lock_has_a_place(self):
        lock, suites = lockfile.load(HERE / "lock.json"), dated.load()
        self.assertLessEqual({entry.suite for entry in lock.all_entries()}, set(suites))
        self.assertEqual({(each.label, each.origin) for each in suites.values()} - {("Debian", "Debian")}, SECURITY)


class PackagesTest(unittest.TestCase):
    """packages.json takes from testing only what no other suite has: mirrors drop its versions within weeks."""

    def test_what_only_testing_has(self):
        request = lockfile.load_request(HERE / "packages.json")
        testing = {name for name, suites in request.suites.items() if not suites[0].startswith(("bookworm", "trixie"))}
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
        archive = DatedArchive(contents, A_YEAR_AGO)
        said: list[str] = []
        with archive.serving(), archives.serving(archives.Mirror({})) as mirror, tempfile.TemporaryDirectory() as cache:
            dated.address_of.cache_clear()
            with (
                unittest.mock.patch.object(dated, "load", lambda: archive.suites),
                unittest.mock.patch.object(dated, "apt_settings", lambda: archive.settings),
            ):
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
        for path in [*HERE.glob("*.py"), HERE / "upstream.json", HERE / "mirror_package.json"]:
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

    def unpack(self, mirrors, apt="3.0"):
        """(exit code, standard error) of the script that a repository rule runs. Args: apt: "": there is none."""
        path = f"{self.scratch / 'bin'}:{os.environ['PATH']}" if apt else "/nowhere"
        (self.clone / "dated.json").write_text(dated.to_json(self.archive.suites), encoding="utf-8")
        self.archive.apt_config(self.scratch / "bin")
        entries = [dataclasses.asdict(entry) for entry in self.contents]
        request = {"entries": entries, "kind": "packages", "exclude": [], "rpath": []}
        done = subprocess.run(
            [sys.executable, "-EsB", self.clone / "tree.py"],
            input=json.dumps(request),
            cwd=self.root,
            env={
                "XDG_CACHE_HOME": str(self.scratch / "cache"),
                "MLGO_DEBIAN_MIRRORS": mirrors,
                "PATH": path,
                "PIP_NO_INDEX": "1",
            },
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
        """mirrors.py of the clone, on a machine whose apt names none and whose pip knows no index."""
        path = self.clone / "mirrors.py"
        text = path.read_text(encoding="utf-8")
        for name in (mirrors.APT_ETC, mirrors.DEBIAN_TEMPLATE):
            self.assertIn(f'"{name}"', text)
            text = text.replace(f'"{name}"', '"/nowhere"')
        path.write_text(text, encoding="utf-8")

    def test_no_mirror_need_be_named(self):
        self.no_mirror()
        self.archive = DatedArchive(self.contents, A_YEAR_AGO)
        with self.archive.serving():
            code, said = self.unpack("")
        self.assertEqual(code, 0, said)
        self.assertEqual(archives.tree(self.root / "usr/share"), {"moved": b"moved", "mended": b"mended"})
        self.assertRegex(said, "no Debian mirror: .*--debian_mirror=URL.*from Debian's dated archive, which is slow")
        self.assertNotIn("found in", said)

    def test_without_mirror_and_apt_it_says_how_to_name_a_mirror(self):
        self.no_mirror()
        self.archive = DatedArchive(self.contents, A_YEAR_AGO)
        with self.archive.serving():
            code, said = self.unpack("", apt="")
        self.assertEqual(code, 1)
        self.assertRegex(said, "no Debian mirror: .*--debian_mirror=URL")
        self.assertNotIn("Traceback", said)

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
