"""Tests of byte_code.py: what it writes depends on the sources alone."""

import pathlib
import struct
import tempfile
import unittest

from toolchains.python import byte_code

SOURCES = {
    "a.py": "def f(x):\n    return {x: 'text', 1.5: (x, None)}\n",
    "package/__init__.py": "from a import f\n",
    "template.py": "def {{name}}:\n",
}


def compiled(directory: pathlib.Path) -> dict[str, bytes]:
    for name, text in SOURCES.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    byte_code.compile_tree(directory)
    return {str(p.relative_to(directory)): p.read_bytes() for p in directory.rglob("*.pyc")}


class ByteCodeTest(unittest.TestCase):
    def test_same_bytes_anywhere_and_no_check_at_import(self):
        with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
            first, second = compiled(pathlib.Path(one)), compiled(pathlib.Path(other, "deeper"))
        self.assertEqual(first, second)
        self.assertEqual(set(first), {"__pycache__/a.cpython-311.pyc", "package/__pycache__/__init__.cpython-311.pyc"})
        for content in first.values():
            # PEP 552: the second word's lowest bit says "hash", the next one "check it"; one without the other.
            self.assertEqual(struct.unpack("<I", content[4:8])[0], 0b01)


if __name__ == "__main__":
    unittest.main()
