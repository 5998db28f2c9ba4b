"""What an object may bring into a corpus: an object of others names files, and only the build's become a part of it."""

import os
import pathlib
import tempfile
import unittest

from mlgo.corpus.corpus import MAX_COMMAND_BYTES
from mlgo.corpus.extraction.extraction import Extraction
from mlgo.corpus.extraction.inputs import BuildObject
from mlgo.corpus.extraction.modules import EmbeddedModules, ModuleContent, local_thinlto_module
from mlgo.corpus.extraction.object_file import Embedded
from mlgo.corpus.extraction.outcome import Kind, LeftOut
from mlgo.corpus.self_contained import roots_of_build
from mlgo.run.testing.folder_case import FolderCase

BITCODE = b"BC\xc0\xde"
EMBEDDED_LATE = ("-mllvm", "-lto-embed-bitcode=post-merge-pre-opt")


class BitcodeTest(unittest.TestCase):
    def refused(self, bitcode: bytes, command: bytes = b"-cc1\0") -> LeftOut:
        read = EmbeddedModules(lambda span, found: Embedded(bitcode, command), str, roots_of_build([]))
        with tempfile.NamedTemporaryFile() as file, self.assertRaises(LeftOut) as caught:
            read("a.o", BuildObject("a.o", file.name, "/"))
        return caught.exception

    def test_sections_with_one_byte_as_mlgo_utils_tests_have_them_give_no_module(self):
        found = self.refused(b"\x55")
        self.assertEqual(found.kind, Kind.NO_BITCODE)
        self.assertEqual(found.reason, "has a bitcode section without bitcode in its 1 bytes")

    def test_a_section_of_gigabytes_is_no_command(self):
        found = self.refused(BITCODE, bytes(MAX_COMMAND_BYTES + 1))
        self.assertEqual(found.kind, Kind.NOT_PORTABLE)
        self.assertRegex(found.reason, "has a command of 4194305 bytes, more than the 4194304 allowed")

    def test_bitcode_of_another_major_is_left_out_with_both_majors(self):
        # Written by llvm-as 14; see bitcode_test.
        found = self.refused(bytes.fromhex("4243c0de3514000005000000620c30244a59be668dfbb4af0b51804c01000000"))
        self.assertEqual((found.kind, found.kind.is_failure), (Kind.OTHER_LLVM, True))
        self.assertRegex(found.reason, r"^was made by clang 14; this needs clang \d+$")


class FilesOfObjectsTest(FolderCase):
    def setUp(self):
        super().setUp()
        self.build, self.secret = self.folder / "build", self.folder / "secret"
        self.build.mkdir()
        self.secret.write_bytes(b"secret")
        (self.build / "a.o").touch()
        (self.build / "a.profdata").write_bytes(b"profile")
        (self.build / "link").symlink_to(self.secret)
        self.copied: list[pathlib.Path] = []

    def read(self, *command: str, distributed: bool = False, allowed: tuple[pathlib.Path, ...] = ()) -> ModuleContent:
        """The module of an object that records `command`."""
        recorded = b"".join(word.encode() + b"\0" for word in ("-cc1", "-O2", *command))

        def add_file(path) -> str:
            self.copied.append(pathlib.Path(path))
            return "files/0123456789abcdef-a"

        read = EmbeddedModules(
            lambda span, found: Embedded(BITCODE, recorded),
            add_file,
            roots_of_build([self.build, *allowed]),
            distributed=distributed,
        )
        return read("a.o", BuildObject("a.o", str(self.build / "a.o"), str(self.build)))

    def test_a_profile_outside_of_the_build_is_not_copied(self):
        for path in (str(self.secret), "../secret", str(self.build / "link"), "link"):
            with self.subTest(path), self.assertRaises(LeftOut) as caught:
                self.read(f"-fprofile-sample-use={path}")
            self.assertEqual(caught.exception.kind, Kind.FILE_OUTSIDE)
            self.assertIn("lies outside of the build", caught.exception.reason)
            self.assertIn(f"--allow_file_root={self.folder} allows it", caught.exception.reason)
        self.assertEqual(self.copied, [])

    def test_an_index_outside_of_the_build_is_not_copied(self):
        for path in (str(self.secret), "../secret", "link"):
            with self.subTest(path), self.assertRaises(LeftOut) as caught:
                self.read(*EMBEDDED_LATE, f"-fthinlto-index={path}", distributed=True)
            self.assertEqual(caught.exception.kind, Kind.FILE_OUTSIDE)

    def test_files_of_the_build_and_of_the_flag(self):
        command = self.read("-fprofile-sample-use=a.profdata").command
        assert command is not None
        self.assertIn("-fprofile-sample-use=files/0123456789abcdef-a", command)
        self.read(f"-fprofile-sample-use={self.secret}", allowed=(self.folder,))
        self.assertEqual(self.copied, [self.build / "a.profdata", self.secret])
        module = self.read(*EMBEDDED_LATE, "-fthinlto-index=a.profdata", distributed=True)
        self.assertEqual(module.thinlto_index, b"profile")

    def test_odd_files_are_left_out(self):
        """A module saved by lld, which is read whole."""
        path = self.build / "a.o.3.import.bc"

        def make_large() -> None:
            path.touch()
            os.truncate(path, 200 * 1024**3)

        for make, message in (
            (make_large, "has a part of 214748364800 bytes at 0, more than"),
            (lambda: os.mkfifo(path), "cannot be read: it is a pipe, not a file"),
            (lambda: path.symlink_to("/dev/zero"), "cannot be read: it is a device, not a file"),
            (path.mkdir, "cannot be read: it is a directory, not a file"),
        ):
            make()
            with self.subTest(message), self.assertRaisesRegex(LeftOut, f"unreadable_object: {message}"):
                local_thinlto_module("a.o", BuildObject("a.o", str(self.build / "a.o"), str(self.build)))
            path.rmdir() if path.is_dir() else path.unlink()

    def test_roots_of_an_extraction(self):
        """The flags' folders, and no folder that the input names."""
        other = self.folder / "other"
        for given in (
            {"input": self.build / "compile_commands.json"},
            {"input": self.build, "input_type": "directory"},
            {"input": other / "app.params", "input_type": "params", "obj_base_dir": self.build},
            {"input": other / "app.params", "allow_file_root": (self.build,)},
        ):
            with self.subTest(given):
                roots = Extraction(self.folder / "out", working_directory=other, **given).file_roots
                roots.check(self.build / "a.profdata")
                with self.assertRaisesRegex(Exception, "lies outside of the build"):
                    roots.check(self.secret)
