"""Files of the workspace hold no absolute path of a machine and name none of this machine's package mirrors."""

import os
import pathlib
import re
import unittest

import mirrors

from tests.clones import clone

# Folders of checkouts and homes; system folders such as /usr or /etc mean the same on every machine.
MACHINE_PATH = re.compile(rb"(?:(?<![\w.$}/*-])|(?<=-[ILB]))/(work|root|home/[a-z]\w*|tmp/\w+|Users/\w+|mnt/\w+)/[\w.]")
HOST = re.compile(r"://(?:[^@/]*@)?([^/:\s]+)")


def configured_hosts() -> set:
    """Hosts this machine gets packages from: its apt sources and its pip configuration."""
    hosts = {match.group(1) for source in mirrors.apt_sources() for match in [HOST.search(source.uri)] if match}
    texts = [value for name, value in os.environ.items() if name.startswith("PIP_")]
    for path in ("/etc/pip.conf", os.path.expanduser("~/.config/pip/pip.conf"), os.path.expanduser("~/.pip/pip.conf")):
        if os.path.isfile(path):
            texts.append(pathlib.Path(path).read_text(encoding="utf-8", errors="replace"))
    return hosts | {host for text in texts for host in HOST.findall(text)}


class TrackedFilesTest(unittest.TestCase):
    def setUp(self):
        self.root = clone.root()
        self.files = [path for path in clone.files(self.root) if not path.is_symlink()]
        self.assertGreater(len(self.files), 50, f"only {len(self.files)} files below {self.root}")

    def test_the_pattern_finds_machine_paths(self):
        for text in (b'"/work/x/y"', b"=/home/someone/x", b"-I/tmp/build/x", b"(/root/.cache)"):
            self.assertRegex(text, MACHINE_PATH)
        for text in (
            b"../work/x",
            b"$HOME/work/x",
            b"usr/share/root/x",
            b"/etc/apt/sources",
            b"//tmp/x:y",
            b"{dir}/tmp/x",
        ):
            self.assertNotRegex(text, MACHINE_PATH)

    def test_no_path_of_a_machine(self):
        found = [
            f"{path.relative_to(self.root)}:{number}: {line.strip()[:120]!r}"
            for path in self.files
            if path.resolve() != pathlib.Path(os.path.realpath(__file__))
            for number, line in enumerate(path.read_bytes().split(b"\n"), 1)
            if MACHINE_PATH.search(line)
        ]
        self.assertEqual(found, [])

    def test_no_mirror_of_this_machine(self):
        hosts = configured_hosts()
        if not hosts:
            self.skipTest("this machine's apt and pip configuration names no host")
        found = [
            f"{path.relative_to(self.root)} names a host of this machine's package configuration"
            for path in self.files
            if any(host.encode() in path.read_bytes() for host in hosts)
        ]
        self.assertEqual(found, [])


if __name__ == "__main__":
    unittest.main()
