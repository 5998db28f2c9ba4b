"""Units that read precompiled headers, as CMake, meson, qmake and Makefiles write them."""

import os
import pathlib
import tempfile
import unittest

from mlgo.project.command_line import Compile
from mlgo.project.precompiled import reads_precompiled_header, words_with_text


class PrecompiledTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(os.path.realpath(self.enterContext(tempfile.TemporaryDirectory())))

    def words(self, *words, headers=None, reads=True):
        unit = Compile(
            "clang", str(self.folder), ("a.c", *words), str(self.folder / "a.c"), "/a.o", "clang", 1.0, False
        )
        self.assertEqual(reads_precompiled_header(unit), reads)
        own = {str(self.folder / made): text for made, text in (headers or {}).items()}
        return " ".join(words_with_text(unit, own)[1:])

    def test_cmake_includes_the_text_too(self):
        words = ("-Xclang", "-include-pch", "-Xclang", "x.pch", "-Xclang", "-include", "-Xclang", "x.hxx", "-O2")
        text = "-Xclang -include -Xclang x.hxx -O2"
        self.assertEqual(self.words(*words), text)
        self.assertEqual(self.words(*words, headers={"x.pch": "/x.hxx.cxx"}), f"-include /x.hxx.cxx {text}")

    def test_meson_names_the_compiled_header_alone(self):
        words = ("-DX", "-include-pch", "app.p/p.h.pch", "-include", "config.h")
        self.assertEqual(self.words(*words, headers={"app.p/p.h.pch": "/p.h"}), "-DX -include /p.h -include config.h")

    def test_a_text_with_a_compiled_header_beside_it(self):
        for name in ("x.h", "x.h.gch"):
            (self.folder / name).touch()
        self.assertEqual(self.words("-include", "x.h", "-include", "y.h"), "-Xclang -include -Xclang x.h -include y.h")

    def test_a_compiled_header_without_a_text_beside_it(self):
        (self.folder / "app.pch").touch()
        self.assertEqual(self.words("-include", "app", headers={"app.pch": "/stable.h"}), "-include /stable.h")

    def test_a_plain_header(self):
        self.assertEqual(self.words("-include", "x.h", "-O2", reads=False), "-include x.h -O2")


if __name__ == "__main__":
    unittest.main()
