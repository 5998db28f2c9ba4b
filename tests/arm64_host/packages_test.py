"""The repositories of an arm64 host consist of its packages, and its toolchains are for it. Nothing is downloaded."""

import json
import os
import pathlib
import re
import tempfile
import unittest

from tests.clones import clone, nested

CONFIG = "--config=arm64_host"
INVENTORY = "@debian_inventory//:inventory.json"
#: Toolchain -> the processor that it compiles for or runs on.
TOOLCHAINS = {
    "//toolchains/cc:clang_toolchain": "aarch64",
    "//toolchains/cc:llvm_toolchain": "aarch64",
    "//toolchains/cc:riscv64_toolchain": "riscv64",
    "//toolchains/python:runtime_toolchain": "aarch64",
}
OTHER_ARCHITECTURE = re.compile(r"_(?!arm64|all)[a-z0-9]+\.deb$")


class PackagesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="arm64.", dir=os.environ["TEST_TMPDIR"])).resolve()
        cls.addClassCleanup(nested.remove, folder)
        root = clone.root()
        cls.bazel = nested.NestedBazel(root / "bazelw", root, folder / "base")
        cls.addClassCleanup(cls.bazel.end)

    def inventory(self, *options):
        """Repository -> paths of its archives."""
        self.bazel.run("build", *options, INVENTORY)
        place = self.bazel.run("cquery", *options, "--output=files", INVENTORY).strip()
        root = pathlib.Path(self.bazel.run("info", *options, "execution_root").strip())
        content = json.loads((root / place).read_text(encoding="utf-8"))
        return {
            name: {entry["name"]: entry["path"] for entry in repository["entries"]}
            for name, repository in content["repositories"].items()
        }

    def test_the_packages_of_every_repository(self):
        arm64 = self.inventory(CONFIG)
        for name, archives in arm64.items():
            for path in archives.values():
                self.assertNotRegex(path, OTHER_ARCHITECTURE, name)
        self.assertTrue(arm64["llvm22"]["clang-22"].endswith("_arm64.deb"))
        self.assertIn("binutils-aarch64-linux-gnu", arm64["compiler_root_debs"])
        amd64 = self.inventory()
        self.assertEqual(list(arm64), list(amd64))
        self.assertTrue(amd64["llvm22"]["clang-22"].endswith("_amd64.deb"))
        sources = [name for name, archives in amd64.items() if any(".orig." in path for path in archives.values())]
        self.assertIn("llvm_source", sources)
        for name in sources:
            self.assertEqual(arm64[name], amd64[name])

    def test_toolchains_run_on_the_host_and_compile_for_it_and_others(self):
        for toolchain, processor in TOOLCHAINS.items():
            said = self.bazel.run("cquery", CONFIG, "--output=build", toolchain)
            constraints = dict(re.findall(r"^  (\w+_compatible_with) = \[(.*)\],$", said, re.MULTILINE))
            with self.subTest(toolchain):
                self.assertRegex(constraints["exec_compatible_with"], r"platforms//cpu:aarch64\b")
                self.assertRegex(constraints["target_compatible_with"], rf"platforms//cpu:{processor}\b")


if __name__ == "__main__":
    unittest.main()
