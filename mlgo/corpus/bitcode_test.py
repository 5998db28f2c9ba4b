"""What is read from bitcode: of made-up modules, of damaged ones, and of what clang writes. Argument: clang."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

from hypothesis import given
from hypothesis import strategies as st

from mlgo.corpus import bitcode
from mlgo.corpus.bitcode import FunctionAttributes, function_attributes, function_bytes, is_optimised, source_name
from mlgo.corpus.testing.made_up_bitcode import FOR_SIZE, MIN_SIZE, NO_INLINE, OPTIMIZE_NONE, made_up_bitcode

_SOURCE = """
int f(int x) { return x + 1; }
static int g(int x) { return f(x) * 2; }
int h(int x) { return g(x) - g(x + 1); }
"""
_CLANG = pathlib.Path(sys.argv.pop(1)).absolute()


def compiled(source: str, *flags: str, name: str = "a.c") -> bytes:
    """The bitcode of `source`, by clang."""
    with tempfile.TemporaryDirectory() as scratch:
        path = pathlib.Path(scratch, name)
        path.parent.mkdir(exist_ok=True)
        path.write_text(source, encoding="ascii")
        subprocess.run([_CLANG, *flags, "-emit-llvm", "-c", name, "-o", "a.bc"], cwd=scratch, check=True)
        return pathlib.Path(scratch, "a.bc").read_bytes()


class FunctionAttributesTest(unittest.TestCase):
    def test_definitions_are_counted(self):
        functions = [[MIN_SIZE, FOR_SIZE], [FOR_SIZE, NO_INLINE], [NO_INLINE, OPTIMIZE_NONE], []]
        content = made_up_bitcode(functions, declared=[[MIN_SIZE]])
        self.assertEqual(function_attributes(content), FunctionAttributes(4, min_size=1, for_size=2, none=1))

    def test_behind_apples_wrapper(self):
        content = made_up_bitcode([[MIN_SIZE]])
        head = (0x0B17C0DE, 0, 20, len(content), 0)
        wrapped = b"".join(number.to_bytes(4, "little") for number in head) + content
        self.assertEqual(function_attributes(wrapped), FunctionAttributes(1, min_size=1))

    def test_no_bitcode(self):
        others = (b"mlgo-decisions 1\n", b'{"functions": {}}', made_up_bitcode([[MIN_SIZE]])[:40])
        for content in (b"", b"BC", b"BC\xc0\xde", *others):
            self.assertIsNone(function_attributes(content))
            self.assertFalse(is_optimised(content))
            self.assertIsNone(source_name(content))
            self.assertEqual(function_bytes(content), len(content))

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
        for level, found in expected.items():
            content = compiled(_SOURCE, level, "-Xclang", "-disable-llvm-passes")
            self.assertEqual(function_attributes(content), found, level)
            self.assertFalse(is_optimised(content), level)
            self.assertEqual(is_optimised(compiled(_SOURCE, level)), level != "-O0", level)


_DECLARATIONS = "".join(f"struct s{i} {{ int a[{i + 1}]; }}; extern struct s{i} v{i};\n" for i in range(50))


def _functions(count: int) -> str:
    return "".join(f"int f{i}(int x) {{ return x * {i} + v{i}.a[0]; }}\n" for i in range(count))


class FunctionBytesTest(unittest.TestCase):
    def test_functions_count_and_nothing_else(self):
        self.assertEqual(function_bytes(compiled(_DECLARATIONS, "-Oz")), 0)
        few, many = (function_bytes(compiled(_DECLARATIONS + _functions(count), "-Oz")) for count in (5, 50))
        self.assertGreater(few, 0)
        self.assertAlmostEqual(many / few, 10, delta=4)

    def test_long_names_do_not_count(self):
        short = _DECLARATIONS + _functions(50)
        plain, long = (compiled(text, "-Oz") for text in (short, short.replace("int f", f"int f{'x' * 200}")))
        self.assertGreater(len(long), len(plain) + 50 * 200)
        self.assertEqual(function_bytes(long), function_bytes(plain))


class SourceNameTest(unittest.TestCase):
    def test_what_clang_writes(self):
        for name in ("a.c", "folder with space/b.cpp", "ü.c"):
            content = compiled("int f(void) { return 1; }\n", "-Oz", name=name)
            self.assertEqual(source_name(content), name)
            for size in range(0, len(content), 97):
                source_name(content[:size])


# The first 52 bytes of an empty function's bitcode, by llvm-as of each major.
_BY_MAJOR = {
    14: "4243c0de3514000005000000620c30244a59be668dfbb4af0b51804c01000000210c0000010100000b0221000200000016000000",
    19: "4243c0de3514000005000000620c30244a59be66ddfbb5bf0b51804c01000000210c00003b0100000b0221000200000019000000",
    22: "4243c0de3514000005000000620c30244a59bea66dfbb5cf0b51804c01000000210c00006c0100000b0221000200000022000000",
}


class ProducerTest(unittest.TestCase):
    def test_the_major_of_each(self):
        for major, content in _BY_MAJOR.items():
            self.assertEqual(bitcode.llvm_major(bytes.fromhex(content)), major)

    def test_the_whole_name(self):
        self.assertEqual(bitcode.producer(bytes.fromhex(_BY_MAJOR[22])), "LLVM22.1.8")

    def test_behind_apples_wrapper(self):
        wrapper = b"\xde\xc0\x17\x0b" + bytes(4) + (20).to_bytes(4, "little") + bytes(8)
        self.assertEqual(bitcode.llvm_major(wrapper + bytes.fromhex(_BY_MAJOR[19])), 19)

    def test_bitcode_without_the_block_names_nobody(self):
        whole = bytes.fromhex(_BY_MAJOR[22])
        for content in (b"", b"BC\xc0\xde", whole[:4] + whole[32:], whole[:14]):
            self.assertIsNone(bitcode.llvm_major(content))

    @given(st.binary(max_size=200), st.integers(4, 51))
    def test_damaged_bytes_raise_nothing(self, damage, place):
        whole = bytes.fromhex(_BY_MAJOR[22])
        bitcode.producer(whole[:place] + damage + whole[place + len(damage) :])
