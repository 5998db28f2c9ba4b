"""Tests of source_name on what clang writes, and on bytes that are no bitcode."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

from mlgo.corpus.source_name import source_name

_clang = ""


class SourceNameTest(unittest.TestCase):
    def test_what_clang_writes(self):
        with tempfile.TemporaryDirectory() as scratch:
            for name in ("a.c", "folder with space/b.cpp", "ü.c"):
                source, bitcode = pathlib.Path(scratch, name), pathlib.Path(scratch, "a.bc")
                source.parent.mkdir(exist_ok=True)
                source.write_text("int f(void) { return 1; }\n", encoding="ascii")
                command = [_clang, "-Oz", "-emit-llvm", "-c", name, "-o", bitcode]
                subprocess.run(command, cwd=scratch, check=True)
                content = bitcode.read_bytes()
                self.assertEqual(source_name(content), name)
                for size in range(0, len(content), 97):
                    source_name(content[:size])

    def test_no_bitcode(self):
        for content in (b"", b"BC", b"BC\xc0\xde", b"mlgo-decisions 1\n"):
            self.assertIsNone(source_name(content))


if __name__ == "__main__":
    _clang = str(pathlib.Path(sys.argv.pop()).absolute())
    unittest.main()
