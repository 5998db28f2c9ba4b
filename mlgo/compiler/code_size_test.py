"""Code sizes of real objects for all targets, against what llvm-readelf and llvm-size say of them, and of damaged ones.

Arguments: clang, llvm-readelf, llvm-size.
"""

import itertools
import pathlib
import re
import struct
import subprocess
import sys

from mlgo.compiler import empty_object
from mlgo.compiler.code_size import ObjectCode, code_of_object
from mlgo.compiler.outlined_code import is_outlined
from mlgo.corpus import elf
from mlgo.run.exit_codes import RunError
from mlgo.run.testing.folder_case import FolderCase

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
    "thumbv8m.main-none-eabi": (),
    "x86_64-linux-gnu": (),
}
_X86 = "x86_64-linux-gnu"
#: Those whose compiler outlines at -Oz by itself.
OUTLINING = tuple(target for target in TARGETS if target.startswith(("aarch64", "riscv", "thumbv7", "thumbv8")))
_C = ("-w", "-x", "c")
_SECTIONS = ((), ("-ffunction-sections",))
_SYMBOL = re.compile(r"^ *\d+: ([0-9a-f]+) +(\d+) FUNC +\S+ +\S+ +(\d+) (\S+)$", re.MULTILINE)


_FIRST, _SECOND = (" ".join(f"p[{n}] = {n * 77 + start};" for n in range(9)) for start in (300, 1100))
#: `both` shares code with each of its neighbours, in blocks of their own: what follows in a block may change registers.
_OUTLINED = f"""
int call(volatile int *p);
int first(volatile int *p) {{ if (call(p)) {{ {_FIRST} }} return 1; }}
int both(volatile int *p) {{ if (call(p)) {{ {_FIRST} }} if (call(p)) {{ {_SECOND} }} return 1; }}
int second(volatile int *p) {{ if (call(p)) {{ {_SECOND} }} return 1; }}
int other(int x) {{ return x * x; }}
"""
_OUTLINED_FUNCTIONS = {"first", "second", "both", "other"}

#: A second run takes the rest of what the first one left.
_NESTED = """
extern int g(int, int, int); extern int port[];
#define A g(1, 2, 3); g(4, 5, 6);
#define B port[3] = 7; g(7, 8, 9); g(17, 18, 19);
int a(int x) { A B return x + 1; }
int b(int x) { A B return x * 3; }
int c(int x) { A return x ^ 3; }
int d(int x) { A return x ^ 13; }
int e(int x) { B return x ^ 23; }
int f(int x) { B return x ^ 33; }
"""


def assembly(sections: bool) -> str:
    """Functions of AArch64 that call outlined ones: f once, g three times, h one that calls it twice."""
    bodies = {
        "f": ["bl OUTLINED_FUNCTION_0", "ret"],
        "g": ["bl OUTLINED_FUNCTION_0"] * 3 + ["ret"],
        "h": ["bl OUTLINED_FUNCTION_2_0", "ret"],
        "OUTLINED_FUNCTION_0": ["nop"] * 5 + ["ret"],
        "OUTLINED_FUNCTION_2_0": ["bl OUTLINED_FUNCTION_0", "bl elsewhere", "b OUTLINED_FUNCTION_0"],
        "OUTLINED_FUNCTION_3": ["ret"],
    }
    lines = []
    for name, body in bodies.items():
        lines += [f'.section .text.{name},"ax",@progbits'] if sections else []
        lines += [f".type {name},@function", f"{name}:", *body, f".size {name}, .-{name}"]
    return "\n".join(lines) + "\n"


def output(*command: str | pathlib.Path) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def damaged(content: bytes, step: int) -> list[bytes]:
    return [content[:at] + b"\xff" * 4 + content[at + 4 :] for at in range(16, len(content), step)]


class CodeTestCase(FolderCase):
    def compiled(self, target: str = _X86, *flags: str, source: str = _SOURCE) -> bytes:
        path, made = self.file("a.cc", source), self.folder / "a.o"
        words = ["-c", "-Oz", f"--target={target}", *TARGETS[target], *flags]
        subprocess.run([CLANG, *words, path, "-o", made], check=True)
        return made.read_bytes()

    def listed(self) -> dict[str, int]:
        """Function -> bytes, as llvm-readelf lists the object; the first of several names for one place."""
        places: dict[tuple[str, str], tuple[str, int]] = {}
        for value, size, section, name in _SYMBOL.findall(output(LLVM_READELF, "-Ws", self.folder / "a.o")):
            place, found = (section, value), (name, int(size))
            places[place] = min(places.get(place, found), found)
        return dict(places.values())

    def refused_or_read(self, contents: list[bytes]) -> set[ObjectCode]:
        """The code of those that are read; the others are damaged objects."""
        found = set()
        for content in contents:
            try:
                found.add(code_of_object(content, "m"))
            except RunError as error:
                self.assertRegex(str(error), "object of m: is damaged")
        return found


