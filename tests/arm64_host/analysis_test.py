"""//release:clang and //development:clang can be analysed for an arm64 host, from its own packages, whose programs run.

analysis_test EMULATOR SOURCE    of AArch64; a C++ program
"""

import json
import os
import pathlib
import struct
import subprocess
import sys
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
    emulator: pathlib.Path
    source: pathlib.Path

    @classmethod
    def setUpClass(cls):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="arm64.", dir=os.environ["TEST_TMPDIR"])).resolve()
        cls.addClassCleanup(nested.remove, folder)
        cls.folder = folder
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

    def repository(self, name):
        """The folder of a repository."""
        found = [path for path in (self.bazel.base / "external").iterdir() if path.name.endswith(name)]
        self.assertEqual(len(found), 1, name)
        return found[0]

    def emulated(self, *command):
        """What a program of the trees prints, with the sysroot's C library."""
        return subprocess.run(
            [self.emulator, "-L", self.repository("~sysroot"), *command], capture_output=True, text=True, check=True
        ).stdout

    def test_clang_compiles_under_emulation(self):
        llvm, sysroot = self.repository("~llvm22") / "usr/lib/llvm-22", self.repository("~sysroot")
        made = self.folder / "hello.o"
        self.emulated(
            llvm / "bin/clang",
            f"--sysroot={sysroot}",
            f"--gcc-install-dir={sysroot}/usr/lib/gcc/aarch64-linux-gnu/12",
            f"-resource-dir={llvm}/lib/clang/22",
            *("--no-default-config", "-std=c++17", "-c", "-o", made, self.source),
        )
        self.assertEqual(elf_machine(made), AARCH64)

    def test_tensorflow_computes_under_emulation(self):
        program = "import tensorflow as tf; print(tf.nn.relu(tf.constant([-1.0, 2.0])).numpy().tolist())"
        said = self.emulated(
            *("-E", f"PYTHONPATH={self.repository('~python~pip')}/site"),
            *(self.repository("~python311") / "usr/bin/python3.11", "-c", program),
        )
        self.assertEqual(said.strip(), "[0.0, 2.0]")


if __name__ == "__main__":
    AnalysisTest.emulator, AnalysisTest.source = (pathlib.Path(name).absolute() for name in sys.argv[1:])
    unittest.main(argv=sys.argv[:1])
