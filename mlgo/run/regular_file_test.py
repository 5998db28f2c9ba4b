"""Tests of mlgo.run.regular_file: whatever lies at a path, reading it ends, with the content or one sentence."""

import os
import pathlib
import socket
import tempfile
import unittest

from mlgo.run import regular_file
from mlgo.run.exit_codes import RunError

LIMIT = 100


def _socket(path: pathlib.Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


def _sparse(path: pathlib.Path) -> None:
    with open(path, "wb") as file:
        file.truncate(200 * 1024**3)


#: What lies at the path -> how to make it there, and what the message says.
STRANGE = {
    "nothing": (lambda path: None, "does not exist"),
    "a dangling link": (lambda path: path.symlink_to("nowhere"), "does not exist"),
    "a link to itself": (lambda path: path.symlink_to(path.name), "cannot be read: Too many levels of symbolic links"),
    "a pipe": (os.mkfifo, "cannot be read: it is a pipe, not a file"),
    "a link to an endless device": (lambda path: path.symlink_to("/dev/zero"), "it is a device, not a file"),
    "a directory": (os.mkdir, "cannot be read: it is a directory, not a file"),
    "a socket": (_socket, "cannot be read: it is a socket, not a file"),
    "a sparse file": (_sparse, "cannot be read: it has 214748364800 bytes, more than the 100 allowed"),
    "one byte too many": (lambda path: path.write_bytes(bytes(LIMIT + 1)), "it has 101 bytes, more than the 100"),
}


class RegularFileTest(unittest.TestCase):
    def setUp(self):
        self.path = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()), "it")

    def read(self) -> bytes:
        return regular_file.read_file(self.path, LIMIT, "the thing", "Make it")

    def test_content_up_to_the_limit(self):
        for content in (b"", b"content", bytes(LIMIT)):
            self.path.write_bytes(content)
            self.assertEqual(self.read(), content)

    def test_a_link_to_a_file_is_followed(self):
        self.path.with_name("other").write_bytes(b"content")
        self.path.symlink_to("other")
        self.assertEqual(self.read(), b"content")

    def test_what_is_no_such_file_is_one_sentence(self):
        for what, (make, message) in STRANGE.items():
            with self.subTest(what), tempfile.TemporaryDirectory() as folder:
                self.path = pathlib.Path(folder, "it")
                make(self.path)
                with self.assertRaisesRegex(RunError, rf"^the thing \(.*/it\): .*{message}.*\. Make it$"):
                    self.read()

    def test_a_name_that_no_file_can_have(self):
        self.path = pathlib.Path("a\0b")
        with self.assertRaisesRegex(RunError, "its name holds what no file name can hold"):
            self.read()

    def test_a_file_that_is_filled_or_shortened_while_it_is_read(self):
        for content in (b"longer content", b""):
            self.path.write_bytes(b"content")
            with self.subTest(content), regular_file.open_regular(self.path, LIMIT) as descriptor:
                self.path.write_bytes(content)
                with self.assertRaisesRegex(OSError, "it changed its size while it was read"):
                    regular_file.read_open(descriptor, len(b"content"), self.path)

    def test_text_that_is_not_utf_8(self):
        self.path.write_bytes(b"ab\xff")
        with self.assertRaisesRegex(RunError, "it.*is not UTF-8 at byte 2. Make it"):
            regular_file.read_text(self.path, LIMIT, "the thing", "Make it")
