"""The compilers run in the build folder and in any other, and need only glibc of the machine."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from mlgo.run.locate import runfile

#: glibc's own libraries, versioned together with it.
GLIBC = {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2"}
PROGRAMS = ("development/clang", "development/opt", "development/llc", "release/clang", "release/opt", "release/llc")

C_SOURCE = "#include <stdint.h>\n#include <immintrin.h>\nint64_t f(__m128i x) { return _mm_cvtsi128_si64(x); }\n"
CXX_SOURCE = "template <class T> T f(T x) { return x; }\ntemplate int f<int>(int);\n"


def run(arguments, folder):
    """Output of a program started with an empty environment in `folder`."""
    done = subprocess.run(arguments, cwd=folder, env={}, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode:
        raise AssertionError(f"{' '.join(map(str, arguments))}: {done.returncode}\n{done.stderr[-2000:]}")
    return done.stdout


class StandaloneTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.folder / "x.c").write_text(C_SOURCE)
        (self.folder / "x.cc").write_text(CXX_SOURCE)

    def test_needs_glibc_only(self):
        readelf = runfile("tests/compilers/packaged_readelf")
        for program in PROGRAMS:
            dynamic = run([readelf, "-d", runfile(program)], self.folder)
            needed = set(re.findall(r"Shared library: \[(.*?)\]", dynamic))
            self.assertIn("libc.so.6", needed, f"{program}: {dynamic}")
            self.assertLessEqual(needed, GLIBC, program)
            self.assertNotIn("RUNPATH", dynamic, program)

    def check_headers(self, clang, tree):
        resources = pathlib.Path(run([clang, "-print-resource-dir"], self.folder).strip())
        self.assertEqual(resources, tree / "lib/clang" / os.environ["LLVM_VERSION"].split(".")[0])
        # -nostdinc would hide clang's headers too; stdint.h of clang includes libc's only when hosted.
        run([clang, "-ffreestanding", "-O2", "-c", "x.c", "-o", "x.o"], self.folder)
        self.assertTrue((self.folder / "x.o").stat().st_size)

    def test_where_it_is_built(self):
        for program in ("development/clang", "release/clang"):
            clang = runfile(program)
            self.check_headers(clang, clang.resolve().parent.parent)

    def test_copied_elsewhere(self):
        for program in ("development/clang", "release/clang"):
            tree = runfile(program).resolve().parent.parent
            copy = self.folder / program.replace("/", "-")
            shutil.copytree(tree, copy)
            self.check_headers(copy / "bin/clang", copy)

    def test_clangxx_compiles_cxx(self):
        clangxx = runfile("development/clang++")
        self.assertIn(
            '"-main-file-name" "x.cc"',
            subprocess.run(
                [clangxx, "-###", "-c", "x.cc"], cwd=self.folder, capture_output=True, text=True, check=True
            ).stderr,
        )
        run([clangxx, "-c", "x.cc", "-o", "x.o"], self.folder)

    def test_opt_and_llc_work(self):
        clang = runfile("development/clang")
        run([clang, "-ffreestanding", "-O1", "-S", "-emit-llvm", "x.c", "-o", "x.ll"], self.folder)
        run([runfile("development/opt"), "-O2", "x.ll", "-o", "x.bc"], self.folder)
        log = self.folder / "x.log"
        run(
            [
                runfile("development/llc"),
                "-regalloc-enable-advisor=development",
                f"-regalloc-training-log={log}",
                "x.bc",
                "-o",
                "x.s",
            ],
            self.folder,
        )
        self.assertIn(b'"name":"mask"', log.read_bytes())


if __name__ == "__main__":
    unittest.main()
