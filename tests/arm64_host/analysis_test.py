"""//release:clang and //development:clang can be analysed for an arm64 host, from its own packages."""

import json
import os
import pathlib
import struct
import tempfile
import unittest

from tests.clones import clone, nested

CONFIG = "--config=arm64_host"
TARGETS = ("//release:clang", "//development:clang")
#: e_machine of ELF files (elf.h): EM_AARCH64, EM_X86_64.
AARCH64, X86_64 = 183, 62
#: The one tree that runs here, in repository rules.
OF_MACHINE = "python311_packages_of_machine"


def elf_machine(path):
    """e_machine of an ELF file, or None for any other file."""
    with open(path, "rb") as file:
        header = file.read(20)
    return struct.unpack("<H", header[18:20])[0] if header[:4] == b"\x7fELF" else None


class AnalysisTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="arm64.", dir=os.environ["TEST_TMPDIR"])).resolve()
        cls.addClassCleanup(nested.remove, folder)
        root = clone.root()
        cls.bazel = nested.NestedBazel(root / "bazelw", root, folder / "base")
        cls.addClassCleanup(cls.bazel.end)
        cls.bazel.run("build", CONFIG, "--nobuild", *TARGETS)

    def test_every_compile_and_link_is_for_aarch64(self):
        deps = " + ".join(f"deps({target})" for target in TARGETS)
        said = self.bazel.run("aquery", CONFIG, "--output=jsonproto", f'mnemonic("CppCompile|CppLink", {deps})')
        actions = json.loads(said)["actions"]
        self.assertGreater(len(actions), 200)
        for action in actions:
            self.assertIn("--target=aarch64-linux-gnu", action["arguments"])
            self.assertEqual([word for word in action["arguments"] if "x86_64" in word or "x86-64" in word], [])

    def test_every_program_and_library_is_the_hosts(self):
        external = self.bazel.base / "external"
        found = {}
        for path in external.rglob("*"):
            if path.is_file() and not path.is_symlink():
                machine = elf_machine(path)
                if machine:
                    repository = path.relative_to(external).parts[0]
                    found.setdefault(repository, set()).add(machine)
        of_machine = [name for name in found if name.endswith(OF_MACHINE)]
        self.assertEqual([found.pop(name) for name in of_machine], [{X86_64}])
        self.assertGreaterEqual(len(found), 4)
        # Bazel's own tools are those of the Bazel that runs.
        own = {name: machines for name, machines in found.items() if name.startswith(("_main", "+"))}
        self.assertEqual(set().union(*own.values()), {AARCH64}, own)


if __name__ == "__main__":
    unittest.main()
