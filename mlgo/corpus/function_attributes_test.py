"""Attributes of functions in bitcode: made-up modules, damaged ones, and what clang writes at each level."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from hypothesis import given
from hypothesis import strategies as st

from mlgo.corpus.function_attributes import FunctionAttributes, function_attributes, is_optimised
from mlgo.corpus.testing.made_up_bitcode import FOR_SIZE, MIN_SIZE, NO_INLINE, OPTIMIZE_NONE, made_up_bitcode

_SOURCE = """
int f(int x) { return x + 1; }
static int g(int x) { return f(x) * 2; }
int h(int x) { return g(x) - g(x + 1); }
"""
_clang = ""


class FunctionAttributesTest(unittest.TestCase):
    def test_definitions_are_counted(self):
        content = made_up_bitcode(
            [[MIN_SIZE, FOR_SIZE], [FOR_SIZE, NO_INLINE], [NO_INLINE, OPTIMIZE_NONE], []], declared=[[MIN_SIZE]]
        )
        self.assertEqual(function_attributes(content), FunctionAttributes(4, min_size=1, for_size=2, none=1))

    def test_behind_apples_wrapper(self):
        content = made_up_bitcode([[MIN_SIZE]])
        head = (0x0B17C0DE, 0, 20, len(content), 0)
        wrapped = b"".join(number.to_bytes(4, "little") for number in head) + content
        self.assertEqual(function_attributes(wrapped), FunctionAttributes(1, min_size=1))

    def test_no_bitcode(self):
        for content in (b"", b"BC", b"BC\xc0\xde", b'{"functions": {}}', made_up_bitcode([[MIN_SIZE]])[:40]):
            self.assertIsNone(function_attributes(content))
            self.assertFalse(is_optimised(content))

    @given(st.binary(max_size=60), st.integers(4, 150))
    def test_damaged_bytes_raise_nothing(self, damage, place):
        whole = made_up_bitcode([[MIN_SIZE, FOR_SIZE]] * 2)
        for read in (function_attributes, is_optimised):
            read(whole[:place] + damage + whole[place + len(damage) :])

    def test_only_definitions_are_marked_by_the_optimiser(self):
        self.assertTrue(is_optimised(made_up_bitcode([[MIN_SIZE]], optimised=True)))
        self.assertFalse(is_optimised(made_up_bitcode([[MIN_SIZE]])))
        self.assertFalse(is_optimised(made_up_bitcode([], [[MIN_SIZE]], optimised=True)))

    def test_what_clang_writes(self):
        expected = {
            "-O0": FunctionAttributes(3, none=3),
            "-O1": FunctionAttributes(3),
            "-O2": FunctionAttributes(3),
            "-Os": FunctionAttributes(3, for_size=3),
            "-Oz": FunctionAttributes(3, min_size=3, for_size=3),
        }
        with tempfile.TemporaryDirectory() as scratch:
            source, bitcode = pathlib.Path(scratch, "a.c"), pathlib.Path(scratch, "a.bc")
            source.write_text(_SOURCE, encoding="ascii")
            for level, found in expected.items():
                passes = ("-Xclang", "-disable-llvm-passes", "-emit-llvm")
                subprocess.run([_clang, level, *passes, "-c", source, "-o", bitcode], check=True)
                self.assertEqual(function_attributes(bitcode.read_bytes()), found, level)
                self.assertFalse(is_optimised(bitcode.read_bytes()), level)
                subprocess.run([_clang, level, "-emit-llvm", "-c", source, "-o", bitcode], check=True)
                self.assertEqual(is_optimised(bitcode.read_bytes()), level != "-O0", level)


if __name__ == "__main__":
    _clang = os.path.abspath(sys.argv.pop(1))
    unittest.main()
