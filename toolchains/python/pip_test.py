"""Tests of how pip is called and of what is said when it fails."""

import pathlib
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

from toolchains.python import bounds, install, lock, pip, requirements

NO_VERSION = """WARNING: something
ERROR: Could not find a version that satisfies the requirement demo==1 (from versions: none)
ERROR: No matching distribution found for demo==1
"""


class MessagesTest(unittest.TestCase):
    def test_reason_is_what_pip_calls_an_error(self):
        self.assertEqual(
            pip.reason(NO_VERSION),
            "Could not find a version that satisfies the requirement demo==1 "
            "(from versions: none) No matching distribution found for demo==1",
        )
        self.assertEqual(pip.reason("a\nlast line\n\n"), "last line")
        self.assertEqual(
            pip.reason("ERROR: Exception:\nTraceback (most recent call last):\n  File x\nOSError: no certificates\n"),
            "OSError: no certificates",
        )
        self.assertEqual(pip.reason(""), "it printed nothing")

    def test_remedies(self):
        self.assertIn("PIP_INDEX_URL", pip.remedy(NO_VERSION))
        self.assertIn("another file than the pinned one", pip.remedy("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES"))
        self.assertIn("free space", pip.remedy("OSError: [Errno 28] No space left on device"))
        self.assertIn("check the network", pip.remedy("connection reset"))
        self.assertIn(
            "more than 2 GB for one archive",
            pip.remedy("ProtocolError: (\"Connection broken: OSError(27, 'File too large')\")"),
        )
        self.assertIn(
            "check the network", pip.remedy("WARNING: Retrying after connection broken by 'x'\n" + NO_VERSION)
        )


class RunTest(unittest.TestCase):
    def test_pip_that_receives_nothing_is_one_sentence(self):
        stalled = unittest.mock.patch.object(
            bounds, "run", side_effect=bounds.StalledError("less than 600 kB arrived in 300 s")
        )
        with stalled, unittest.mock.patch.object(pip, "environment", lambda *_: {}):
            with self.assertRaisesRegex(pip.PipError, "^r.txt: pip download: less than 600 kB .*; check the network"):
                pip.run(["download"], "r.txt")


class EnvironmentTest(unittest.TestCase):
    def test_the_machines_configuration_passes_and_other_pythons_do_not(self):
        with tempfile.TemporaryDirectory() as scratch:
            interpreter = pathlib.Path(scratch, "usr", "bin", "python3.11")
            directory = pip.wheel_directory(interpreter)
            directory.mkdir(parents=True)
            for name in ("pip-23-py3-none-any.whl", "setuptools-66-py3-none-any.whl"):
                (directory / name).touch()
            made = pip.environment(
                interpreter, {"PIP_INDEX_URL": "i", "PYTHONHOME": "/elsewhere", "PYTHONPATH": "/elsewhere"}
            )
        self.assertEqual(made["PIP_INDEX_URL"], "i")
        self.assertNotIn("PYTHONHOME", made)
        self.assertEqual([pathlib.Path(p).name[:4] for p in made["PYTHONPATH"].split(":")], ["pip-", "setu"])

    def test_without_wheels(self):
        with self.assertRaisesRegex(pip.PipError, "holds 0 of the wheels .* needs the packages python3-pip-whl"):
            pip.environment(pathlib.Path("usr/bin/python3.11"), {})


class StartTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.bundle = self.folder / "ca.crt"
        self.bundle.touch()

    def test_pip_is_started_as_it_is_where_debian_has_its_certificates(self):
        self.assertEqual(pip.start({}, str(self.bundle)), ["-m", "pip"])
        self.assertEqual(pip.start({"SSL_CERT_FILE": "/none"}, "/none"), ["-m", "pip"])

    def test_pip_gets_the_certificates_of_another_system(self):
        vendor = self.folder / "pip" / "_vendor"
        vendor.mkdir(parents=True)
        (vendor / "certifi.py").write_text("def where(): return '/none'\n")
        (vendor / "requests.py").write_text("from pip._vendor.certifi import where\nwanted = where()\n")
        (vendor.parent / "__main__.py").write_text(
            "import sys\nfrom pip._vendor import requests\nprint(__name__, requests.wanted, *sys.argv[1:])\n"
        )
        started = pip.start({"SSL_CERT_FILE": str(self.bundle)}, "/none")
        done = subprocess.run(
            [sys.executable, "-S", *started, "download", "x"],
            env={"PYTHONPATH": str(self.folder)},
            capture_output=True,
            text=True,
        )
        self.assertEqual((done.stdout, done.stderr), (f"__main__ {self.bundle} download x\n", ""))


class ArgumentsTest(unittest.TestCase):
    request = requirements.parse_request("demo\nold==1  # no-deps, source: reason\n", "r.in")

    def test_download_checks_digests_and_builds_nothing(self):
        arguments = install.download_arguments(self.request, pathlib.Path("lock"), pathlib.Path("to"))
        self.assertLessEqual(
            {"--require-hashes", "--no-deps", "--only-binary=:all:", "--no-binary=old"}, set(arguments)
        )

    def test_resolution_installs_nothing(self):
        paths = pathlib.Path("wanted"), pathlib.Path("constraints"), pathlib.Path("report")
        with_dependencies = lock.report_arguments(True, [], *paths)
        self.assertIn("--dry-run", with_dependencies)
        self.assertNotIn("--no-deps", with_dependencies)
        self.assertIn("--no-deps", lock.report_arguments(False, ["old"], *paths))

    def test_resolution_for_another_python(self):
        paths = pathlib.Path("wanted"), pathlib.Path("constraints"), pathlib.Path("scratch/report")
        arguments = lock.report_arguments(True, [], *paths, python="3.13")
        self.assertLessEqual({"--dry-run", "--python-version=3.13", "--target=scratch/target"}, set(arguments))


if __name__ == "__main__":
    unittest.main()
