"""Tests of the locks and sites of another architecture."""

import json
import pathlib
import unittest
import unittest.mock

from toolchains.python import install, lock, pip, requirements, wheel_tags

DIGEST, OTHER = "0" * 64, "1" * 64
REQUEST = """# on arm64: tensorflow in place of tensorflow-cpu, which has no aarch64 wheels
tensorflow-cpu==2.19.1
gym==0.23.0  # no-deps, source: unpacked
numpy
"""


def pin(name, version, digest=DIGEST):
    return requirements.Pin(name, version, (digest,))


class OptionsTest(unittest.TestCase):
    def test_wheels_for_debian_12_are_accepted_and_newer_ones_are_not(self):
        options = wheel_tags.pip_options("arm64")
        self.assertEqual(options[0], "--platform=manylinux_2_36_aarch64")
        self.assertIn("--platform=manylinux2014_aarch64", options)
        self.assertNotIn("--platform=manylinux_2_37_aarch64", options)
        self.assertLessEqual({"--abi=cp311", "--abi=abi3", "--abi=none"}, set(options))

    def test_an_architecture_without_a_lock(self):
        with self.assertRaisesRegex(
            wheel_tags.ArchitectureError, "--architecture=vax: has no lock; choose one of arm64"
        ):
            wheel_tags.pip_options("vax")

    def test_only_another_architecture_restricts_a_download(self):
        request = requirements.parse_request(REQUEST, "r.in")
        paths = pathlib.Path("lock.txt"), pathlib.Path("dest")
        of_machine = install.download_arguments(request, *paths)
        self.assertEqual([word for word in of_machine if word.startswith("--platform")], [])
        self.assertIn("--platform=manylinux_2_17_aarch64", install.download_arguments(request, *paths, "arm64"))

    def test_a_site_names_the_folder_of_its_architectures_libraries(self):
        self.assertEqual(install.started_on("../lib/{multiarch}/a", ""), "../lib/x86_64-linux-gnu/a")
        self.assertEqual(install.started_on("../lib/{multiarch}/a", "arm64"), "../lib/aarch64-linux-gnu/a")


class PinsTest(unittest.TestCase):
    def pins_for(self, pinned, report=()):
        request = requirements.parse_request(REQUEST, "r.in")
        asked = []

        def run(arguments, what):
            options = dict(word.partition("=")[::2] for word in arguments)
            asked.extend(pathlib.Path(options["--requirement"]).read_text(encoding="utf-8").split())
            self.assertIn("--no-deps", arguments)
            self.assertIn("--platform=manylinux_2_17_aarch64", arguments)
            install_rows = [
                {
                    "metadata": {"name": found.name, "version": found.version},
                    "download_info": {"archive_info": {"hashes": {"sha256": found.sha256[0]}}},
                }
                for found in report
            ]
            pathlib.Path(options["--report"]).write_text(json.dumps({"install": install_rows}), encoding="utf-8")

        pins = {
            name: pin(name, version)
            for name, version in (("tensorflow-cpu", "2.19.1"), ("gym", "0.23.0"), ("numpy", "2"))
        }
        with unittest.mock.patch.object(pip, "run", run):
            return lock.pins_for("arm64", request, "r.in", pins, pinned), asked

    def test_the_same_versions_are_asked_for_and_a_project_without_wheels_is_replaced(self):
        found, asked = self.pins_for({}, [pin("tensorflow", "2.19.1", OTHER), pin("numpy", "2", OTHER)])
        self.assertEqual(asked, ["tensorflow==2.19.1", "numpy==2"])
        self.assertEqual(
            found,
            {
                # A source archive is the same on every architecture.
                "gym": pin("gym", "0.23.0"),
                "numpy": pin("numpy", "2", OTHER),
                "tensorflow": pin("tensorflow", "2.19.1", OTHER),
            },
        )

    def test_what_is_pinned_in_the_same_version_stays(self):
        pinned = {"tensorflow": pin("tensorflow", "2.19.1", OTHER), "numpy": pin("numpy", "1", OTHER)}
        found, asked = self.pins_for(pinned, [pin("numpy", "2", OTHER)])
        self.assertEqual(asked, ["numpy==2"])
        self.assertEqual(found["tensorflow"], pinned["tensorflow"])


if __name__ == "__main__":
    unittest.main()
