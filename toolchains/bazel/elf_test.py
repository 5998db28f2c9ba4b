import sys
import unittest

from toolchains.bazel import elf
from toolchains.bazel.testing import packages


class ElfTest(unittest.TestCase):
    def test_program(self):
        parsed = elf.parse(packages.elf_bytes(["libm.so.6", "libc.so.6"], interpreter="/lib/ld.so"), "x")
        self.assertEqual(parsed, elf.Elf("/lib/ld.so", ("libm.so.6", "libc.so.6"), None))

    def test_library(self):
        self.assertEqual(elf.parse(packages.elf_bytes(soname="libz.so.1"), "x"), elf.Elf(None, (), "libz.so.1"))

    def test_a_real_program(self):
        with open(sys.executable, "rb") as file:
            parsed = elf.parse(file.read(), sys.executable)
        self.assertIn("ld-linux-x86-64", parsed.interpreter or "")
        self.assertIn("libc.so.6", parsed.needed)

    def test_what_is_no_elf_file_is_named(self):
        with self.assertRaisesRegex(
            elf.ElfError, r"^foo: not an ELF file \(starts with b'#!/b'\); fetch its package again"
        ):
            elf.parse(b"#!/bin/sh\n", "foo")

    def test_other_machines_are_refused(self):
        with self.assertRaisesRegex(elf.ElfError, "foo: not a 64-bit little-endian ELF file"):
            elf.parse(b"\x7fELF\x01\x01" + bytes(60), "foo")

    def test_every_truncation_is_an_error_of_ours(self):
        whole = packages.elf_bytes(["libc.so.6"], soname="libx.so", interpreter="/lib/ld.so")
        for length in range(len(whole)):
            with (
                self.subTest(length=length),
                self.assertRaisesRegex(elf.ElfError, r"^foo: (truncated or damaged|not an? .*ELF file)"),
            ):
                elf.parse(whole[:length], "foo")


class MissingLibrariesTest(unittest.TestCase):
    LIBRARIES = {
        "liba.so": elf.Elf(None, ("libb.so", "libc.so.6"), None),
        "libb.so": elf.Elf(None, ("liba.so", "libgone.so"), None),
        "libc.so.6": elf.Elf(None, (), None),
    }

    def test_gap_behind_other_libraries_is_found_with_who_needs_it(self):
        root = {"bazel": elf.Elf("/lib/ld.so", ("liba.so", "libalso.so"), None)}
        self.assertEqual(
            elf.missing_libraries(root, self.LIBRARIES.get), {"libgone.so": "libb.so", "libalso.so": "bazel"}
        )

    def test_complete(self):
        self.assertEqual(elf.missing_libraries({"x": elf.Elf(None, ("libc.so.6",), None)}, self.LIBRARIES.get), {})


if __name__ == "__main__":
    unittest.main()
