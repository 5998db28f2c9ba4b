"""What the toolchain makes comes from the fetched compiler and sysroot alone and names no place of this machine.

Arguments: the program to look at, its list of included files (-M), and llvm-readelf.
"""

import os
import pathlib
import re
import subprocess
import sys
import unittest

# The startup files in the sysroot are the only objects that another compiler made: Debian's GCC 12 of that sysroot.
MADE_BY = (
    r"Debian clang version 22\.1\.8 .*",
    r"Linker: Debian LLD 22\.1\.8",
    r"GCC: \(Debian 12\.2\.0-\d+(\+deb12u\d+)?\) 12\.2\.0",
)
NEEDED = {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2"}


class HermeticTest(unittest.TestCase):
    program: pathlib.Path
    dependencies: pathlib.Path
    readelf: pathlib.Path

    def _read(self, *flags: str) -> str:
        return subprocess.run([self.readelf, *flags, self.program], capture_output=True, text=True, check=True).stdout

    def test_only_our_compiler_made_it(self):
        makers = re.findall(r"^\[ *[0-9a-f]+\] *(.+)$", self._read("-p", ".comment"), re.MULTILINE)
        self.assertTrue(any("clang" in maker for maker in makers), makers)
        for maker in makers:
            self.assertTrue(any(re.fullmatch(pattern, maker) for pattern in MADE_BY), maker)

    def test_it_needs_only_glibc(self):
        needed = set(re.findall(r"\(NEEDED\).*\[(.+)\]", self._read("-d")))
        self.assertIn("libc.so.6", needed)
        self.assertLessEqual(needed, NEEDED)

    def test_it_has_a_build_id(self):
        self.assertRegex(self._read("-n"), r"Build ID: [0-9a-f]{40}\b")

    def test_every_header_is_an_input(self):
        files = self.dependencies.read_text(encoding="utf-8").replace("\\\n", " ").split()[1:]
        self.assertGreater(len(files), 50)
        for name in files:
            self.assertFalse(os.path.isabs(name), name)
            self.assertFalse(os.path.normpath(name).startswith(".."), name)

    def test_it_names_no_place_of_this_machine(self):
        content = self.program.read_bytes()
        for place in (
            os.environ["TEST_SRCDIR"].split("/execroot/")[0],
            "/execroot/",
            "/sandbox/",
            "/usr/include",
            "/.cache/",
        ):
            self.assertEqual(content.find(place.encode()), -1, f"{place} stands at this offset of the program")


if __name__ == "__main__":
    arguments = [pathlib.Path(argument) for argument in sys.argv[1:4]]
    HermeticTest.program, HermeticTest.dependencies, HermeticTest.readelf = arguments
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
