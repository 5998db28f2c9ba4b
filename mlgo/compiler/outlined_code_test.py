"""Bytes of functions whose code the machine outliner moved, in objects of all targets that have one.

Argument: clang.
"""

import itertools
import pathlib
import subprocess
import sys
import tempfile
import unittest

from mlgo.compiler.code_size import code_of_object
from mlgo.compiler.outlined_code import is_outlined
from mlgo.corpus import elf
from mlgo.run.exit_codes import RunError

CLANG = pathlib.Path(sys.argv.pop(1)).absolute()

_FIRST, _SECOND = (" ".join(f"p[{n}] = {n * 77 + start};" for n in range(9)) for start in (300, 1100))
#: `both` shares code with each of its neighbours.
_SOURCE = f"""
void call(volatile int *p);
void first(volatile int *p) {{ call(p); {_FIRST} call(p); }}
void both(volatile int *p) {{ call(p); {_FIRST} call(p); {_SECOND} call(p); }}
void second(volatile int *p) {{ call(p); {_SECOND} call(p); }}
int other(int x) {{ return x * x; }}
"""
_FUNCTIONS = {"first", "second", "both", "other"}

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

#: Target -> flags. All outline at -Oz by themselves.
_TARGETS = {
    "aarch64-linux-gnu": (),
    "riscv32-unknown-elf": ("-march=rv32imac",),
    "riscv64-linux-gnu": (),
    "thumbv7em-none-eabi": (),
    "thumbv8m.main-none-eabi": (),
}
_NEVER = ("-mllvm", "-enable-machine-outliner=never")
_SECTIONS = ((), ("-ffunction-sections",))


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


class OutlinedCodeTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def compiled(self, target: str, *flags: str, source: str = _SOURCE) -> bytes:
        path, made = self.folder / "a.c", self.folder / "a.o"
        path.write_text(source, encoding="ascii")
        given = ["-c", "-Oz", "-w", f"--target={target}", *_TARGETS[target], *flags]
        subprocess.run([CLANG, *given, path, "-o", made], check=True)
        return made.read_bytes()

    def listed(self, content: bytes) -> dict[str, int]:
        """Function -> bytes, as the symbol table has them."""
        file = elf.ElfFile.of_bytes(content)
        (table,) = file.sections_of_kind(elf.SHT_SYMTAB)
        names = file.content(file.section(table.link))
        return {
            elf.string_at(names, symbol.name): symbol.size
            for symbol in file.symbols(table)
            if symbol.kind == elf.STT_FUNC and symbol.size
        }

    def sizes(self, content: bytes) -> dict[str, int]:
        return {function.name: function.size for function in code_of_object(content, "m").functions}

    def test_outlined_bytes_are_charged_to_their_callers(self):
        for target in _TARGETS:
            relaxed = ((), ("-mno-relax",)) if target.startswith("riscv") else ((),)
            for sections, relaxing in itertools.product(_SECTIONS, relaxed):
                with self.subTest(target, sections=sections, relaxing=relaxing):
                    content = self.compiled(target, *sections, *relaxing)
                    listed, sizes = self.listed(content), self.sizes(content)
                    moved = {name: size for name, size in listed.items() if is_outlined(name)}
                    self.assertTrue(moved)
                    self.assertEqual(set(sizes), _FUNCTIONS)
                    self.assertEqual(sum(sizes.values()), sum(listed.values()))
                    gains = {name: sizes[name] - listed[name] for name in _FUNCTIONS}
                    self.assertEqual(gains["other"], 0)
                    self.assertGreater(gains["first"], 0)
                    # Bytes are whole: halves of an odd number differ.
                    self.assertGreaterEqual(gains["both"] + 1, max(gains["first"], gains["second"]))

    def test_shares_by_calls(self):
        for sections in (False, True):
            with self.subTest(sections=sections):
                content = self.compiled("aarch64-linux-gnu", "-x", "assembler", source=assembly(sections))
                self.assertEqual(
                    self.sizes(content),
                    # 6 times 4 bytes for 6 calls, two of them in OUTLINED_FUNCTION_2_0, which is h's.
                    {"f": 8 + 4, "g": 16 + 12, "h": 8 + 12 + 8, "OUTLINED_FUNCTION_3": 4},
                )

    def test_sections_change_nothing(self):
        for target in ("aarch64-linux-gnu", "riscv64-linux-gnu"):
            found = [self.sizes(self.compiled(target, *sections)) for sections in _SECTIONS]
            self.assertEqual(*found)

    def test_later_runs_of_the_outliner(self):
        reruns = ("-mllvm", "-machine-outliner-reruns=3")
        for sections in _SECTIONS:
            content = self.compiled("aarch64-linux-gnu", *sections, *reruns, source=_NESTED)
            self.assertIn("OUTLINED_FUNCTION_2_0", self.listed(content))
            sizes = self.sizes(content)
            self.assertEqual(set(sizes), set("abcdef"))
            self.assertEqual(sum(sizes.values()), sum(self.listed(content).values()))

    def test_names(self):
        for name in ("OUTLINED_FUNCTION_0", "OUTLINED_FUNCTION_2_11", "OUTLINED_FUNCTION_0.content.17"):
            self.assertTrue(is_outlined(name), name)
        for name in ("OUTLINED_FUNCTION_", "f", "my_OUTLINED_FUNCTION_0", "OUTLINED_FUNCTION_0x"):
            self.assertFalse(is_outlined(name), name)

    def test_without_the_outliner_the_symbols_say_it(self):
        for target in _TARGETS:
            content = self.compiled(target, *_NEVER)
            self.assertEqual(self.sizes(content), self.listed(content))

    def test_damaged_objects_are_refused_or_read(self):
        for target in ("aarch64-linux-gnu", "thumbv7em-none-eabi"):
            content = self.compiled(target, "-ffunction-sections")
            for place in range(16, len(content), 7):
                damaged = content[:place] + b"\xff" * 4 + content[place + 4 :]
                try:
                    code_of_object(damaged, "m")
                except RunError as error:
                    self.assertRegex(str(error), "object of m: is damaged")


if __name__ == "__main__":
    unittest.main()
