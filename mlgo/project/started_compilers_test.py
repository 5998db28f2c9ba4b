"""A compiler that a build starts by its path is started through the link of its name, in every way of starting it."""

import pathlib
import shlex
import shutil
import subprocess
import sys

from mlgo.project.compiler import Compiler
from mlgo.project.recording import make_links
from mlgo.project.testing.project_case import ProjectCase

LIBRARY = pathlib.Path(__file__).with_name("started_compilers.so")


class StartedCompilersTest(ProjectCase):
    def setUp(self):
        super().setUp()
        self.program("links/gcc", 'echo "recorded $MLGO_ASKED $*"\n')
        for name in ("machine/gcc", "machine/other", "project/gcc"):
            # A program, which prints its words.
            shutil.copy("/bin/echo", self.write(name))

    def run_command(self, *words, **variables):
        environment = {
            "PATH": "/usr/bin:/bin",
            "LD_PRELOAD": str(LIBRARY.resolve()),
            "MLGO_LINKS": str(self.folder / "links"),
            "MLGO_OWN": str(self.folder / "project"),
            "MLGO_ALIVE": str(self.folder),
            **variables,
        }
        done = subprocess.run(
            words, env=environment, cwd=self.folder, capture_output=True, text=True, check=True, timeout=60
        )
        return done.stdout.strip()

    def test_every_way(self):
        gcc = str(self.folder / "machine/gcc")
        expected = f"recorded {gcc} -c a.c"
        self.assertEqual(self.run_command("sh", "-c", f"{shlex.quote(gcc)} -c a.c"), expected)
        self.assertEqual(self.run_command("env", gcc, "-c", "a.c"), expected)
        for call in (
            "os.execv(path, words)",
            "os.execve(path, words, os.environ)",
            "os.execvp(path, words)",
            "os.waitpid(os.posix_spawn(path, words, os.environ), 0)",
            "os.waitpid(os.posix_spawnp(path, words, os.environ), 0)",
            "__import__('subprocess').run(words)",
        ):
            program = f"import os; path = {gcc!r}; words = [path, '-c', 'a.c']; {call}"
            self.assertEqual(self.run_command(sys.executable, "-c", program), expected, call)

    def test_a_name_on_a_path_of_the_build(self):
        gcc = self.folder / "machine/gcc"
        for folders in (f"/absent:{gcc.parent}", f"{gcc.parent}:{self.folder / 'links'}"):
            for words in (("gcc", "-c"), ("sh", "-c", "gcc -c; :"), ("nice", "gcc", "-c")):
                said = self.run_command("env", f"PATH={folders}:/usr/bin:/bin", *words)
                self.assertEqual(said, f"recorded {gcc} -c", words)
        # The link, and a wrapper of the project, are started themselves.
        self.assertEqual(self.run_command("env", f"PATH={self.folder / 'links'}", "gcc"), "recorded")
        gcc.write_text("#!/bin/sh\necho wrapper\n")
        self.assertEqual(self.run_command("env", f"PATH={gcc.parent}:/usr/bin:/bin", "gcc"), "wrapper")

    def test_what_is_started_as_it_is(self):
        for name in ("machine/other", "project/gcc"):
            self.assertEqual(self.run_command("env", str(self.folder / name), "-v"), "-v", name)
        gcc = str(self.folder / "machine/gcc")
        self.assertEqual(self.run_command("env", gcc, "-v", MLGO_NESTED="1"), "-v")
        self.assertEqual(self.run_command("env", gcc, "-v", MLGO_LINKS=""), "-v")
        # By a server that the build left.
        gone = str(self.folder / "gone")
        self.assertEqual(self.run_command("env", gcc, "-v", MLGO_ALIVE=gone), "-v")
        self.assertEqual(self.run_command("env", "-i", gcc, "-v", MLGO_ALIVE=gone), "-v")
        self.assertEqual(self.run_command("env", "machine/gcc", "-v"), "-v")
        # A wrapper of the project, which starts the compiler itself.
        (self.folder / "machine/gcc").write_text("#!/bin/sh\necho wrapper\n")
        self.assertEqual(self.run_command("env", gcc, "-v"), "wrapper")

    def test_a_build_that_clears_the_variables(self):
        gcc = str(self.folder / "machine/gcc")
        self.assertEqual(self.run_command("env", "-i", gcc, "-c", "a.c"), f"recorded {gcc} -c a.c")
        self.assertEqual(self.run_command("env", "-i", "sh", "-c", f"{gcc} -c; :"), f"recorded {gcc} -c")
        # By its name, on a PATH of the build's own.
        path = f"PATH={self.folder / 'machine'}:/usr/bin:/bin"
        for words in (["gcc", "-c"], ["sh", "-c", "gcc -c; :"], ["env", "env", "-i", path, "gcc", "-c"]):
            said = self.run_command("env", "-i", path, *words)
            self.assertIn(said, ("recorded  -c", f"recorded {gcc} -c"), words)
        self.assertEqual(self.run_command("env", "-i", "PATH=/absent", "gcc", "-c"), "recorded  -c")
        program = f"import subprocess; subprocess.run([{gcc!r}, '-c'], env={{'X': '1'}})"
        self.assertEqual(self.run_command(sys.executable, "-c", program), f"recorded {gcc} -c")

    def test_variables_that_stay_away(self):
        # Below record.sh, in programs that start no compilers, and in builds that check what compilers read.
        gcc = str(self.folder / "machine/gcc")
        self.assertEqual(self.run_command("env", "-i", gcc, "-c", MLGO_NESTED="1"), "-c")
        self.assertEqual(self.run_command("env", "-i", "printenv"), "")
        shutil.copy("/usr/bin/env", self.folder / "bazel")
        self.assertEqual(self.run_command("env", str(self.folder / "bazel"), gcc, "-c"), "-c")
        # They have the variables of the user.
        links = self.folder / "links"
        own = {"CC": "/prefix/lib/mlgo/record/clang -m64", "CXX": "/prefix/lib/mlgo/record/clang++"}
        for path in (f"{links}:/bin:/usr/bin", f"/bin:{links}:/usr/bin", f"/bin:/usr/bin:{links}"):
            said = self.run_command("env", str(self.folder / "bazel"), **own, PATH=path, MLGO_WAS_CC="CC=gcc -m64")
            self.assertEqual(sorted(said.splitlines()), ["CC=gcc -m64", "PATH=/bin:/usr/bin"], path)
        said = self.run_command("env", str(self.folder / "bazel"), CC="clang-16", MLGO_WAS_CC="CC=gcc")
        self.assertEqual(sorted(said.splitlines()), ["CC=clang-16", "PATH=/usr/bin:/bin"])

    def test_archivers_that_lead_to_those_of_clang(self):
        prefix = Compiler(self.folder / "prefix")
        prefix.bin.mkdir(parents=True)
        shutil.copy("/bin/echo", prefix.tool("llvm-ar"))
        (self.folder / "machine/llvm-ar").touch()
        make_links(self.folder / "links", prefix, str(self.folder / "machine"))
        for program in (str(self.folder / "links/llvm-ar"), prefix.tool("llvm-ar")):
            self.assertEqual(self.run_command("env", program, "qc", MLGO_BIN=str(prefix.bin)), "qc")

    def test_the_projects_copy_of_clang(self):
        gcc = str(self.folder / "project/gcc")
        self.assertEqual(self.run_command("env", gcc, MLGO_BIN=str(self.folder / "project")), f"recorded {gcc}")

    def test_one_that_is_absent(self):
        with self.assertRaises(subprocess.CalledProcessError):
            self.run_command("env", str(self.folder / "absent/gcc"))
