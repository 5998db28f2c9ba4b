"""A file that needs a newer glibc than Debian 12's asks for the older forms of the same functions."""

import os
import pathlib
import struct
import tempfile
import unittest

import older_glibc
from unpack import UnpackError

_NAMES = b"\0__isoc23_strtol\0fmod\0puts\0own\0libc.so.6\0GLIBC_2.2.5\0GLIBC_2.36\0GLIBC_2.38\0GLIBC_2.4\0LLVM_23\0"


def _at(name: str) -> int:
    return _NAMES.index(b"\0" + name.encode() + b"\0") + 1


def _elf(versions, symbols) -> bytearray:
    """A shared library.

    Args:
        versions: names of the versions that it needs of libc.so.6; the first has index 2.
        symbols: (name, index of its version, section: 0 of another file) of each.
    """
    dynamic = bytes(24) + b"".join(
        struct.pack("<IBBHQQ", _at(name), 0, 0, section, 0, 0) for name, _, section in symbols
    )
    index = struct.pack("<H", 0) + b"".join(struct.pack("<H", version) for _, version, _ in symbols)
    needed = struct.pack("<HHIII", 1, len(versions), _at("libc.so.6"), 16, 0)
    for place, name in enumerate(versions):
        # Digests are any numbers here; the loader compares them with those of the library.
        following = 16 if place + 1 < len(versions) else 0
        needed += struct.pack("<IHHII", 1000 + _at(name), 0, 2 + place, _at(name), following)
    contents = [(0, b"", 0), (3, _NAMES, 0), (11, dynamic, 0), (0x6FFFFFFF, index, 0), (0x6FFFFFFE, needed, 1)]
    body, headers = b"", b""
    for kind, content, info in contents:
        headers += struct.pack("<IIQQQQIIQQ", 0, kind, 0, 0, 64 + len(body), len(content), 1, info, 0, 0)
        body += content
    header = (
        b"\x7fELF\x02\x01"
        + bytes(10)
        + struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 0, 64 + len(body), 0, 64, 0, 0, 64, 5, 1)
    )
    return bytearray(header + body + headers)


def _symbol(data: bytearray, position: int) -> str:
    """The name of the symbol at `position`, from 0."""
    start = data.index(_NAMES)
    name = struct.unpack_from("<I", data, start + len(_NAMES) + 24 * (position + 1))[0]
    return data[start + name : data.index(0, start + name)].decode()


def _needed(data: bytearray) -> list:
    """(digest, index, name) of each version that the file needs."""
    start = data.index(struct.pack("<HH", 1, 3) + struct.pack("<I", _at("libc.so.6"))) + 16
    found = [struct.unpack_from("<IHHII", data, start + 16 * place) for place in range(3)]
    return [(digest, index, _NAMES[name : _NAMES.index(b"\0", name)].decode()) for digest, _, index, name, _ in found]


class OlderGlibcTest(unittest.TestCase):
    def test_newer_functions_become_older_ones(self):
        data = _elf(
            ["GLIBC_2.38", "GLIBC_2.2.5", "GLIBC_2.36"],
            [("__isoc23_strtol", 2, 0), ("fmod", 2, 0), ("puts", 3, 0), ("own", 2, 5)],
        )
        self.assertEqual(older_glibc.bind(data, "a.so"), ["__isoc23_strtol", "fmod"])
        self.assertEqual([_symbol(data, position) for position in range(4)], ["strtol", "fmod", "puts", "own"])
        oldest = 1000 + _at("GLIBC_2.2.5")
        self.assertEqual(
            _needed(data),
            [(oldest, 2, "GLIBC_2.2.5"), (oldest, 3, "GLIBC_2.2.5"), (1000 + _at("GLIBC_2.36"), 4, "GLIBC_2.36")],
        )
        # Bound once, it needs nothing newer.
        again = bytearray(data)
        self.assertEqual(older_glibc.bind(again, "a.so"), [])
        self.assertEqual(again, data)

    def test_a_file_that_debian_12_has_everything_for_stays(self):
        data = _elf(["GLIBC_2.4", "GLIBC_2.36", "LLVM_23"], [("puts", 2, 0), ("own", 4, 0)])
        before = bytes(data)
        self.assertEqual(older_glibc.bind(data, "a.so"), [])
        self.assertEqual(bytes(data), before)

    def test_files_that_cannot_be_bound(self):
        whole = _elf(["GLIBC_2.38", "GLIBC_2.2.5", "GLIBC_2.36"], [("fmod", 2, 0)])
        with self.assertRaisesRegex(UnpackError, "lib/a.so: cannot be bound to Debian 12's glibc .*; exclude the file"):
            older_glibc.bind(whole[:-100], "lib/a.so")
        with self.assertRaisesRegex(UnpackError, "needs no version of glibc that Debian 12 has"):
            older_glibc.bind(_elf(["GLIBC_2.38"], [("fmod", 2, 0)]), "a.so")

    def test_a_tree(self):
        with tempfile.TemporaryDirectory() as scratch:
            root = pathlib.Path(scratch)
            (root / "text").write_text("GLIBC_2.38")
            library = root / "a.so"
            library.write_bytes(_elf(["GLIBC_2.38", "GLIBC_2.2.5", "GLIBC_2.36"], [("fmod", 2, 0)]))
            os.utime(library, (5, 5))
            older_glibc.bind_tree(root)
            self.assertIn((1000 + _at("GLIBC_2.2.5"), 2, "GLIBC_2.2.5"), _needed(bytearray(library.read_bytes())))
            self.assertEqual(library.stat().st_mtime, 5)
            self.assertEqual((root / "text").read_text(), "GLIBC_2.38")


if __name__ == "__main__":
    unittest.main()
