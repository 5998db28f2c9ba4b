"""A compiler is its file and every library that it loads."""

import os
import struct
import unittest
import unittest.mock

from mlgo.identity import programs
from mlgo.identity.testing.made_up_program import program
from mlgo.run.exit_codes import RunError
from mlgo.run.manifest import digest_of_file
from mlgo.run.testing.folder_case import FolderCase


class ProgramsTest(FolderCase):
    def setUp(self):
        super().setUp()
        (self.folder / "lib").mkdir()
        self.clang = self.write("bin/clang", program(["libLLVM.so.22", "libc.so.6"], "$ORIGIN/../lib"))

    def write(self, name, content, mode=0o755):
        return self.file(name, content, mode)

    def identity(self, path):
        programs._cached.cache_clear()
        return programs.compiler_identity(path)

    def assertCounts(self, name, content, path=None):
        """An edit of the file `name` changes the identity, and undoing it brings the old one back."""
        path = path or self.clang
        before, old = self.identity(path), (self.folder / name).read_bytes()
        self.write(name, content)
        self.assertNotEqual(self.identity(path), before, name)
        self.write(name, old)
        self.assertEqual(self.identity(path), before)

    def test_a_static_program_is_its_file(self):
        of_system = "libc.so.6 libm.so.6 libpthread.so.0 ld-linux-x86-64.so.2 libc.musl-x86_64.so.1"
        for needed in ((), of_system.split()):
            path = self.write("clang", program(needed))
            self.assertEqual(self.identity(path), digest_of_file(path))

    def test_shared_libraries(self):
        library = self.write("lib/libLLVM.so.22", program())
        self.assertEqual(programs.shared_libraries(self.clang), [library])
        self.assertEqual(programs.shared_libraries(self.write("script", f"#!/bin/sh\n{self.clang}\n".encode())), [])

    def test_libraries_of_libraries(self):
        self.write("lib/libLLVM.so.22", program(["libz.so.1"], "$ORIGIN"))
        self.write("lib/libz.so.1", program(content=b"1"))
        self.assertNotEqual(self.identity(self.clang), digest_of_file(self.clang))
        self.assertCounts("lib/libLLVM.so.22", program(["libz.so.1"], "$ORIGIN", b"the inliner was edited"))
        self.assertCounts("lib/libz.so.1", program(content=b"2"))

    def test_a_library_through_a_link_and_through_the_environment(self):
        self.write("elsewhere/libLLVM.so.22", program())
        with unittest.mock.patch.dict(os.environ, {"LD_LIBRARY_PATH": str(self.folder / "elsewhere")}):
            self.assertCounts("elsewhere/libLLVM.so.22", program(content=b"2"))
        (self.folder / "lib/libLLVM.so.22").symlink_to("../elsewhere/libLLVM.so.22")
        self.assertCounts("elsewhere/libLLVM.so.22", program(content=b"2"))

    def test_a_library_of_the_loader_s_cache(self):
        library = self.write("x/libLLVM.so.22", program())
        strings = b"libLLVM.so.22\0" + os.fsencode(library) + b"\0"
        begin = 48 + 24
        entry = struct.pack("=iIIIQ", 0x303, begin, begin + len("libLLVM.so.22") + 1, 0, 0)
        header = struct.pack("=20sII20x", b"glibc-ld.so.cache1.1", 1, len(strings))
        cache = self.write("ld.so.cache", header + entry + strings)
        with unittest.mock.patch.object(programs, "_CACHE", cache):
            self.assertCounts("x/libLLVM.so.22", program(content=b"2"))

    def test_the_first_of_the_loader_s_places_counts(self):
        self.write("lib/libLLVM.so.22", program(["libz.so.1"]))
        self.write("bin/clang", program(["libz.so.1", "libLLVM.so.22"], "$ORIGIN/../own:$ORIGIN/../lib"))
        self.write("lib/libz.so.1", program(content=b"not loaded"))
        self.assertCounts("lib/libz.so.1", program(content=b"2"))
        self.write("own/libz.so.1", program())
        self.assertCounts("own/libz.so.1", program(content=b"2"))
        before = self.identity(self.clang)
        self.write("lib/libz.so.1", program(content=b"3"))
        self.assertEqual(self.identity(self.clang), before)

    def test_a_library_for_another_machine_is_not_loaded(self):
        before = self.identity(self.clang)
        self.write("lib/libLLVM.so.22", program(machine=183))
        self.assertEqual(self.identity(self.clang), before)

    def test_a_wrapper_is_what_it_starts(self):
        self.write("real/libLLVM.so.22", program())
        self.write("real/clang", program(["libLLVM.so.22"]))
        real = self.folder / "real"
        script = f'#!/bin/sh\nLD_LIBRARY_PATH={real} exec {real}/clang "$@"\n'
        wrapper = self.write("wrapper", script.encode())
        self.assertCounts("real/clang", program(["libLLVM.so.22"], content=b"2"), wrapper)
        self.assertCounts("real/libLLVM.so.22", program(content=b"2"), wrapper)

    def test_a_wrapper_that_says_what_it_starts(self):
        self.write("real/clang", program())
        script = '#!/bin/sh\ncase $1 in -\\#\\#\\#) echo " \\"$(dirname "$0")/real/clang\\" \\"-cc1\\"" >&2;; esac\n'
        wrapper = self.write("wrapper", script.encode())
        self.assertCounts("real/clang", program(content=b"2"), wrapper)

    def test_a_wrapper_that_adds_flags(self):
        self.write("a.decisions", b"1")
        said = f'echo " \\"/x/clang\\" \\"-cc1\\" \\"-mllvm\\" \\"-mlgo-decisions={self.folder}/a.decisions\\"" >&2'
        wrapper = self.write("wrapper", f"#!/bin/sh\n{said}\n".encode())
        self.assertCounts("a.decisions", b"2", wrapper)

    def test_libraries_that_change_places(self):
        names = ("lib/libLLVM.so.22", "lib/libz.so.1")
        self.write("bin/clang", program(["libLLVM.so.22", "libz.so.1"], "$ORIGIN/../lib"))
        contents = program(content=b"1"), program(content=b"2")
        found = []
        for order in (contents, contents[::-1]):
            for name, content in zip(names, order):
                self.write(name, content)
            found.append(self.identity(self.clang))
        self.assertNotEqual(*found)

    def test_a_copy_elsewhere_is_the_same_compiler(self):
        self.write("lib/libLLVM.so.22", program())
        self.write("copy/bin/clang", self.clang.read_bytes())
        self.write("copy/lib/libLLVM.so.22", program())
        self.assertEqual(self.identity(self.clang), self.identity(self.folder / "copy/bin/clang"))

    def test_files_that_flags_name(self):
        plugin = self.write("plugin.so", program(["libz.so.1"], "$ORIGIN"))
        self.write("libz.so.1", program())
        profile = self.write("a.profdata", b"1")
        flags = (f"-fplugin={plugin}", "-Xclang", "-load", f"-fprofile-use={profile}", "-O2")
        before = programs.flags_identity(flags)
        self.assertEqual(len(before), 2)
        for name in ("libz.so.1", "a.profdata"):
            self.write(name, program(content=b"2"))
            after = programs.flags_identity(flags)
            self.assertNotEqual(after, before)
            before = after

    def test_a_compiler_that_is_not_there(self):
        with self.assertRaisesRegex(RunError, "absent: cannot be read: No such file.*Give a file that can be read"):
            self.identity(self.folder / "absent")