class CodeSizeTest(CodeTestCase):
    def test_functions_and_text_of_every_target(self):
        for target in TARGETS:
            with self.subTest(target):
                code = code_of_object(self.compiled(target, "-ffunction-sections"), target)
                sizes = {function.name: function.size for function in code.functions}
                # Complete and base object constructor are one function.
                self.assertEqual(list(sizes), sorted(_FUNCTIONS))
                self.assertEqual(sizes, self.listed())
                comdats = {function.name: function.comdat for function in code.functions if function.comdat}
                self.assertEqual(comdats, {name: name for name in ("_Z5twiceIfET_S0_", "_Z5twiceIiET_S0_")})
                printed = output(LLVM_SIZE, self.folder / "a.o")
                self.assertEqual(code.text_bytes, int(printed.splitlines()[1].split()[0]))
                self.assertLess(code.code_bytes, code.text_bytes)

    def test_a_thumb_object_with_arm_code(self):
        content = self.compiled("armv7-linux-gnueabihf", "-ffunction-sections", source=_SOURCE + _ARM_AND_THUMB)
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

    def test_without_function_sections_padding_is_code_of_no_function(self):
        code = code_of_object(self.compiled(_X86, "-falign-functions=64"), "a.cc")
        self.assertGreater(code.code_bytes, sum(function.size for function in code.functions))

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
        data = self.compiled(source='int table[100] = {1}; extern const char *const name = "n";')
        self.assertEqual(code_of_object(data, "m").code_bytes, 0)
        self.assertTrue(empty_object.is_trivial(made))
        self.compiled(_X86, "-fno-omit-frame-pointer", source="bool initialised() { return true; }")
        self.assertTrue(empty_object.is_trivial(made))
        self.compiled()
        self.assertFalse(empty_object.is_trivial(made))
        self.assertFalse(empty_object.is_trivial(str(self.folder / "absent.o")))

    def test_what_is_no_object_is_refused(self):
        with self.assertRaisesRegex(RunError, "object of m: is no ELF file. Compile for Linux"):
            code_of_object(b"BC\xc0\xde", "m")

    def test_cut_and_damaged_objects_are_refused_or_read(self):
        for target, step in ((_X86, 1), ("armv7-linux-gnueabihf", 7), ("riscv32-unknown-elf", 7)):
            content = self.compiled(target, "-ffunction-sections")
            whole = code_of_object(content, "m")
            cut = [content[:length] for length in range(52, len(content), step)]
            self.assertEqual(self.refused_or_read(cut) - {whole}, set())
            self.refused_or_read(damaged(content, 3))


class OutlinedCodeTest(CodeTestCase):
    """Bytes of functions whose code the machine outliner moved."""

    def sizes(self, target: str, *flags: str, source: str = _OUTLINED) -> dict[str, int]:
        code = code_of_object(self.compiled(target, *_C, *flags, source=source), "m")
        return {function.name: function.size for function in code.functions}

    def test_outlined_bytes_are_charged_to_their_callers(self):
        for target in OUTLINING:
            relaxed = ((), ("-mno-relax",)) if target.startswith("riscv") else ((),)
            for sections, relaxing in itertools.product(_SECTIONS, relaxed):
                with self.subTest(target, sections=sections, relaxing=relaxing):
                    sizes, listed = self.sizes(target, *sections, *relaxing), self.listed()
                    self.assertTrue(any(map(is_outlined, listed)))
                    self.assertEqual(set(sizes), _OUTLINED_FUNCTIONS)
                    self.assertEqual(sum(sizes.values()), sum(listed.values()))
                    gains = {name: sizes[name] - listed[name] for name in _OUTLINED_FUNCTIONS}
                    self.assertEqual(gains["other"], 0)
                    self.assertGreater(gains["first"], 0)
                    # Bytes are whole: halves of an odd number differ.
                    self.assertGreaterEqual(gains["both"] + 1, max(gains["first"], gains["second"]))

    def test_shares_by_calls(self):
        for sections in (False, True):
            with self.subTest(sections=sections):
                sizes = self.sizes("aarch64-linux-gnu", "-x", "assembler", source=assembly(sections))
                # 6 times 4 bytes for 6 calls, two of them in OUTLINED_FUNCTION_2_0, which is h's.
                self.assertEqual(sizes, {"f": 8 + 4, "g": 16 + 12, "h": 8 + 12 + 8, "OUTLINED_FUNCTION_3": 4})

    def test_sections_change_nothing(self):
        for target in ("aarch64-linux-gnu", "riscv64-linux-gnu"):
            self.assertEqual(*(self.sizes(target, *sections) for sections in _SECTIONS))

    def test_later_runs_of_the_outliner(self):
        reruns = ("-mllvm", "-machine-outliner-reruns=3")
        for sections in _SECTIONS:
            sizes, listed = self.sizes("aarch64-linux-gnu", *sections, *reruns, source=_NESTED), self.listed()
            self.assertIn("OUTLINED_FUNCTION_2_0", listed)
            self.assertEqual(set(sizes), set("abcdef"))
            self.assertEqual(sum(sizes.values()), sum(listed.values()))

    def test_names(self):
        for name in ("OUTLINED_FUNCTION_0", "OUTLINED_FUNCTION_2_11", "OUTLINED_FUNCTION_0.content.17"):
            self.assertTrue(is_outlined(name), name)
        for name in ("OUTLINED_FUNCTION_", "f", "my_OUTLINED_FUNCTION_0", "OUTLINED_FUNCTION_0x"):
            self.assertFalse(is_outlined(name), name)

    def test_without_the_outliner_the_symbols_say_it(self):
        for target in OUTLINING:
            self.assertEqual(self.sizes(target, "-mllvm", "-enable-machine-outliner=never"), self.listed())

    def test_damaged_objects_are_refused_or_read(self):
        for target in ("aarch64-linux-gnu", "thumbv7em-none-eabi"):
            content = self.compiled(target, *_C, "-ffunction-sections", source=_OUTLINED)
            self.refused_or_read(damaged(content, 7))
