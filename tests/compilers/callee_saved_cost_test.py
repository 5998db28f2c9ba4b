"""-mlgo-callee-saved-cost changes functions whose calls execute little, and leaves all others as they are."""

import pathlib
import subprocess
import tempfile
import unittest

from mlgo.run.locate import runfile
from tests.compilers.profiles import profiled

RELEASE, DEVELOPMENT = "release/clang", "development/clang"
TARGET = "--target=x86_64-linux-gnu"
COST = ("-mllvm", "-mlgo-callee-saved-cost=32768")
LLVM_COST = ("-mllvm", "-regalloc-csr-first-time-cost=32768")
# Values live across a call that seldom happens: without a cost they stand in callee-saved registers, whose save and
# restore every call of the function executes.
SHORT = """
int slow(int);
ATTRIBUTES int f(int a, int b, int c, int d) {
  if (__builtin_expect(a == b, 0))
    c += slow(c) + slow(d);
  return a * 3 + b * c + d;
}
"""
# The same in front of nested loops. Without a profile LLVM takes a loop for some thirty rounds.
LONG = """
int slow(int);
int f(int a, int b, int c, int d, const int *data) {
  if (__builtin_expect(a == b, 0))
    c += slow(c) + slow(d);
  for (int i = 0; i < d; i++)
    for (int j = 0; j < d; j++)
      a = a * 3 + data[i] / (j | 1);
  return a * 3 + b * c + d;
}
"""


class CalleeSavedCostTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def compiled(self, source: str, *flags: str, program: str = RELEASE, suffix: str = "c", makes: str = "-c") -> bytes:
        """The object of `source`. The compile must succeed in silence."""
        (self.folder / f"x.{suffix}").write_text(source, encoding="utf-8")
        output = [makes, f"x.{suffix}", "-o", "x.o"]
        command = [str(runfile(program)), TARGET, "-O2", "-Wno-override-module", *output, *flags]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return (self.folder / "x.o").read_bytes()

    def saved_registers(self, source: str, *flags: str) -> int:
        """The push instructions of the assembly of `source`."""
        return self.compiled(source, *flags, makes="-S").count(b"\tpushq\t")

    def test_a_short_function_saves_fewer_registers(self):
        source = SHORT.replace("ATTRIBUTES", "")
        # In both compilers, and as LLVM's cost for all functions does it.
        for program in (RELEASE, DEVELOPMENT):
            with self.subTest(program):
                default, costly = (self.compiled(source, *flags, program=program) for flags in ((), COST))
                self.assertNotEqual(default, costly)
                self.assertEqual(costly, self.compiled(source, *LLVM_COST, program=program))
        pushes, fewer = (self.saved_registers(source, *flags) for flags in ((), COST))
        self.assertGreater(pushes, fewer)

    def test_other_functions_keep_llvms_cost(self):
        for name, source in (
            ("long", LONG),
            *((each, SHORT.replace("ATTRIBUTES", f"__attribute__(({each}))")) for each in ("cold", "minsize")),
        ):
            with self.subTest(name):
                default = self.compiled(source)
                self.assertEqual(self.compiled(source, *COST), default)
                # It is not that there is nothing to change.
                self.assertNotEqual(self.compiled(source, *LLVM_COST), default)
        source = SHORT.replace("ATTRIBUTES", "")
        self.assertEqual(self.compiled(source, "-Os", *COST), self.compiled(source, "-Os"))

    def test_the_longest_call_is_a_limit(self):
        default, costly = (self.compiled(LONG, *flags) for flags in ((), LLVM_COST))
        unlimited = ("-mllvm", "-mlgo-callee-saved-longest-call=1000000")
        self.assertEqual(self.compiled(LONG, *COST, *unlimited), costly)
        source = SHORT.replace("ATTRIBUTES", "")
        limited = ("-mllvm", "-mlgo-callee-saved-longest-call=1")
        self.assertEqual(self.compiled(source, *COST, *limited), self.compiled(source))
        self.assertNotEqual(default, costly)

    def test_functions_that_a_profile_calls_cold_keep_llvms_cost(self):
        listing = self.compiled(SHORT.replace("ATTRIBUTES", ""), "-emit-llvm", makes="-S").decode()
        for calls, hot_from, is_cold in ((0, None, True), (5, None, False), (5, 10**6, True), (5, 5, False)):
            with self.subTest(calls=calls, hot_from=hot_from):
                source = profiled(listing, calls, hot_from)
                default, costly = (self.compiled(source, *flags, suffix="ll") for flags in ((), COST))
                self.assertEqual(default == costly, is_cold)


if __name__ == "__main__":
    unittest.main()
