"""A release compiler evaluates a policy for size in functions that are optimised for size, and in no others."""

import pathlib
import re
import subprocess
import tempfile
import unittest

from mlgo.problems.problem import load_problem
from mlgo.run.locate import runfile
from tests.compilers.calls import HELPERS, calls_of_helpers
from tests.compilers.modules import compile_to_object, held_out_modules, pipeline_for_size

PROBLEM = load_problem("inlining_for_size")
POLICY_ON = PROBLEM.release_flags()
#: Compilers with a made-up policy, which inlines other calls than the default, and with the shipped one.
CLANG, SHIPPED, OPT = "tests/compilers/cpp_clang", "release/clang", "tests/compilers/opt"
MINSIZE = "__attribute__((minsize))"
#: Numbers of local labels count all functions of a file, and its inlined functions too.
_LABEL_NUMBER = re.compile(r"(\.L[A-Za-z_]+)\d+(_\d+)?")


def functions(assembly: str) -> dict[str, str]:
    """The instructions of each function, by name."""
    found = re.findall(r"^(\w+):.*?\n(.*?)^\.Lfunc_end\d+:", assembly, re.MULTILINE | re.DOTALL)
    return {name: _LABEL_NUMBER.sub(r"\1\2", body) for name, body in found}


class ForSizeTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.folder / "fast.c").write_text(calls_of_helpers("fast"))
        (self.folder / "small.c").write_text(calls_of_helpers("small"))
        (self.folder / "mixed.c").write_text(calls_of_helpers("fast") + calls_of_helpers("small", MINSIZE))

    def run_tool(self, program: str, *arguments: str) -> str:
        """What a program that must succeed writes to stderr."""
        done = subprocess.run(
            [runfile(program), *arguments], cwd=self.folder, capture_output=True, text=True, timeout=300, check=False
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr

    def made(self, program: str, *arguments: str) -> tuple[bytes, str]:
        """(output file, stderr) of a program."""
        said = self.run_tool(program, *arguments, "-o", "out")
        return (self.folder / "out").read_bytes(), said

    def check_warnings(self, said: str, *modules: str) -> None:
        found = re.findall(
            r"warning: -enable-ml-inliner=release: the policy for inlining_for_size decides only in functions that are "
            r"optimised for size, and (\S+) has none: the default decides. Compile with -Oz or -Os, or remove the "
            r"option",
            said,
        )
        self.assertEqual(found, list(modules), said)

    def check_only_small_functions_differ(self, with_policy: bytes, without: bytes) -> None:
        found, wanted = functions(with_policy.decode()), functions(without.decode())
        for n in range(HELPERS // 2):
            self.assertEqual(found[f"fast_call{n}"], wanted[f"fast_call{n}"])
        different = [name for name in wanted if name.startswith("small") and found.get(name) != wanted[name]]
        self.assertTrue(different, "the policy changed no function for size: was it asked?")

    def test_levels_for_speed_are_the_defaults(self):
        for level in ("-O1", "-O2", "-O3"):
            for program in (CLANG, SHIPPED):
                with self.subTest(level=level, program=program):
                    wanted, _ = self.made(program, level, "-c", "fast.c")
                    found, said = self.made(program, level, "-c", "fast.c", *POLICY_ON)
                    self.assertIs(found == wanted, True)
                    self.check_warnings(said, "fast.c")

    def test_modules_of_a_project_are_the_defaults(self):
        clang = runfile(CLANG)
        for module in held_out_modules():
            wanted = compile_to_object(clang, module, "-O2", self.folder)
            found = compile_to_object(clang, module, "-O2", self.folder, POLICY_ON)
            self.assertIs(found == wanted, True, module.name)

    def test_each_job_warns_once(self):
        said = self.run_tool(CLANG, "-O2", "-c", "fast.c", "small.c", *POLICY_ON)
        self.check_warnings(said, "fast.c", "small.c")

    def test_the_warning_is_a_diagnostic_of_clang(self):
        _, said = self.made(CLANG, "-O2", "-c", "fast.c", "-Wno-backend-plugin", *POLICY_ON)
        self.assertEqual(said, "")

    def test_levels_for_size(self):
        model = runfile("tests/policies/random_inlining_tflite/model.tflite").parent
        for level in ("-Os", "-Oz"):
            with self.subTest(level):
                found, said = self.made(CLANG, level, "-c", "small.c", *POLICY_ON)
                wanted, _ = self.made(
                    "development/clang", level, "-c", "small.c", *PROBLEM.development_flags(None, str(model))
                )
                self.assertEqual(said, "")
                self.assertIs(found == wanted, True)
                self.assertIs(found == self.made(CLANG, level, "-c", "small.c")[0], False)

    def test_functions_with_the_attribute(self):
        wanted, _ = self.made(CLANG, "-O2", "-S", "mixed.c")
        found, said = self.made(CLANG, "-O2", "-S", "mixed.c", *POLICY_ON)
        self.assertEqual(said, "")
        self.check_only_small_functions_differ(found, wanted)

    def front_end(self, level: str, source: str, output: str) -> None:
        """Writes what the front end makes of `source`, so that no call is inlined before the pipeline of a test."""
        self.run_tool(CLANG, level, "-Xclang", "-disable-llvm-passes", "-emit-llvm", "-c", source, "-o", output)

    def test_opt(self):
        for level, source, modules in (("-O2", "fast.c", ["x.bc"]), ("-Oz", "small.c", [])):
            with self.subTest(level):
                self.front_end(level, source, "x.bc")
                passes = "-passes=default<O2>" if level == "-O2" else pipeline_for_size(runfile(OPT))
                wanted, _ = self.made(OPT, passes, "x.bc")
                found, said = self.made(OPT, passes, "x.bc", *POLICY_ON[1::2])
                self.assertIs(found == wanted, bool(modules))
                self.check_warnings(said, *modules)

    def link_bitcode(self) -> None:
        self.front_end("-O2", "fast.c", "fast.bc")
        self.front_end("-Oz", "small.c", "small.bc")
        self.run_tool("tests/compilers/packaged_link", "fast.bc", "small.bc", "-o", "both.bc")

    def test_linked_bitcode_of_two_levels(self):
        self.link_bitcode()
        wanted, _ = self.made(CLANG, "-O2", "-S", "both.bc")
        found, said = self.made(CLANG, "-O2", "-S", "both.bc", *POLICY_ON)
        self.assertEqual(said, "")
        self.check_only_small_functions_differ(found, wanted)

    def test_the_link_of_full_lto(self):
        model = runfile("tests/policies/random_inlining_tflite/model.tflite").parent
        interpreted = PROBLEM.development_flags(None, str(model))[1::2]
        self.link_bitcode()
        passes = pipeline_for_size(runfile(OPT), "lto")
        for bitcode, warned in (("fast.bc", ["fast.bc"]), ("both.bc", []), ("small.bc", [])):
            with self.subTest(bitcode):
                wanted, _ = self.made(OPT, passes, bitcode)
                found, said = self.made(OPT, passes, bitcode, *POLICY_ON[1::2])
                self.assertIs(found == wanted, bool(warned))
                self.check_warnings(said, *warned)
        self.assertIs(found == self.made("development/opt", passes, "small.bc", *interpreted)[0], True)

    def test_back_ends_of_thin_lto(self):
        for level, name in (("-O2", "fast"), ("-Oz", "small")):
            self.front_end(level, f"{name}.c", f"{name}.bc")
            self.run_tool(OPT, "-module-summary", f"{name}.bc", "-o", f"{name}.o")
        # Under this name lld does not know whose linker it stands for.
        linker = "tests/compilers/packaged_ld.lld", "-flavor", "gnu"
        self.run_tool(*linker, "-shared", "--thinlto-index-only", "fast.o", "small.o", "-o", "x.so")
        for name, warned in (("fast", ["fast.o"]), ("small", [])):
            with self.subTest(name):
                back_end = [CLANG, "-O2", "-c", "-x", "ir", f"{name}.o", f"-fthinlto-index={name}.o.thinlto.bc"]
                wanted, _ = self.made(*back_end)
                found, said = self.made(*back_end, *POLICY_ON)
                self.assertIs(found == wanted, bool(warned))
                self.check_warnings(said, *warned)


if __name__ == "__main__":
    unittest.main()
