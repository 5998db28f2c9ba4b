"""The root of the build environment contains all that ./bazelw and the build need; the Containerfile adds nothing."""

import pathlib
import re
import tempfile
import unittest

from mlgo.run.locate import runfile
from release.packaging.testing import machine
from toolchains.bazel import elf

LIBRARIES = ("usr/lib/x86_64-linux-gnu", "usr/lib64")
# Programs that bazelw, its launcher and Bazel's actions start, and common shell commands.
PROGRAMS = (
    "apt-get",
    "awk",
    "bash",
    "cat",
    "cmp",
    "dirname",
    "env",
    "find",
    "git",
    "grep",
    "gzip",
    "mktemp",
    "python3",
    "readlink",
    "sed",
    "sh",
    "tar",
)
# Standard-library modules of the downloader and the launcher that need more than libc.
IMPORTS = "import bz2, ctypes, gzip, hashlib, lzma, ssl, urllib.request, zlib"


class BuildContextTest(unittest.TestCase):
    root: pathlib.Path

    @classmethod
    def setUpClass(cls):
        cls.root = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        machine.unpack(runfile("release/packaging/build_context/build_root.tar.gz"), cls.root)

    def inside(self, path):
        """A path of the root, its links followed within the root."""
        for _ in range(10):
            path = self.root / path
            if not path.is_symlink():
                return path
            target = path.readlink()
            path = str(target).lstrip("/") if target.is_absolute() else path.parent.relative_to(self.root) / target
        raise AssertionError(f"{path}: links without end")

    def test_programs_are_there(self):
        for program in PROGRAMS:
            path = self.inside(f"usr/bin/{program}")
            self.assertTrue(path.is_file() and path.stat().st_mode & 0o111, program)

    def test_every_shared_library_is_there(self):
        def parsed(path):
            return elf.parse(path.read_bytes(), path.name)

        def find(name):
            for folder in LIBRARIES:
                path = self.inside(f"{folder}/{name}")
                if path.is_file():
                    return parsed(path)
            return None

        roots = {}
        for path in sorted((self.root / "usr/bin").iterdir()):
            if path.is_file() and not path.is_symlink() and elf.is_elf(path.read_bytes()[:4]):
                roots[path.name] = parsed(path)
        self.assertGreater(len(roots), 100)
        self.assertEqual(elf.missing_libraries(roots, find), {})

    def test_certificates(self):
        bundle = (self.root / "etc/ssl/certs/ca-certificates.crt").read_text()
        self.assertGreater(bundle.count("-----BEGIN CERTIFICATE-----"), 100)

    def test_containerfile_installs_nothing_and_leaves_root(self):
        text = runfile("release/packaging/build_context/Containerfile").read_text()
        steps = [line.split(maxsplit=1) for line in text.splitlines() if line and not line.startswith("#")]
        self.assertEqual([word for word, _ in steps], ["FROM", "ADD", "ENV", "USER", "WORKDIR", "CMD"])
        values = dict(steps)
        self.assertEqual((values["FROM"], values["ADD"]), ("scratch", "build_root.tar.gz /"))
        user, group = values["USER"].split(":")
        variable = re.search(r"HOME=(\S+)", values["ENV"])
        assert variable, values
        home = variable[1]
        self.assertIn(f"builder:x:{user}:{group}:builder:{home}:/bin/bash\n", (self.root / "etc/passwd").read_text())
        self.assertTrue((self.root / home.lstrip("/")).is_dir())
        self.assertTrue((self.root / values["WORKDIR"].lstrip("/")).is_dir())

    def test_its_programs_run(self):
        entered, how = machine.enter(self.root)
        if entered is None:
            self.skipTest(f"chroot and user namespaces are unavailable on this machine ({how})")
        # A container has devices; this root has none, and git opens /dev/null first.
        (self.root / "dev/null").touch()
        self.assertEqual(
            entered.run(["/usr/bin/python3", "-I", "-S", "-B", "-c", IMPORTS + "; print(ssl.OPENSSL_VERSION[:7])"]),
            "OpenSSL\n",
        )
        self.assertIn("git version", entered.run(["/usr/bin/git", "--version"]))
        self.assertIn(
            "SHA256",
            entered.run(
                ["/bin/sh", "-c", "PATH=/usr/bin; apt-get --version >/dev/null && echo SHA256 | awk '{print $1}'"]
            ),
        )


if __name__ == "__main__":
    unittest.main()
