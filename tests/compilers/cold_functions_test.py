"""mlgo-cold.cfg compiles for size what a profile calls cold, alone and with the size policy, and programs do the same.

The programs are made up: functions that call one another in circles, of which a made-up profile calls some hot and
others cold, whatever they do. Arguments: the packaged ld.lld, the sysroot's usr.
"""

import pathlib
import random
import re
import subprocess
import sys
import tempfile
import unittest

from mlgo.run.locate import runfile

_LINKER, _USR = (pathlib.Path(path).absolute() for path in sys.argv[1:3])
del sys.argv[1:3]
_FUNCTIONS = 12
#: Small functions that they call, of rising size: at some of them the size policy decides unlike the default.
_HELPERS = 10
_COLD, _SIZE = "--config=mlgo-cold.cfg", "--config=mlgo-size.cfg"
#: Behind _SIZE, which otherwise takes the default where that makes less code.
_POLICY_ALONE = ("-mllvm", "-mlgo-search=1")


def program(numbers: random.Random) -> str:
    """C whose functions call one another in circles and end after a bounded number of calls."""
    lines = ["#include <stdio.h>", "static unsigned budget = 20000;"]
    lines += [f"unsigned f{n}(unsigned depth, unsigned x);" for n in range(_FUNCTIONS)]
    for n in range(_HELPERS):
        body = " ".join(f"x = (x << {numbers.randrange(1, 9)}) ^ (x >> {step + 1});" for step in range(n + 1))
        lines.append(f"static unsigned g{n}(unsigned x) {{ {body} return x; }}")
    for n in range(_FUNCTIONS):
        first, second = numbers.sample(range(_FUNCTIONS), 2)
        lines += [
            f"unsigned f{n}(unsigned depth, unsigned x) {{",
            f"  if (!depth || !budget) return x ^ {numbers.randrange(1 << 16)}u;",
            "  --budget;",
            f"  for (unsigned i = 0; i < x % {numbers.randrange(2, 9)}; ++i) x = x * {numbers.randrange(99)}u + i;",
            f"  unsigned y = f{first}(depth - 1, x + {numbers.randrange(99)}u);",
            f"  if (y % {numbers.randrange(2, 5)} == 0) y += f{second}(depth - 1, y >> {numbers.randrange(1, 9)});",
            f"  return g{numbers.randrange(_HELPERS)}(y) - g{numbers.randrange(_HELPERS)}(x);",
            "}",
        ]
    lines.append('int main(void) { for (unsigned i = 0; i < 9; ++i) printf("%u\\n", f0(i, i * 77u)); return 0; }')
    return "\n".join(lines) + "\n"


def profile(cold: set[int]) -> str:
    """A sampled profile in text form (llvm/ProfileData/SampleProfReader.h): a count for each line of a function."""
    lines = ["main:90000:1", " 0: 9000"]
    for n in range(_FUNCTIONS):
        count = 1 if n in cold else 1_000_000
        lines += [f"f{n}:{count * 8}:{count}", *(f" {line}: {count}" for line in range(1, 7))]
    return "\n".join(lines) + "\n"


class ColdFunctionsTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.source = self.folder / "program.c"

    def clang(self, *words: str) -> pathlib.Path:
        """The output of a compile that must succeed without a warning."""
        output = self.folder / "output"
        sysroot = f"--sysroot={_USR.resolve().parent}"
        command = [str(runfile("release/clang")), sysroot, "-Werror", *words, str(self.source)]
        done = subprocess.run([*command, "-o", output], capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return output

    def says(self, *words: str) -> str:
        """What the program writes if it is compiled so."""
        linked = self.clang(*words, "-static", f"--ld-path={_LINKER}")
        return subprocess.run([linked], capture_output=True, text=True, timeout=60, check=True).stdout

    def for_size(self, *words: str) -> set[int]:
        """Numbers of the functions that have `minsize` if they are compiled so."""
        text = self.clang(*words, "-S", "-emit-llvm").read_text(encoding="utf-8")
        small = set(re.findall(r"^attributes (#\d+) = {[^}]*\bminsize\b", text, re.MULTILINE))
        found = re.findall(r"^define [^\n]*@f(\d+)\([^)]*\)[^#\n]*(#\d+)", text, re.MULTILINE)
        self.assertEqual(len(found), _FUNCTIONS)
        return {int(number) for number, attributes in found if attributes in small}

    def test_circles_of_cold_and_hot_functions(self):
        policy_changed = 0
        for seed in range(8):
            with self.subTest(seed=seed):
                numbers = random.Random(seed)
                self.source.write_text(program(numbers), encoding="utf-8")
                cold = set(numbers.sample(range(_FUNCTIONS), _FUNCTIONS // 2))
                (self.folder / "profile").write_text(profile(cold), encoding="utf-8")
                used = ["-O2", "-gline-tables-only", f"-fprofile-sample-use={self.folder / 'profile'}"]
                self.assertEqual(self.for_size(*used), set())
                self.assertEqual(self.for_size(*used, _COLD), cold)
                wanted = self.says("-O0")
                self.assertEqual(len(wanted.splitlines()), 9)
                for more in ([_COLD], [_COLD, _SIZE], [_COLD, _SIZE, *_POLICY_ALONE]):
                    self.assertEqual(self.says(*used, *more), wanted, more)
                plain = self.clang(*used, _COLD, "-c").read_bytes()
                policy_changed += plain != self.clang(*used, _COLD, _SIZE, *_POLICY_ALONE, "-c").read_bytes()
        self.assertGreater(policy_changed, 0, "the policy changed no program: was it asked?")

    def test_without_a_profile_it_changes_nothing(self):
        self.source.write_text(program(random.Random(0)), encoding="utf-8")
        self.assertEqual(self.clang("-O2", _COLD, "-c").read_bytes(), self.clang("-O2", "-c").read_bytes())


if __name__ == "__main__":
    unittest.main()
