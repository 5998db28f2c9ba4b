"""The executed cost of each function as a file of the release compilers (-mlgo-executed-cost-file)."""

import pathlib
import subprocess
import tempfile
import unittest

from mlgo.compiler.training_log import read_training_log
from mlgo.problems.executed_cost import ExecutedCost
from mlgo.problems.problem import load_problem
from mlgo.project.estimate import FunctionCost, read_costs
from mlgo.run.locate import runfile
from tests.compilers import pressure
from tests.compilers.profiles import profiled

DEVELOPMENT, RELEASE, LLC = "development/clang", "release/clang", "release/llc"
TARGET = pressure.SMALL[0]
OPTION = "mlgo-executed-cost-file"
SAVE_AND_RESTORE = 2
SOURCE = (
    pressure.loop("long", pressure.ARITHMETIC["integer"], 24, seed=1, arms=3).replace(" f(", " f1(")
    + """
long g(void) __asm__("named g");
static __attribute__((noinline)) long local(const long *p) { return p[1] * 3 + p[2]; }
long saved(long *p, long a, long b) { g(); p[1] = a; return p[0] + b + local(p); }
"""
)


class ExecutedCostFileTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.folder / "x.c").write_text(SOURCE)

    def run_tool(self, program: str, *words: str) -> subprocess.CompletedProcess:
        command = [str(runfile(program)), *words]
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=300, check=False)

    def made(self, *words: str, level: str = "-O2") -> bytes:
        done = self.run_tool(RELEASE, *TARGET.flags, level, "-c", "x.c", "-o", "x.o", *words)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return (self.folder / "x.o").read_bytes()

    def costs(self, *options: str, level: str = "-O2") -> dict[str, FunctionCost]:
        """By function. Args: options: of LLVM."""
        words = [word for option in (f"-{OPTION}=x.costs", *options) for word in ("-mllvm", option)]
        self.made(*words, level=level)
        return {one.name: one for one in read_costs((self.folder / "x.costs").read_text("ascii"))}

    def test_the_costs_are_those_of_training_logs(self):
        found = self.costs()
        self.assertEqual([one.is_local for one in found.values()], [False, False, True])
        self.assertEqual({one.calls for one in found.values()}, {None})
        logged = []
        for weights in ("1,0,0", "0,1,0", "0,0,1"):
            problem = load_problem("regalloc_priority").with_cost(ExecutedCost.parse(weights))
            flags = problem.development_flags("x.log", None)
            done = self.run_tool(DEVELOPMENT, *TARGET.flags, "-O2", "-c", "x.c", "-o", "x.o", *flags)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            log = read_training_log(str(self.folder / "x.log"), problem)
            self.assertEqual(list(log.contexts), list(found))
            logged.append(log.outcomes.tolist())
        for one, instructions, references, saved in zip(found.values(), *logged, strict=True):
            self.assertAlmostEqual(one.instructions / (instructions + SAVE_AND_RESTORE * saved), 1, places=5)
            self.assertAlmostEqual(one.references / (references + SAVE_AND_RESTORE * saved), 1, places=5)

    def test_the_object_and_the_file_are_always_the_same(self):
        plain = self.made()
        first = self.costs()
        self.assertEqual((self.folder / "x.o").read_bytes(), plain)
        self.assertEqual(self.costs(), first)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["x.c", "x.costs", "x.o"])
        # The file of an earlier compile stays where one fails.
        self.assertEqual(
            self.run_tool(RELEASE, "-c", "-DSOURCE=", "absent.c", "-mllvm", f"-{OPTION}=x.costs").returncode, 1
        )
        self.assertEqual(len(read_costs((self.folder / "x.costs").read_text())), len(first))

    def test_names_that_a_file_cannot_have(self):
        (self.folder / "x.c").write_text('void f(void) __asm__("a\\tb c"); void f(void) {}')
        self.assertEqual(list(self.costs()), ["a\tb c"])

    def test_a_module_without_functions(self):
        (self.folder / "x.c").write_text("int x;\n")
        self.assertEqual(self.costs(), {})

    def test_calls_of_a_profile(self):
        done = self.run_tool(RELEASE, *TARGET.flags, "-O2", "-S", "-emit-llvm", "x.c", "-o", "x.ll")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        (self.folder / "x.ll").write_text(profiled((self.folder / "x.ll").read_text(), 5, None))
        done = self.run_tool(LLC, "-O2", "-filetype=obj", "x.ll", "-o", "x.o", f"-{OPTION}=x.costs")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        found = read_costs((self.folder / "x.costs").read_text("ascii"))
        self.assertEqual([one.calls for one in found], [5] * 3)

    def test_a_search_writes_what_it_chose(self):
        default, searched = self.costs(), self.costs("-mlgo-allocations=18")
        sums = [[one.instructions + one.references for one in found.values()] for found in (searched, default)]
        for after, before in zip(*sums, strict=True):
            self.assertLessEqual(after, before)
        self.assertLess(sums[0][0], sums[1][0])
        small = self.made("-mllvm", "-mlgo-search=4", level="-Oz")
        self.assertEqual(list(self.costs("-mlgo-search=4", level="-Oz")), list(default))
        self.assertEqual((self.folder / "x.o").read_bytes(), small)

    def test_a_compile_that_allocates_no_registers_warns(self):
        for words in (("-c", "-flto"), ("-c", "-flto=thin"), ("-S", "-emit-llvm"), ("-c", "-O0")):
            with self.subTest(words):
                done = self.run_tool(RELEASE, *TARGET.flags, "-O2", *words, "x.c", "-mllvm", f"-{OPTION}=x.costs")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(done.stderr.count(f"warning: -{OPTION}: has no effect, because"), 1)
                self.assertFalse((self.folder / "x.costs").exists())

    def test_what_is_no_file_is_written_to(self):
        # Links, because a process of root could put a file in the place of a device: /dev/stdout is a link too.
        words = ("-O2", "-c", "x.c", "-o", "x.o", "-mllvm", f"-{OPTION}=link")
        link = self.folder / "link"
        for target in ("/dev/stdout", "real"):
            link.symlink_to(target)
            done = self.run_tool(RELEASE, *TARGET.flags, *words)
            self.assertEqual((done.returncode, done.stderr, link.is_symlink()), (0, "", True))
            self.assertEqual(len(read_costs(done.stdout or (self.folder / "real").read_text())), 3)
            link.unlink()
        link.symlink_to("/dev/full")
        done = self.run_tool(RELEASE, *TARGET.flags, *words)
        self.assertIn(f"-{OPTION}: cannot write link: No space left on device", done.stderr)
        self.assertEqual(done.returncode, 1)

    def test_refused(self):
        (self.folder / "folder").mkdir()
        for value, sentence in (
            ("", f"-{OPTION}: names no file. Give one"),
            ("absent/x", f"-{OPTION}: cannot write absent/x: No such file or directory"),
            ("folder", f"-{OPTION}: cannot write folder: "),
        ):
            with self.subTest(value):
                done = self.run_tool(RELEASE, "-O2", "-c", "x.c", "-o", "x.o", "-mllvm", f"-{OPTION}={value}")
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn(sentence, done.stderr)
                self.assertNotIn("PLEASE submit", done.stderr)
        self.assertEqual(list((self.folder / "folder").parent.glob("folder.*")), [])
        linker = runfile(RELEASE).resolve().with_name("ld.lld")
        done = subprocess.run([linker, "-mllvm", f"-{OPTION}=x"], capture_output=True, text=True, check=False)
        self.assertIn(f"Unknown command line argument '-{OPTION}=x'", done.stderr)


if __name__ == "__main__":
    unittest.main()
