"""Policies in flags that a build system passes to links too. Arguments: clang, ld.lld, CMake, Ninja."""

import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

from mlgo.problems.problem import load_problem
from mlgo.problems.slots import policy_slots

CLANG, LINKER, CMAKE, NINJA = (pathlib.Path(path).absolute() for path in sys.argv[1:5])
del sys.argv[1:5]
FOLDER = pathlib.Path(__file__).parent

#: Name of a file -> the problem whose policy it switches on; None: it needs no policy.
PROBLEMS = {
    "mlgo-cold.cfg": None,
    "mlgo-size.cfg": "inlining_for_size",
    "mlgo-speed-arm.cfg": "regalloc_eviction",
    "mlgo-speed.cfg": "regalloc_eviction",
}
#: Name of a file -> what stands there besides.
MORE = {
    "mlgo-cold.cfg": ["-mllvm", "-pgo-cold-func-opt=minsize", "-mllvm", "-profile-summary-cutoff-cold=999000"],
    "mlgo-size.cfg": ["-mllvm", "-mlgo-search=2"],
    "mlgo-speed.cfg": ["-mllvm", "-mlgo-callee-saved-cost=32768", "-mllvm", "-mlgo-allocations-with-profile=18"],
}
# Links without the machine's libraries.
_LINK = ["-nostdlib", f"--ld-path={LINKER}", "-Wl,-e,main"]
_CMAKE_LISTS = """\
cmake_minimum_required(VERSION 3.18)
project(one C)
include(CheckCCompilerFlag)
check_c_compiler_flag(-Wall KNOWN)
file(WRITE ${CMAKE_BINARY_DIR}/known "${KNOWN}")
add_executable(one one.c)
"""


def options_of(name: str) -> list[str]:
    lines = (FOLDER / name).read_text(encoding="utf-8").splitlines()
    return [word for line in lines if not line.startswith("#") for word in shlex.split(line)]


class ConfigurationTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        # clang searches the folder that it is in.
        for name in PROBLEMS:
            shutil.copy(FOLDER / name, self.folder)
        (self.folder / "one.c").write_text("int main(void) { return 0; }\n", encoding="utf-8")
        self.run_clang("-c", "one.c")

    def run_clang(self, *words, check=True):
        """What clang says, with warnings as errors; configuration files are found in the folder of the test."""
        command = [CLANG, "--target=x86_64-linux-gnu", f"--config-user-dir={self.folder}", "-Werror", *words]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)
        self.assertTrue(done.returncode == 0 or not check, done.stderr)
        return done.stderr

    def test_each_file_has_the_switch_of_its_policy(self):
        self.assertEqual(PROBLEMS.keys(), {path.name for path in FOLDER.glob("*.cfg")})
        for name, problem in PROBLEMS.items():
            switch = load_problem(problem).release_flags() if problem else []
            self.assertEqual(options_of(name), [*switch, *MORE.get(name, [])])
        self.assertLessEqual(set(PROBLEMS.values()) - {None}, {slot["problem"] for slot in policy_slots().values()})

    def test_a_link_with_a_file_has_no_warning(self):
        for name in PROBLEMS:
            options = options_of(name)
            self.run_clang("-Oz", f"--config={name}", "one.o", *_LINK, "-o", "one")
            # The trap, so that this test sees what it is about.
            said = self.run_clang("-Oz", *options, "one.o", *_LINK, "-o", "one", check=False)
            self.assertIn("argument unused during compilation", said)
            # For flags that no file has.
            between = ["--start-no-unused-arguments", *options, "--end-no-unused-arguments"]
            self.run_clang("-Oz", *between, "one.o", *_LINK, "-o", "one")

    def test_a_compile_with_a_file_has_the_switch(self):
        for name in PROBLEMS:
            jobs = self.run_clang("-###", "-Oz", f"--config={name}", "-c", "one.c")
            words = shlex.split(next(line for line in jobs.splitlines() if '"-cc1"' in line))
            for option in options_of(name):
                self.assertIn(option, words)
            self.assertIn("-Oz", words)

    def cmake(self, flags: list[str]) -> tuple[str, str]:
        """What CMake finds out about -Wall in a project that is built with `flags`, and what it says if that fails."""
        build = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        (self.folder / "CMakeLists.txt").write_text(_CMAKE_LISTS, encoding="utf-8")
        words = ["--target=x86_64-linux-gnu", f"--config-user-dir={self.folder}", "-Werror", *flags]
        settings = {
            "CMAKE_BUILD_TYPE": "MinSizeRel",
            "CMAKE_C_COMPILER": CLANG,
            "CMAKE_C_FLAGS": shlex.join(words),
            "CMAKE_C_FLAGS_MINSIZEREL": "-Oz -DNDEBUG",
            "CMAKE_EXE_LINKER_FLAGS": shlex.join(_LINK),
            "CMAKE_MAKE_PROGRAM": NINJA,
        }
        given = [f"-D{name}={value}" for name, value in settings.items()]
        command = [str(CMAKE), "-G", "Ninja", "-S", str(self.folder), "-B", str(build), *given]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            return "", done.stdout + done.stderr
        done = subprocess.run([CMAKE, "--build", build], capture_output=True, text=True, check=False)
        return (build / "known").read_text(encoding="utf-8"), done.stdout if done.returncode else ""

    def test_cmake_checks_and_builds_with_a_file(self):
        # The packaged clang has no policy: an option that it has stands for the switch of one.
        options = ["-mllvm", "-inline-threshold=15"]
        (self.folder / "mlgo-size.cfg").write_text(" ".join(options), encoding="utf-8")
        self.assertEqual(self.cmake(["--config=mlgo-size.cfg"]), ("1", ""))
        # The trap: CMake links to find out what the compiler can do.
        known, said = self.cmake(options)
        self.assertEqual(known, "")
        self.assertIn("argument unused during compilation", said)


if __name__ == "__main__":
    unittest.main()
