import os
import pathlib
import re
import tempfile
import unittest
import unittest.mock

from toolchains.bazel import host
from toolchains.bazel.errors import LauncherError

WORKSPACE = pathlib.Path(os.path.abspath(__file__)).parents[2]
LINUX = ("Linux", "x86_64")


class LackingTest(unittest.TestCase):
    def setUp(self):
        self.bin = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        for name in host.PROGRAMS:
            program = self.bin / name
            program.write_text("")
            program.chmod(0o755)

    def test_a_machine_that_has_all(self):
        self.assertEqual(host.lacking(str(self.bin), LINUX), [])
        host.check({"PATH": str(self.bin)}, LINUX)

    def test_everything_that_is_missing_is_named_at_once_with_its_packages(self):
        for name in ("cmp", "git", "awk"):
            (self.bin / name).unlink()
        with self.assertRaises(LauncherError) as caught:
            host.check({"PATH": str(self.bin)}, LINUX)
        self.assertEqual(
            str(caught.exception),
            "this machine: lacks awk, cmp, git. Install programs with the machine's package manager (on Debian and "
            "Ubuntu: apt-get install diffutils git mawk) and run the same command again.",
        )

    def test_a_python_without_parts_of_its_library(self):
        found = host.lacking(str(self.bin), LINUX, lambda name: name not in ("lzma", "ssl"))
        self.assertEqual(found, ["python3's module lzma", "python3's module ssl"])

    def test_other_machines(self):
        with self.assertRaisesRegex(
            LauncherError, r"lacks Linux on x86-64 \(this is Darwin on arm64\)\. Use such a machine or one"
        ):
            host.check({"PATH": str(self.bin)}, ("Darwin", "arm64"))
        with self.assertRaises(LauncherError) as caught:
            host.check({"PATH": str(self.bin)}, ("Linux", "aarch64"))
        self.assertEqual(
            str(caught.exception),
            "this machine: lacks Linux on x86-64 (this is Linux on aarch64). Use such a machine or one that is "
            "emulated (a container of linux/amd64, such as Debian 12) and run the same command again.",
        )

    def test_a_c_library_that_programs_cannot_use(self):
        def found(libc, loader):
            return host.lacking(str(self.bin), LINUX, libc=libc, loader=loader)

        self.assertEqual(found("2.36", "/"), [])
        self.assertEqual(found("2.43", "/"), [])
        self.assertEqual(found("2.31", "/"), ["glibc 2.36 or newer (this is 2.31)"])
        self.assertEqual(found("", "/"), ["glibc 2.36 or newer (this is another C library)"])
        self.assertEqual(found("2.40", "/none/ld.so"), ["glibc's loader /none/ld.so"])
        with unittest.mock.patch.object(os, "confstr", side_effect=ValueError("unrecognized configuration name")):
            self.assertEqual(host.glibc(), "")
        with unittest.mock.patch.object(os, "confstr", lambda name: "glibc 2.31"):
            (self.bin / "git").unlink()
            with self.assertRaisesRegex(
                LauncherError,
                r"lacks glibc 2\.36 or newer \(this is 2\.31\), git\. Use a newer .* and install programs .*git\) and",
            ):
                host.check({"PATH": str(self.bin)}, LINUX)

    def test_bazelw_names_the_same_programs_when_python3_is_missing(self):
        (listed,) = re.findall(r"for program in ([a-z ]+); do", (WORKSPACE / "bazelw").read_text())
        self.assertEqual(listed.split(), sorted(host.PROGRAMS))


class CertificatesTest(unittest.TestCase):
    def test_the_users_file_otherwise_the_first_that_the_system_has(self):
        with tempfile.TemporaryDirectory() as scratch:
            known = [f"{scratch}/none.crt", f"{scratch}/fedora.crt", f"{scratch}/other.crt"]
            for name in known[1:]:
                pathlib.Path(name).touch()
            self.assertEqual(host.certificates({}, known), known[1])
            self.assertEqual(host.certificates({"SSL_CERT_FILE": known[2]}, known), known[2])
            self.assertIsNone(host.certificates({"SSL_CERT_FILE": known[0]}, known))
            self.assertIsNone(host.certificates({}, known[:1]))


class CacheFolderTest(unittest.TestCase):
    def setUp(self):
        self.scratch = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def test_below_home_or_where_the_variable_says(self):
        self.assertEqual(host.cache_folder({}, str(self.scratch)), f"{self.scratch}/.cache")
        self.assertEqual(host.cache_folder({"XDG_CACHE_HOME": f"{self.scratch}/c"}, "~"), f"{self.scratch}/c")

    def test_no_home(self):
        with self.assertRaisesRegex(LauncherError, "HOME: is not set and .*Set HOME or XDG_CACHE_HOME"):
            host.cache_folder({}, "~")

    def test_a_home_that_is_a_file(self):
        (self.scratch / "home").write_text("")
        with self.assertRaisesRegex(
            LauncherError, r"cannot be written \(\S+/home is no directory\). Set XDG_CACHE_HOME"
        ):
            host.cache_folder({}, str(self.scratch / "home"))

    def test_a_home_that_cannot_be_written(self):
        # Root may write everywhere, so that permissions cannot stand in for a read-only file system.
        with unittest.mock.patch.object(os, "access", lambda path, mode: path != str(self.scratch)):
            with self.assertRaisesRegex(
                LauncherError, r"cannot be written \(read-only or another user's\). Set XDG_CAC"
            ):
                host.cache_folder({}, str(self.scratch))


if __name__ == "__main__":
    unittest.main()
