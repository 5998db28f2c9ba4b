"""Tests of the package of pip's index that names Debian's mirror. pip is a fake that checks nothing."""

import hashlib
import json
import pathlib
import tempfile
import unittest
import unittest.mock
import zipfile

import lockfile
import mirror_package
import mirrors

SETTING = "export DIB_DISTRIBUTION_MIRROR=${DIB_DISTRIBUTION_MIRROR:-http://d.example/debian}\n"
#: It knows the arguments on which the rest relies: no dependency, no program of a package, the pinned digest.
PIP = """
import os, pathlib, shutil, sys
options = dict(word.partition("=")[::2] for word in sys.argv[1:])
for needed in ("download", "--no-deps", "--require-hashes", "--only-binary"):
    assert needed in options, needed
assert options["--only-binary"] == ":all:" and sys.flags.isolated
assert pathlib.Path(options["--requirement"]).read_text() == os.environ["EXPECTED"]
if not os.path.isdir(os.environ["PIP_FIND_LINKS"]):
    sys.exit("WARNING: x\\nERROR: no such index\\n")
shutil.copytree(os.environ["PIP_FIND_LINKS"], options["--dest"], dirs_exist_ok=True)
"""


class MirrorPackageTest(unittest.TestCase):
    def setUp(self):
        self.scratch = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.cache, self.served = self.scratch / "mlgo/archives", self.scratch / "served"
        self.served.mkdir()
        with zipfile.ZipFile(self.scratch / "pip-1.whl", "w") as wheel:
            wheel.writestr("pip/__main__.py", PIP)
        self.starts = [["-c", "import sys; sys.exit('No module named pip')"], [f"{self.scratch}/pip-1.whl/pip"]]
        self.said: list[str] = []
        self.enterContext(unittest.mock.patch.object(mirror_package.meter, "to_stderr", self.said.append))
        self.serve(SETTING)

    def serve(self, setting, member=mirror_package.MEMBER):
        """Makes the pinned wheel, which pip serves, one with this file."""
        with zipfile.ZipFile(self.served / "demo.whl", "w", zipfile.ZIP_DEFLATED) as wheel:
            wheel.writestr(member, setting)
        content = (self.served / "demo.whl").read_bytes()
        fields = {"name": "demo", "version": "1", "sha256": hashlib.sha256(content).hexdigest(), "path": "demo.whl"}
        self.pin = self.scratch / "pin.json"
        self.pin.write_text(json.dumps({**fields, "size": len(content)}), encoding="utf-8")
        self.package = mirror_package.load(self.pin)

    def bases(self):
        environ = {
            "XDG_CACHE_HOME": str(self.scratch),
            "PIP_FIND_LINKS": str(self.served),
            "EXPECTED": f"demo==1 --hash=sha256:{self.package.sha256}\n",
        }
        with unittest.mock.patch.object(mirror_package, "load", lambda: self.package):
            return mirror_package.bases(environ, self.starts)

    def refused(self, reason):
        with self.assertRaisesRegex(mirror_package.PackageError, reason):
            self.bases()
        self.assertEqual(self.said, [])

    def test_the_wheel_of_pip_serves_where_pip_is_not_installed_and_the_package_is_kept(self):
        self.assertEqual(self.bases(), ["http://d.example/debian"])
        self.starts = []
        self.assertEqual(self.bases(), ["http://d.example/debian"])
        line = "debian: no file of this machine names a Debian mirror; demo 1: http://d.example/debian"
        self.assertEqual(self.said, [line, line])
        self.assertEqual([path.name for path in self.cache.iterdir()], [self.package.sha256])

    def test_a_damaged_package_is_replaced(self):
        self.cache.mkdir(parents=True)
        (self.cache / self.package.sha256).write_bytes(b"damaged")
        self.assertEqual(self.bases(), ["http://d.example/debian"])

    def test_what_pip_says_and_no_pip(self):
        self.served = self.scratch / "none"
        self.refused("^pip: ERROR: no such index$")
        self.starts = self.starts[:1]
        self.refused("^pip: No module named pip$")
        self.starts = []
        self.refused("^pip: No module named pip$")

    def test_a_slow_index_is_given_up(self):
        self.starts = [["-c", "import time; time.sleep(60)"]]
        with unittest.mock.patch.object(mirror_package, "_SECONDS", 0.2):
            self.refused("no package within 0.2 s")

    def test_a_large_file_is_not_written(self):
        self.starts = [["-c", "import pathlib, sys; pathlib.Path(sys.argv[-1][14:]).write_bytes(bytes(100))"]]
        with unittest.mock.patch.object(mirror_package, "_LARGEST_BYTES", 50):
            self.refused("File too large")

    def test_only_the_pinned_bytes_are_read(self):
        (self.served / "demo.whl").write_bytes(b"other bytes")
        self.refused("demo.whl: .*sha256 [0-9a-f]{64}, the lock says")
        (self.served / "demo.whl").unlink()
        self.refused("it wrote no demo.whl")
        self.assertEqual(list(self.cache.iterdir()), [])

    def test_addresses_of_another_form_are_not_taken(self):
        for address in (
            "gopher://d.example/debian",
            "http://d.example/ubuntu",
            "http://u:p@d/debian",
            "http://d/x/debian",
        ):
            with self.subTest(address):
                self.serve(SETTING.replace("http://d.example/debian", address))
                self.refused("names no address of the form http://HOST/debian")
        self.serve(" " * (1 << 16) + SETTING)
        self.refused("names no address")
        self.serve(SETTING, "another/file")
        self.refused("cannot be read as a wheel with diskimage_builder/")

    def test_a_cache_that_cannot_be_written(self):
        (self.scratch / "mlgo").write_text("", encoding="utf-8")
        self.refused("mlgo/archives: Not a directory")

    def test_the_pin(self):
        self.assertEqual(mirror_package.load().path.split("-")[1], mirror_package.load().version)
        self.pin.write_text("[]", encoding="utf-8")
        with self.assertRaisesRegex(lockfile.LockError, "pin.json: cannot be read .* restore it from git"):
            mirror_package.load(self.pin)

    def test_pip_is_looked_for_where_ensurepip_has_its_wheel(self):
        folders = {"WHEEL_PKG_DIR": str(self.scratch)}
        with unittest.mock.patch.object(mirror_package.sysconfig, "get_config_var", folders.get):
            starts = mirror_package.pip_starts()
        self.assertEqual(starts[:2], [["-m", "pip"], [f"{self.scratch}/pip-1.whl/pip"]])

    def test_mirrors_tell_why_there_is_none(self):
        failing = unittest.mock.patch.object(
            mirror_package, "bases", side_effect=mirror_package.PackageError("pip: none")
        )
        with failing, self.assertRaisesRegex(mirrors.MirrorError, r"does cannot be had \(pip: none\)\. Give"):
            mirrors.find_mirrors({}, "/absent", "/absent")


if __name__ == "__main__":
    unittest.main()
