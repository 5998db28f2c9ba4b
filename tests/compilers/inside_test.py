"""Programs list the policies inside; a policy that is required and missing is one error."""

import pathlib
import re
import subprocess
import tempfile
import unittest

from mlgo.problems.problem import load_problem
from mlgo.problems.slots import policy_slots
from mlgo.run.locate import runfile
from tests.compilers.modules import pipeline_for_size

ATTRIBUTES = {slot["problem"]: name for name, slot in policy_slots().items()}
#: A few live ranges to allocate and a call to inline.
SOURCE = """\
static int twice(int x) { return 2 * x; }
int f(int a, int b, int c) { return twice(a) * b + twice(b) / (c + a) - twice(c); }
"""
MACHINE_CODE = """\
name: f
tracksRegLiveness: true
body: |
  bb.0:
    liveins: $edi
    %0:gr32 = COPY $edi
    $eax = COPY %0
    RET64 implicit $eax
"""
_INSIDE = r"run none, made up \(random\), seed \d+, sha256:[0-9a-f]{16}, backend cpp"


class InsideTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.folder / "x.c").write_text(SOURCE)
        (self.folder / "x.mir").write_text(MACHINE_CODE)

    def run_program(self, program, *arguments):
        return subprocess.run(
            [runfile(program), *arguments], cwd=self.folder, capture_output=True, text=True, timeout=120, check=False
        )

    def lines(self, program, *arguments):
        """(other lines, those about policies) of what a program prints."""
        done = self.run_program(program, *arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        ours = [line for line in done.stdout.splitlines() if line.startswith("mlgo policy: ")]
        return [line for line in done.stdout.splitlines() if line not in ours], ours

    def check_inside(self, ours):
        self.assertEqual(len(ours), len(ATTRIBUTES))
        for name, line in zip(ATTRIBUTES, ours):
            self.assertRegex(line, rf"^mlgo policy: {name}, {_INSIDE}$")

    def test_version(self):
        others, ours = self.lines("tests/compilers/cpp_clang", "--version")
        self.check_inside(ours)
        packaged, none = self.lines("tests/compilers/packaged_clang", "--version")
        self.assertEqual(others[0], packaged[0])
        self.assertEqual(none, [])
        for program in ("opt", "llc"):
            self.check_inside(self.lines(f"tests/compilers/{program}", "--version")[1])

    def test_listing(self):
        for program, *arguments in [
            ("tests/compilers/cpp_clang", "-mllvm", "-mlgo-policies"),
            ("tests/compilers/cpp_clang", "-cc1", "-mllvm", "-mlgo-policies", "x.c"),
            ("tests/compilers/opt", "-mlgo-policies"),
            ("tests/compilers/llc", "-mlgo-policies"),
        ]:
            with self.subTest(program=program, arguments=arguments):
                others, ours = self.lines(program, *arguments)
                self.assertEqual(others, [])
                self.check_inside(ours)

    def test_listing_of_a_compiler_without_policies(self):
        for program in ("clang", "opt", "llc"):
            arguments = ["-mllvm", "-mlgo-policies"] if program == "clang" else ["-mlgo-policies"]
            _, ours = self.lines(f"development/{program}", *arguments)
            self.assertEqual(ours, [f"mlgo policy: {name}, none" for name in ATTRIBUTES])

    def check_refusal(self, problem, program, *arguments):
        done = self.run_program(program, *arguments, "-o", "out")
        self.assertEqual(done.returncode, 1, done.stderr)
        sentences = [line for line in done.stderr.splitlines() if "error" in line.lower()]
        self.assertEqual(len(sentences), 1, done.stderr)
        self.assertIn(
            f"-{problem.advisor_flag}=release: this program has no policy for {problem.name} inside; put one in with "
            f"{ATTRIBUTES[problem.name]} of mlgo_clang, mlgo_opt or mlgo_llc (//release:defs.bzl), or answer through "
            f"-{problem.interactive_flag}",
            sentences[0],
        )
        self.assertNotRegex(done.stderr, re.compile("PLEASE submit|Stack dump", re.IGNORECASE))

    def test_clang_without_the_policy(self):
        for name in ATTRIBUTES:
            with self.subTest(name):
                problem = load_problem(name)
                self.check_refusal(problem, "development/clang", "-Oz", "-c", "x.c", *problem.release_flags())

    def test_opt_and_llc_without_the_policy(self):
        done = self.run_program(
            "development/clang", "-O0", "-Xclang", "-disable-O0-optnone", "-S", "-emit-llvm", "x.c", "-o", "x.ll"
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        inlining, eviction, priority = (
            load_problem(name) for name in ("inlining_for_size", "regalloc_eviction", "regalloc_priority")
        )
        self.check_refusal(
            inlining,
            "development/opt",
            pipeline_for_size(runfile("development/opt")),
            f"-{inlining.advisor_flag}=release",
            "x.ll",
        )
        for problem in (eviction, priority):
            self.check_refusal(problem, "development/llc", "-O2", f"-{problem.advisor_flag}=release", "x.ll")
            # The new pass manager makes its advisors elsewhere.
            self.check_refusal(
                problem,
                "development/llc",
                "-mtriple=x86_64",
                "-passes=greedy",
                f"-{problem.advisor_flag}=release",
                "x.mir",
            )

    def test_release_compiler_refuses_to_train(self):
        for name in ("regalloc_eviction", "regalloc_priority"):
            problem = load_problem(name)
            done = self.run_program(
                "tests/compilers/cpp_clang", "-O2", "-c", "x.c", "-mllvm", f"-{problem.advisor_flag}=development"
            )
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"-{problem.advisor_flag}: this compiler has no such advisor", done.stderr)
            self.assertNotIn("PLEASE submit", done.stderr)


if __name__ == "__main__":
    unittest.main()
