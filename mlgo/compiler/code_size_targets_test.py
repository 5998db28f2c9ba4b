"""Code sizes of objects for other targets, against what llvm-readelf and llvm-size say of them.

Arguments: clang, llvm-readelf, llvm-size.
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from mlgo.compiler.code_size import code_of_object
from mlgo.corpus import elf
from mlgo.run.exit_codes import RunError

CLANG, LLVM_READELF, LLVM_SIZE = (pathlib.Path(sys.argv.pop(1)).absolute() for _ in range(3))

# Jump tables and constants between instructions give mapping symbols; constructors give two names for one place.
_SOURCE = """
template <class T> __attribute__((noinline)) T twice(T x) { return x + x; }
struct Base { Base(int); int value; };
Base::Base(int x) : value(twice(x)) {}
static __attribute__((noinline)) int local(int x) { return x * 0x1234567; }
int exported(int x) { return local(x) + twice(x) + static_cast<int>(twice(1.5f)); }
int chosen(int x) {
  switch (x) {
    case 1: return exported(4);
    case 2: return local(99);
    case 3: return twice(8);
    case 4: return exported(0x12345678);
    case 5: return exported(x) * 0x3456789;
    case 6: return local(0x7654321);
  }
  return 1;
}
"""
_ARM_AND_THUMB = '__attribute__((target("arm"))) int armed(int x) { return exported(x) * 0x2345671; }\n'
_FUNCTIONS = {"_Z5twiceIfET_S0_", "_Z5twiceIiET_S0_", "_Z6choseni", "_Z8exportedi", "_ZL5locali", "_ZN4BaseC1Ei"}

#: Target -> its flags.
TARGETS = {
    "aarch64-linux-gnu": (),
    "armebv7-linux-gnueabihf": ("-mthumb",),
    "armv7-linux-gnueabihf": ("-mthumb",),
    "riscv32-unknown-elf": ("-march=rv32imac",),
    "riscv64-linux-gnu": (),
    "thumbv6m-none-eabi": (),
    "thumbv7em-none-eabi": (),
}
_SYMBOL = re.compile(r"^ *\d+: ([0-9a-f]+) +(\d+) FUNC +\S+ +\S+ +(\d+) (\S+)$", re.MULTILINE)


def compiled(folder: pathlib.Path, target: str, source: str = _SOURCE) -> bytes:
    path, made = folder / "a.cc", folder / "a.o"
    path.write_text(source, encoding="ascii")
    flags = ["-c", "-Oz", "-ffunction-sections", f"--target={target}", *TARGETS[target]]
    subprocess.run([CLANG, *flags, path, "-o", made], check=True)
    return made.read_bytes()


def output(*command: str | pathlib.Path) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


class TargetsTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def listed(self) -> dict[str, int]:
        """Function -> bytes, as llvm-readelf lists the object; the first of several names for one place."""
        places: dict[tuple[str, str], tuple[str, int]] = {}
        for value, size, section, name in _SYMBOL.findall(output(LLVM_READELF, "-Ws", self.folder / "a.o")):
            place, found = (section, value), (name, int(size))
            places[place] = min(places.get(place, found), found)
        return dict(places.values())

    def test_functions_and_text_of_every_target(self):
        for target in TARGETS:
            with self.subTest(target):
                code = code_of_object(compiled(self.folder, target), target)
                sizes = {function.name: function.size for function in code.functions}
                self.assertEqual(set(sizes), _FUNCTIONS)
                self.assertEqual(sizes, self.listed())
                comdats = {function.comdat for function in code.functions} - {None}
                self.assertEqual(comdats, {"_Z5twiceIfET_S0_", "_Z5twiceIiET_S0_"})
                printed = output(LLVM_SIZE, self.folder / "a.o")
                self.assertEqual(code.text_bytes, int(printed.splitlines()[1].split()[0]))

    def test_a_thumb_object_with_arm_code(self):
        content = compiled(self.folder, "armv7-linux-gnueabihf", _SOURCE + _ARM_AND_THUMB)
        file = elf.ElfFile.of_bytes(content)
        (table,) = file.sections_of_kind(elf.SHT_SYMTAB)
        names, symbols = file.content(file.section(table.link)), list(file.symbols(table))
        values = {elf.string_at(names, symbol.name): symbol.value for symbol in symbols}
        # What the test is about is there: the lowest bit of Thumb functions, and mapping symbols of all kinds.
        self.assertEqual((values["_Z5armedi"], values["_Z8exportedi"]), (0, 1))
        self.assertLessEqual({"$a", "$d", "$t"}, set(values))
        sizes = {function.name: function.size for function in code_of_object(content, "m").functions}
        self.assertEqual(set(sizes), _FUNCTIONS | {"_Z5armedi"})
        self.assertEqual(sizes, self.listed())

    def test_cut_and_damaged_objects_are_refused_or_read(self):
        for target in ("armv7-linux-gnueabihf", "riscv32-unknown-elf"):
            content = compiled(self.folder, target)
            whole = code_of_object(content, "m")
            for length in range(52, len(content), 7):
                try:
                    self.assertEqual(code_of_object(content[:length], "m"), whole)
                except RunError as error:
                    self.assertRegex(str(error), "object of m: is damaged")
            for place in range(16, len(content), 3):
                damaged = content[:place] + b"\xff" * 4 + content[place + 4 :]
                try:
                    code_of_object(damaged, "m")
                except RunError as error:
                    self.assertRegex(str(error), "object of m: is damaged")


if __name__ == "__main__":
    unittest.main()
