import contextlib
import hashlib
import io
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
import urllib.error
import urllib.request

from mlgo.run.exit_codes import RunError
from tests.foreign_hosts import hosts, machine, memory, proxy, runs, try_hosts
from tests.isolation import control_group

RUN = runs.Run("a run", "true", says=(r"^done \d$",), never_says=("Traceback",))


class FolderTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))


class HostsTest(FolderTest):
    def root(self, host):
        root = self.folder / host.name
        for name in ("usr/bin/bash", "usr/bin/gawk", "usr/bin/apt-get", "usr/bin/python3.11", "usr/sbin/chroot"):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).touch()
        for name in ("etc/apt", "var/lib/dpkg", "etc/ssl/certs"):
            (root / name).mkdir(parents=True)
        (root / "etc/os-release").symlink_to("../usr/lib/os-release")
        hosts.strip(host, root)
        return root

    def test_a_host_without_apt(self):
        root = self.root(hosts.HOSTS["without_apt"])
        self.assertEqual(sorted(os.listdir(root / "usr/bin")), ["awk", "bash", "gawk", "python3.11", "sh"])
        self.assertFalse((root / "var/lib/dpkg").exists() or (root / "etc/apt").exists())
        self.assertIn("Fedora", (root / "etc/os-release").read_text())

    def test_a_host_whose_apt_knows_no_debian(self):
        root = self.root(hosts.HOSTS["other_apt"])
        self.assertTrue((root / "usr/bin/apt-get").exists() and (root / "var/lib/dpkg").exists())
        (source,) = (root / "etc/apt/sources.list.d").iterdir()
        self.assertIn("/ubuntu\n", source.read_text())

    def test_a_host_of_few_programs(self):
        root = self.root(hosts.HOSTS["bare"])
        self.assertEqual(sorted(os.listdir(root / "usr/bin")), ["bash", "python3.11", "sh"])
        self.assertEqual(os.listdir(root / "usr/sbin"), [])

    def test_every_host_has_runs(self):
        self.assertEqual(sorted(hosts.HOSTS), sorted(runs.RUNS))


class MachineTest(FolderTest):
    def test_settings_say_where_packages_come_from(self):
        text = (
            ":env:.cert='/etc/ssl/x.crt'\nglobal.find-links='/wheels'\nglobal.index-url='http://a.example/simple'\n"
            "install.find-links='/more wheels'\n:env:.disable-pip-version-check='1'\n"
        )
        self.assertEqual(
            machine.pip_environment(text),
            {"PIP_FIND_LINKS": "/more wheels", "PIP_INDEX_URL": "http://a.example/simple"},
        )

    def test_folders_that_the_settings_name_are_shown_once(self):
        for name in ("index/simple", "index/files", "a b/c"):
            (self.folder / name).mkdir(parents=True)
        found = machine.local_paths(
            {
                "PIP_EXTRA_INDEX_URL": f"file://{self.folder}/index/simple/ http://a.example/x",
                "PIP_FIND_LINKS": f"file:{self.folder}/a%20b/c {self.folder}/index/files {self.folder}/none",
            }
        )
        self.assertEqual(found, [f"{self.folder}/a b/c", f"{self.folder}/index"])

    def test_mounts_make_their_mount_points(self):
        archives = self.folder / "arch ives"
        archives.mkdir()
        commands = list(machine.mounts(self.folder, archives, "etc/pki/x.crt", {}))
        self.assertIn(f"mount --bind '{archives}' srv/archives && mount -o remount,bind,ro srv/archives", commands)
        self.assertTrue((self.folder / "srv/archives").is_dir())


class MemoryTest(FolderTest):
    def test_peak_and_end(self):
        probe = 'import time; x = b"x" * 50_000_000; time.sleep(2)'
        try:
            with memory.limited(f"mlgo_test_{os.getpid()}", 2**30) as group:
                subprocess.run(["sh", "-c", f'{group.enter} && exec "$0" -c "$1"', sys.executable, probe], check=True)
        except RunError as error:
            self.skipTest(str(error))
        self.assertEqual(group.peak_bytes // 50_000_000, 1)

    def test_a_machine_without_control_groups(self):
        mounts = self.folder / "mounts"
        mounts.touch()
        with unittest.mock.patch.object(control_group, "_MOUNTS", mounts):
            with self.assertRaisesRegex(RunError, "no control group for memory"):
                with memory.limited("x", 1):
                    pass

    def test_processes_that_were_ended_are_counted(self):
        (self.folder / "memory.events").write_text("low 0\noom 3\noom_kill 2\n", "ascii")
        self.assertEqual(memory.Group(self.folder, 2).killed, 2)


class ProxyTest(FolderTest):
    def test_archives_of_the_lock_are_sent_for_the_whole_address(self):
        digest = hashlib.sha256(b"archive").hexdigest()
        (self.folder / digest).write_bytes(b"archive")
        lock = self.folder / "lock.json"
        lock.write_text(f'{{"groups": {{"g": {{"a": {{"path": "pool/a~1.deb", "sha256": "{digest}"}}}}}}}}', "utf-8")
        with proxy.serving(self.folder, lock) as server:
            opener = urllib.request.build_opener(urllib.request.ProxyHandler({"http": server.address}))
            with opener.open(f"{proxy.MIRROR}/pool/a%7E1.deb") as answer:
                self.assertEqual(answer.read(), b"archive")
            with self.assertRaises(urllib.error.HTTPError) as caught:
                opener.open(f"{proxy.MIRROR}/pool/b.deb")
            caught.exception.close()
            self.assertEqual((caught.exception.code, server.asked), (404, 1))


class TroubleTest(unittest.TestCase):
    def test_what_differs_is_named(self):
        for arguments, expected in (
            ((0, "a\ndone 1\n", 0), ""),
            ((1, "done 1\n", 0), "exit code 1, not 0"),
            ((0, "undone 1", 0), r"does not say '^done \\d$'"),
            ((0, "done 1\nTraceback", 0), "says 'Traceback'"),
            ((0, "done 1", 2), "2 processes ended for lack of memory"),
        ):
            self.assertEqual(try_hosts.trouble(RUN, *arguments), expected)

    def test_a_line_of_the_table(self):
        result = try_hosts.Result("other_apt", "nothing set", "", 2.4, 24_000_000)
        self.assertRegex(try_hosts.line(result), r"^other_apt +nothing set +ok +2 s +24 MB$")

    def test_an_unknown_host(self):
        said = io.StringIO()
        with contextlib.redirect_stderr(said), self.assertRaises(SystemExit):
            try_hosts.main(["--folder=/none", "--hosts=gentoo"])
        self.assertIn("gentoo is no stand-in; known: bare, old_glibc, without_apt, other_apt", said.getvalue())


if __name__ == "__main__":
    unittest.main()
