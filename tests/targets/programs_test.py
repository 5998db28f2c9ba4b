"""C and C++ programs that the toolchain of another target linked statically run under QEMU and compute what they must.

Arguments: the target, its emulator, a C program, a C++ program.
"""

import subprocess
import sys
import unittest

_TARGET, _EMULATOR, _C, _CXX = sys.argv[1:5]
_SECONDS = 60
# Machine and width of a pointer that the compiler was told.
_MACHINES = {"aarch64": "aarch64 64", "armv7_thumb": "thumb 32", "riscv64": "riscv 64"}


def _sorted_values() -> list[int]:
    """The numbers of hello.c, a linear congruential generator's."""
    state, values = 1, []
    for _ in range(1000):
        state = (state * 1664525 + 1013904223) % 2**32
        values.append(state)
    return sorted(values)


def _run(image: str, *words: str, stdin: str = "") -> subprocess.CompletedProcess:
    command = [_EMULATOR, image, *words]
    return subprocess.run(command, input=stdin, capture_output=True, encoding="utf-8", timeout=_SECONDS, check=False)


class ProgramsTest(unittest.TestCase):
    def test_c(self):
        values = _sorted_values()
        product = values[999] * values[998] // (values[0] + 1)
        figures = f"{values[0]} {values[999]} {product} {values[500] ** 0.5:.6f}"
        ended = _run(_C, "word")
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))
        self.assertEqual(ended.stdout, f"{_MACHINES[_TARGET]} {figures} word\n")

    def test_c_plus_plus(self):
        ended = _run(_CXX, stdin="b a b\n")
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))
        self.assertEqual(ended.stdout, "a=1\nb=2\nno absent\n")

    def test_images_are_of_the_target(self):
        """This machine cannot be what runs them."""
        for image in (_C, _CXX):
            with open(image, "rb") as opened:
                header = opened.read(20)
            self.assertEqual(header[:4], b"\x7fELF")
            machine = int.from_bytes(header[18:20], "little")  # e_machine of ELF: EM_AARCH64, EM_ARM, EM_RISCV.
            self.assertEqual(machine, {"aarch64": 183, "armv7_thumb": 40, "riscv64": 243}[_TARGET])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
