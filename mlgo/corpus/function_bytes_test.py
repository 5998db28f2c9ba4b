"""Tests of function_bytes on what clang writes, and on bytes that are no bitcode. Argument: clang."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

from mlgo.corpus.function_bytes import function_bytes

_clang = ""

_DECLARATIONS = "".join(f"struct s{i} {{ int a[{i + 1}]; }}; extern struct s{i} v{i};\n" for i in range(50))
_FUNCTION = "int f{0}(int x) {{ return x * {0} + v{0}.a[0]; }}\n"


def compiled(source: str) -> bytes:
    with tempfile.TemporaryDirectory() as scratch:
        path = pathlib.Path(scratch, "a.c")
        path.write_text(_DECLARATIONS + source, encoding="ascii")
        subprocess.run([_clang, "-Oz", "-emit-llvm", "-c", "a.c", "-o", "a.bc"], cwd=scratch, check=True)
        return pathlib.Path(scratch, "a.bc").read_bytes()


class FunctionBytesTest(unittest.TestCase):
    def test_functions_count_and_nothing_else(self):
        self.assertEqual(function_bytes(compiled("")), 0)
        few, many = (function_bytes(compiled("".join(map(_FUNCTION.format, range(count))))) for count in (5, 50))
        self.assertGreater(few, 0)
        self.assertAlmostEqual(many / few, 10, delta=4)

    def test_long_names_do_not_count(self):
        short = "".join(map(_FUNCTION.format, range(50)))
        plain, long = compiled(short), compiled(short.replace("int f", f"int f{'x' * 200}"))
        self.assertGreater(len(long), len(plain) + 50 * 200)
        self.assertEqual(function_bytes(long), function_bytes(plain))

    def test_no_bitcode(self):
        for content in (b"", b"BC", b"BC\xc0\xde", b"mlgo-decisions 1\n"):
            self.assertEqual(function_bytes(content), len(content))


if __name__ == "__main__":
    _clang = str(pathlib.Path(sys.argv.pop()).absolute())
    unittest.main()
