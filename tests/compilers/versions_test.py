"""Every major of versions.json is pinned: packages, libraries, source and the table of options, of the same version."""

import json
import unittest

from mlgo.run.locate import runfile


def _json(path: str) -> dict:
    return json.loads(runfile(path).read_text(encoding="utf-8"))


class VersionsTest(unittest.TestCase):
    def setUp(self):
        self.file = _json("third_party/llvm/versions.json")
        self.lock = _json("third_party/debian/lock.json")

    def test_packages_are_of_the_version(self):
        for major, version in self.file["versions"].items():
            packages = self.lock["packages"]["bookworm"] | self.lock["packages"].get(version.get("suite", ""), {})
            for name in (f"clang-{major}", f"llvm-{major}-dev", f"libclang-{major}-dev", f"liblld-{major}-dev"):
                pinned = packages[name]["version"]
                self.assertEqual(pinned.partition(":")[2].partition("-")[0], version["version"], name)
            libraries = {entry["version"] for entry in self.lock["groups"][f"llvm{major}_libraries"].values()}
            self.assertIn(packages[f"clang-{major}"]["version"], libraries)

    def test_sources_are_of_the_same_release_branch(self):
        for major, version in self.file["versions"].items():
            pinned = self.lock["sources"][f"llvm-toolchain-{major}"]["version"]
            self.assertEqual(pinned.split(".")[:2], version["version"].split(".")[:2])

    def test_options_are_of_the_major(self):
        for major in self.file["versions"]:
            self.assertEqual(_json(f"mlgo/corpus/options/llvm{major}.json")["major"], int(major))

    def test_packages_of_a_newer_debian_are_bound_to_an_older_glibc(self):
        for major, version in self.file["versions"].items():
            self.assertEqual("suite" in version, version.get("older_glibc", False), major)


if __name__ == "__main__":
    unittest.main()
