import contextlib
import errno
import io
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
import unittest.mock

import lockfile
import mirrors
import resolve

from third_party.debian.testing import archives
from toolchains.bazel import installation, relocation
from toolchains.bazel.errors import LauncherError
from toolchains.bazel.testing import packages

WORKSPACE = pathlib.Path(os.path.abspath(__file__)).parents[2]


# Started as a process of its own: fills the tree, tells that it did, and never ends.
NEVER_ENDING = """
import pathlib, sys, time
sys.path.insert(0, sys.argv[1])
from toolchains.bazel import installation
def build(staging):
    (staging / "half").write_text("x")
    print("half", flush=True)
    time.sleep(600)
installation.ensure(pathlib.Path(sys.argv[2]), build, print, space_needed=1)
"""


class EnsureTest(unittest.TestCase):
    def setUp(self):
        self.prefix = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())) / "cache" / "7.7.1-abc"
        self.said, self.builds = [], 0

    def build(self, staging):
        self.builds += 1
        self.assertEqual(os.listdir(staging), [])
        (staging / "bazel").write_text("whole")
        return {"bazel": "7.7.1"}

    def ensure(self, build=None):
        installation.ensure(self.prefix, build or self.build, self.said.append, space_needed=1)

    def assert_installed(self):
        self.assertEqual(json.loads((self.prefix / "manifest.json").read_text()), {"bazel": "7.7.1"})
        self.assertEqual(sorted(os.listdir(self.prefix)), ["bazel", "manifest.json"])
        self.assertEqual(sorted(os.listdir(self.prefix.parent)), ["7.7.1-abc", "7.7.1-abc.lock"])

    def test_builds_once(self):
        self.ensure()
        self.ensure()
        self.assertEqual(self.builds, 1)
        self.assert_installed()

    def test_a_tree_without_manifest_is_made_again(self):
        self.prefix.mkdir(parents=True)
        (self.prefix / "stale").write_text("x")
        self.ensure()
        self.assert_installed()

    def test_a_failed_build_leaves_no_tree_and_the_next_one_works(self):
        def failing(staging):
            (staging / "half").write_text("x")
            raise LauncherError("a", "b", "c")

        with self.assertRaisesRegex(LauncherError, "a: b"):
            self.ensure(failing)
        self.assertFalse(self.prefix.exists())
        self.ensure()
        self.assert_installed()

    def test_killed_while_building_then_again(self):
        process = subprocess.Popen(
            [sys.executable, "-c", NEVER_ENDING, str(WORKSPACE), str(self.prefix)], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout
        self.assertEqual(process.stdout.readline(), "half\n")
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        self.assertFalse(self.prefix.exists())
        self.ensure()
        self.assert_installed()
        self.assertEqual(self.said, [])

    def test_four_at_once_build_once_and_the_others_say_that_they_wait(self):
        started, never = threading.Event(), threading.Event()

        def slow(staging):
            started.set()
            while len(self.said) < 3:  # Until the others wait.
                never.wait(0.01)
            return self.build(staging)

        threads = [threading.Thread(target=self.ensure, args=(slow,)) for _ in range(4)]
        threads[0].start()
        self.assertTrue(started.wait(10))
        for thread in threads[1:]:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(self.builds, 1)
        self.assert_installed()
        self.assertEqual(self.said, [f"another bazelw is installing Bazel into {self.prefix}; waiting for it"] * 3)

    def test_a_full_disk_is_told_with_the_remedy(self):
        def full(_):
            raise OSError(errno.ENOSPC, "No space left on device")

        with self.assertRaisesRegex(
            LauncherError,
            r"^Bazel's directory .*7\.7\.1-abc: cannot be written \(No space left on device\)\. "
            r"Free the disk or set XDG_CACHE_HOME",
        ):
            self.ensure(full)

    def test_too_little_room_is_told_before_anything_is_fetched(self):
        with self.assertRaisesRegex(LauncherError, r"MB are free, 1000000000000 MB are needed\. Free the disk"):
            installation.ensure(self.prefix, self.build, self.said.append, space_needed=10**18)
        self.assertEqual(self.builds, 0)

    def test_a_cache_that_cannot_be_made(self):
        self.prefix.parent.write_text("a file where a directory should be")
        with self.assertRaisesRegex(LauncherError, r"cannot be written \(File exists\)"):
            self.ensure()


class DebianBazelTest(unittest.TestCase):
    """The whole installation, from a directory of stand-in archives."""

    def setUp(self):
        self.scratch = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        # No UTF-8 either: a path is any bytes.
        self.cache_home = self.scratch / os.fsdecode(b"K\xc3\xa4se \xff")
        self.prefix = self.cache_home / "mlgo" / "bazel" / "7.7.1-abc"
        self.workspace = self.scratch / "clone"
        (self.workspace / "third_party/debian").mkdir(parents=True)
        os.symlink(WORKSPACE / "third_party/registry", self.workspace / "third_party/registry")
        self.packages = packages.bazel_packages()
        patchelf = b'#!/bin/sh\nfor last; do :; done\necho "$@" > "$last"\n'
        self.tools = {"patchelf": {"./usr/bin/patchelf": patchelf}}
        self.further_mirrors = []
        self.said = []

    def install(self, lose=()):
        groups: dict[str, list[lockfile.Entry]] = {}
        for group, contents in (("bazel", self.packages), ("bazel_tools", self.tools)):
            groups[group] = []
            for name, files in contents.items():
                content = archives.deb_bytes(files)
                entry = archives.entry(name, content)
                groups[group].append(entry)
                if name not in lose:
                    path = self.scratch / "mirror" / entry.path
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(content)
        lock = lockfile.Lock(packages={}, sources={}, groups=groups)
        (self.workspace / "third_party/debian/lock.json").write_text(lock.to_json())
        environ = {"XDG_CACHE_HOME": str(self.cache_home), "SSL_CERT_FILE": "/nonexistent"}
        bazel = installation.DebianBazel(self.workspace, self.prefix, environ, self.said.append)
        bases = [str(self.scratch / "mirror"), *self.further_mirrors]
        with (
            contextlib.redirect_stderr(io.StringIO()),
            # The mirrors of this machine must not be asked.
            unittest.mock.patch.object(mirrors, "find_mirrors", lambda environ: bases),
        ):
            installation.ensure(self.prefix, bazel.build, self.said.append, space_needed=1)

    def test_from_archives_to_a_bazel_with_its_registry(self):
        self.install()
        manifest = json.loads((self.prefix / "manifest.json").read_text())
        self.assertEqual(manifest["bazel"], "7.7.1")
        self.assertEqual(sorted(manifest["packages"]), ["bazel-bootstrap", "jars", "java", "libraries", "patchelf"])
        prefix = os.fsencode(self.prefix)
        self.assertIn(b"--set-interpreter " + prefix, (self.prefix / relocation.CLIENT).read_bytes())
        rc_file = (self.prefix / "bazelrc").read_bytes()
        self.assertIn(b'startup "--install_base=' + prefix + b'/usr/share/bazel"\n', rc_file)
        self.assertIn(b'startup "--server_javabase=' + prefix + b'/usr/lib/bazel-server-java"\n', rc_file)
        self.assertTrue((self.prefix / "registry/modules/rules_shell/0.4.0/MODULE.bazel").is_file())
        self.assertIn(
            b'"--override_module=rules_cc=' + prefix + b'/registry/sources/rules_cc"\n',
            (self.prefix / "other_workspace.bazelrc").read_bytes(),
        )
        self.assertFalse((self.prefix / "usr/share/doc").exists())
        self.assertRegex(self.said[0], r"^installing Debian's Bazel, once: 4 packages, 0 MB to download$")
        self.assertRegex(self.said[-1], rf"^Bazel 7\.7\.1 installed in \d+ s into {self.prefix}$")

    def test_packages_that_are_gone_are_resolved_afresh_and_that_is_said(self):
        fresh = []

        def get_fresh(bazel, group):
            fresh.append(group)
            (self.scratch / "mirror" / lost.path).parent.mkdir(parents=True, exist_ok=True)
            (self.scratch / "mirror" / lost.path).write_bytes(archives.deb_bytes(self.packages["java"]))
            lock = bazel._lockfile.load(self.workspace / "third_party/debian/lock.json")
            return bazel._get(lock.group(group))

        lost = archives.entry("java", archives.deb_bytes(self.packages["java"]))
        with unittest.mock.patch.object(installation.DebianBazel, "_get_fresh", get_fresh):
            self.install(lose=["java"])
        self.assertEqual(fresh, ["bazel", "bazel_tools"])
        self.assertEqual(
            self.said[1],
            "1 pinned packages are on no mirror that answered (java 1.0): using today's versions "
            "for Bazel alone, checked by the archive's signature",
        )

    def test_offline_packages_are_not_called_gone_and_the_variable_is_named(self):
        with archives.serving(archives.Mirror({})) as silent:
            pass  # No process listens there any more.
        self.further_mirrors = [silent]
        with self.assertRaisesRegex(
            LauncherError, r"java 1\.0 .*not in the directory.*Connection refused.*MLGO_DEBIAN_MIRRORS"
        ):
            self.install(lose=["java"])
        self.assertNotIn("no mirror", "".join(self.said))

    def test_what_is_said_when_todays_versions_cannot_be_resolved(self):
        def unresolved(bazel, group):
            raise resolve.ResolveError("apt-get cannot be run")

        with unittest.mock.patch.object(installation.DebianBazel, "_get_fresh", unresolved):
            with self.assertRaisesRegex(
                LauncherError, r"java 1\.0 .*MLGO_DEBIAN_MIRRORS.*Today's versions cannot be had.*apt-get cannot be run"
            ):
                self.install(lose=["java"])

    def test_a_damaged_archive_is_an_error_and_never_resolved_afresh(self):
        entry = archives.entry("java", archives.deb_bytes(self.packages["java"]))
        path = self.scratch / "mirror" / entry.path
        path.parent.mkdir(parents=True)
        path.write_bytes(b"other bytes")
        with self.assertRaisesRegex(
            LauncherError, r"^Debian's Bazel: java 1\.0 .*size is 11 bytes and sha256 .*, the lock says .* Or set BAZEL"
        ):
            self.install(lose=["java"])
        self.assertFalse(self.prefix.exists())

    def test_a_damaged_archive_in_the_cache_is_fetched_again(self):
        for name, files in (("java", self.packages["java"]), ("patchelf", self.tools["patchelf"])):
            with self.subTest(name):
                entry = archives.entry(name, archives.deb_bytes(files))
                cached = self.cache_home / "mlgo" / "archives" / entry.sha256
                cached.parent.mkdir(parents=True, exist_ok=True)
                cached.write_bytes(bytes(entry.size))
                self.install()
                shutil.rmtree(self.prefix)


class GoneLineTest(unittest.TestCase):
    def test_long_lists_are_cut(self):
        line = installation.gone_line([archives.entry(name, b"x") for name in "abcd"])
        self.assertTrue(
            line.startswith("4 pinned packages are on no mirror that answered (a 1.0, b 1.0, c 1.0, ...): ")
        )


if __name__ == "__main__":
    unittest.main()
