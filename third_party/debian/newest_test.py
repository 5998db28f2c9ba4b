import contextlib
import dataclasses
import io
import json
import pathlib
import tempfile
import unittest
import unittest.mock

import dated
import lockfile
import newest
import resolve

from third_party.debian.testing import archives


def entry(name, version, source, suite="of-a-test"):
    made = archives.entry(name, f"{name} {version}".encode(), f"pool/main/x/{source}/{name}_{version}_amd64.deb")
    return dataclasses.replace(made, version=version, suite=suite)


def orig(name, version):
    made = archives.entry(name, f"{name} {version}".encode(), f"pool/main/x/{name}/{name}_{version}.orig.tar.xz")
    return dataclasses.replace(made, version=version)


LLVM, LIBRARY, ZLIB = (
    entry("llvm", "1:22.1.8-1", "llvm"),
    entry("libllvm", "1:22.1.8-1", "llvm"),
    entry("zlib", "1.2", "z"),
)
BAZEL, JAVA = entry("bazel", "7.7.1", "bazel", "forky"), entry("java", "25.0", "java", "forky")
SQLITE = orig("sqlite", "3.53.4")
PINNED = lockfile.Lock(
    {"bookworm": {made.name: made for made in (LLVM, LIBRARY, ZLIB)}}, {"sqlite": SQLITE}, {"bazel": [BAZEL, JAVA]}
)
REQUEST = {
    "suites": {"bookworm": ["bookworm"], "forky": ["forky"]},
    "packages": {"bookworm": ["libllvm", "llvm", "zlib"]},
    "sources": {"sqlite": "forky"},
    "groups": {"bazel": {"suite": "forky", "packages": ["bazel"], "closure": True}},
}


class Index:
    """What apt has today."""

    def __init__(self, *entries, time="99991231T000000Z"):
        self.entries, self.time = {made.name: made for made in entries}, time

    def dated_suites(self):
        return {"forky": dated.Suite("Debian", "Debian", (self.time,))}

    def packages(self, names):
        return {name: self.entries[name] for name in names}

    def source(self, name):
        return self.entries[name]

    def group(self, asked):
        return sorted(self.entries[name] for name in (*asked.packages, "java"))


class ResolvedTest(unittest.TestCase):
    def resolved(self, gone, *today):
        groups = {"bazel": lockfile.Group("forky", ("bazel",), True)}
        request = lockfile.Request({}, {}, {"sqlite": "forky"}, groups)
        return newest.resolved(PINNED, request, set(gone), lambda family: Index(*today))

    def test_all_packages_of_a_source_move_together_and_all_others_stay(self):
        today = [entry("llvm", "1:22.1.9-1", "llvm"), entry("libllvm", "1:22.1.9-1", "llvm")]
        new = self.resolved([LIBRARY], *today)
        self.assertEqual(new.packages["bookworm"], {"llvm": today[0], "libllvm": today[1], "zlib": ZLIB})
        self.assertEqual((new.sources, new.groups), (PINNED.sources, PINNED.groups))

    def test_a_group_is_resolved_anew_as_a_whole(self):
        today = [entry("bazel", "7.8.0", "bazel"), entry("java", "25.1", "java")]
        self.assertEqual(self.resolved([JAVA], *today).groups["bazel"], today)

    def test_a_source(self):
        self.assertEqual(self.resolved([SQLITE], orig("sqlite", "3.54.0")).sources["sqlite"].version, "3.54.0")

    def test_another_major_version_is_refused(self):
        today = [entry("llvm", "1:23.1.0-1", "llvm"), entry("libllvm", "1:23.1.0-1", "llvm")]
        with self.assertRaisesRegex(
            newest.NewestError,
            r"llvm 1:22\.1\.8-1 is gone, and the newest version in its suite is 1:23\.1\.0-1.*use a newer",
        ):
            self.resolved([LLVM], *today)

    def test_major_versions(self):
        for version, expected in (
            ("1:22.1.8-1~deb12u1", "22"),
            ("7.7.1+ds-8", "7"),
            ("20220601+dfsg", "20220601"),
            ("2~rc1-1", "2"),
        ):
            self.assertEqual(newest.major(version), expected)


class AvailabilityTest(unittest.TestCase):
    def setUp(self):
        self.cache = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def gone(self, *bases):
        with contextlib.redirect_stderr(io.StringIO()):
            return newest.Availability(self.cache, bases, timeout=5).gone([LLVM, ZLIB])

    def test_what_the_cache_or_a_mirror_has_is_not_gone(self):
        (self.cache / LLVM.sha256).write_bytes(b"llvm 1:22.1.8-1")
        with archives.serving(archives.Mirror({ZLIB.path: b"zlib 1.2"})) as base:
            self.assertEqual(self.gone(base), set())

    def test_what_a_mirror_does_not_have_is_gone(self):
        with archives.serving(archives.Mirror({ZLIB.path: b"zlib 1.2"})) as base:
            self.assertEqual(self.gone(base), {LLVM})

    def test_without_an_answer_nothing_is_called_gone(self):
        with self.assertRaisesRegex(newest.NewestError, "none of 1 Debian mirrors answers.*--debian_mirror=URL"):
            self.gone("http://127.0.0.1:1")


