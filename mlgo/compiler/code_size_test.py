"""Code sizes of real objects, against what the packaged tools say of them, and of damaged ones."""

import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

from mlgo.compiler import empty_object
from mlgo.compiler.code_size import code_of_object
from mlgo.run.exit_codes import RunError

CLANG = pathlib.Path(sys.argv.pop(1)).absolute()
LLVM_SIZE = pathlib.Path(sys.argv.pop(1)).absolute()

_SOURCE = """
template <class T> __attribute__((noinline)) T twice(T x) { return x + x; }
struct Base { Base(int); int value; };
Base::Base(int x) : value(twice(x)) {}
static __attribute__((noinline)) int local(int x) { return x * 3; }
const char *text = "read only";
int exported(int x) { return local(x) + twice(x) + static_cast<int>(twice(1.5f)); }
"""


def _compile(folder: pathlib.Path, *flags: str, text: str = _SOURCE) -> bytes:
    source, made = folder / "a.cc", folder / "a.o"
    source.write_text(text)
    command = [str(CLANG), "-c", "-Oz", "-target", "x86_64-linux-gnu", *flags, str(source), "-o", str(made)]
    subprocess.run(command, check=True)
    return made.read_bytes()


class CodeSizeTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def test_functions_their_sizes_and_their_comdats(self):
        code = code_of_object(_compile(self.folder, "-ffunction-sections"), "a.cc")
        comdats = {function.name: function.comdat for function in code.functions}
        self.assertEqual(
            comdats,
            {
                "_Z5twiceIfET_S0_": "_Z5twiceIfET_S0_",
                "_Z5twiceIiET_S0_": "_Z5twiceIiET_S0_",
                "_Z8exportedi": None,
                # Complete and base object constructor are one function.
                "_ZN4BaseC1Ei": None,
                "_ZL5locali": None,
            },
        )
        self.assertEqual([f.name for f in code.functions], sorted(comdats))
        self.assertTrue(all(function.size > 0 for function in code.functions))

    def test_without_function_sections_padding_is_code_of_no_function(self):
        code = code_of_object(_compile(self.folder, "-falign-functions=64"), "a.cc")
        self.assertGreater(code.code_bytes, sum(function.size for function in code.functions))

    def test_text_is_what_llvm_size_calls_text(self):
        content = _compile(self.folder)
        printed = subprocess.run([LLVM_SIZE, self.folder / "a.o"], check=True, capture_output=True, text=True).stdout
        code = code_of_object(content, "a.cc")
        self.assertEqual(code.text_bytes, int(printed.splitlines()[1].split()[0]))
        self.assertLess(code.code_bytes, code.text_bytes)

    def test_text_is_code_and_constants(self):
        def section(flags, size):
            return struct.pack("<IIQQQQIIQQ", 0, 1, flags, 0, 0, size, 0, 0, 1, 0)

        code, constants, data, debug = section(0x6, 100), section(0x2, 20), section(0x3, 3000), section(0, 50000)
        table = code + constants + data + debug
        head = bytearray(64)
        head[:6] = b"\x7fELF\x02\x01"
        struct.pack_into("<Q", head, 40, 64)
        struct.pack_into("<HH", head, 58, 64, 4)
        self.assertEqual(code_of_object(bytes(head) + table, "m").text_bytes, 120)
        # More sections than 16 bits hold.
        struct.pack_into("<H", head, 60, 0)
        self.assertEqual(code_of_object(bytes(head) + section(0, 5) + table, "m").text_bytes, 120)

    def test_a_module_of_data_or_of_hardly_a_function_is_trivial(self):
        made = str(self.folder / "a.o")
        data = _compile(self.folder, text='int table[100] = {1}; extern const char *const name = "n";')
        self.assertEqual(code_of_object(data, "m").code_bytes, 0)
        self.assertTrue(empty_object.is_trivial(made))
        _compile(self.folder, "-fno-omit-frame-pointer", text="bool initialised() { return true; }")
        self.assertTrue(empty_object.is_trivial(made))
        _compile(self.folder)
        self.assertFalse(empty_object.is_trivial(made))
        self.assertFalse(empty_object.is_trivial(str(self.folder / "absent.o")))

    def test_what_is_no_object_is_refused(self):
        with self.assertRaisesRegex(RunError, "object of m: is no ELF file. Compile for Linux"):
            code_of_object(b"BC\xc0\xde", "m")

    def test_a_cut_object_is_refused_or_has_all_its_code(self):
        content = _compile(self.folder)
        whole = code_of_object(content, "m")
        for length in range(64, len(content)):
            try:
                self.assertEqual(code_of_object(content[:length], "m"), whole, length)
            except RunError as error:
                self.assertRegex(str(error), "object of m: is damaged")


if __name__ == "__main__":
    unittest.main()