class ChooseTest(unittest.TestCase):
    def setUp(self):
        root = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.folder, self.output, self.mirror = root / "debian", root / "out", root / "mirror"
        self.folder.mkdir()
        (self.folder / "lock.json").write_text(PINNED.to_json())
        (self.folder / "packages.json").write_text(json.dumps(REQUEST))
        for made in PINNED.all_entries():
            path = self.mirror / made.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(f"{made.name} {made.version}".encode())
        self.today = Index(orig("sqlite", "3.54.0"))
        self.environ = {"MLGO_DEBIAN_MIRRORS": str(self.mirror), "XDG_CACHE_HOME": str(root / "cache")}

    def choose(self):
        said = io.StringIO()
        with (
            unittest.mock.patch.object(newest.mirrors, "find_mirrors", lambda environ: [str(self.mirror)]),
            unittest.mock.patch.object(resolve, "PrivateApt", lambda *arguments: self.today),
            contextlib.redirect_stderr(said),
        ):
            return newest.choose(self.folder, self.output, self.environ), said.getvalue()

    def test_nothing_is_gone(self):
        path, said = self.choose()
        self.assertEqual(path, self.folder / "lock.json")
        self.assertIn("every pinned archive can be had", said)
        self.assertFalse(self.output.exists())

    def test_the_new_lock_is_told_kept_and_repeated(self):
        (self.mirror / SQLITE.path).unlink()
        path, said = self.choose()
        self.assertEqual(path, self.output / newest.LOCK_NAME)
        self.assertRegex(
            said, r"not the pinned build: 1 archives are newer .*\(sqlite 3\.54\.0\); the next build .* repeats"
        )
        first = path.read_bytes()
        self.today = Index(orig("sqlite", "3.55.0"))
        path, said = self.choose()
        self.assertEqual(path.read_bytes(), first)
        self.assertIn("not the pinned build", said)
        self.assertEqual(lockfile.load(path).sources["sqlite"].version, "3.54.0")

    def test_an_index_from_before_the_pinned_lock_is_refused(self):
        (self.mirror / SQLITE.path).unlink()
        self.today = Index(orig("sqlite", "3.1.0"), time="20200101T000000Z")
        with self.assertRaisesRegex(lockfile.LockError, "forky: the mirror's is of 20200101T000000Z, older than"):
            self.choose()
        self.assertFalse(self.output.exists())

    def test_another_pinned_lock_makes_another(self):
        (self.mirror / SQLITE.path).unlink()
        self.choose()
        (self.folder / "lock.json").write_text(dataclasses.replace(PINNED, groups={}).to_json())
        self.today = Index(orig("sqlite", "3.55.0"))
        path, _ = self.choose()
        self.assertEqual(lockfile.load(path).sources["sqlite"].version, "3.55.0")

    def test_a_lock_of_an_older_form_that_another_pinned_lock_made_is_replaced(self):
        (self.mirror / SQLITE.path).unlink()
        self.output.mkdir()
        (self.output / newest.LOCK_NAME).write_text(json.dumps({"of": "0" * 64, "version": 1}))
        path, _ = self.choose()
        self.assertEqual(lockfile.load(path).sources["sqlite"].version, "3.54.0")

    def test_a_damaged_lock_is_not_overwritten(self):
        self.output.mkdir()
        (self.output / newest.LOCK_NAME).write_text("{")
        with self.assertRaisesRegex(newest.NewestError, "is no lock of --config=newest_packages .*delete it"):
            self.choose()
        self.assertEqual((self.output / newest.LOCK_NAME).read_text(), "{")


class KnownSourcesTest(unittest.TestCase):
    def test_a_mirror_of_the_user_serves_stable_and_its_security_updates(self):
        environ = {"MLGO_DEBIAN_MIRROR_OPTION": "http://m/debian", "MLGO_DEBIAN_MIRRORS": "/srv/keep"}
        with unittest.mock.patch.object(newest.mirrors, "apt_sources", list):
            lines = resolve.source_lines(["bookworm", "bookworm-security"], newest.known_sources(environ))
        self.assertIn("http://m/debian bookworm main", lines[0])
        self.assertIn("http://m/debian-security bookworm-security main", lines[2])


if __name__ == "__main__":
    unittest.main()
