"""What leads the compilers of a build to the recorder: links, environment, which compilers are its own; exit codes."""

import os
import pathlib
import subprocess
from unittest import mock

from mlgo.project.compiler import Compiler
from mlgo.project.recording import (
    compiler_place,
    cross_triple,
    environment_of,
    is_for_another_machine,
    is_own_compiler,
    make_links,
    run_build,
)
from mlgo.project.testing.project_case import ProjectCase
from mlgo.run.exit_codes import RunError


class RecordingTest(ProjectCase):
    def setUp(self):
        super().setUp()
        self.compiler = self.installed()
        self.links = self.folder / "links"

    def environment(self, given=None, **more):
        return environment_of(self.compiler, self.links, given or {}, **more)

    def test_the_environment_of_a_build(self):
        recorder = str(self.compiler.recorders / "clang")
        given = {"PATH": f"{self.links}:/bin", "CC": "ccache gcc -m64", "CXX": "nvcc", "MLGO_NESTED": "1"}
        made = self.environment(given, records=self.folder)
        self.assertEqual(made["MLGO_ALIVE"], str(self.folder))
        self.assertEqual((made["PATH"], made["MLGO_PATH"]), (f"{self.links}:/bin", "/bin"))
        self.assertEqual((made["CC"], made["MLGO_CC"]), (f"ccache {recorder} -m64", "ccache gcc -m64"))
        self.assertEqual((made["CXX"], made["MLGO_CXX"], made["MLGO_CONFIG"]), ("nvcc", "nvcc", ""))
        self.assertEqual(made["MLGO_LLD"], "-fuse-ld=lld -Wl,--undefined-version")
        self.assertNotIn("MLGO_NESTED", made)
        self.assertNotIn("LD_PRELOAD", made)
        library = self.compiler.recorders / "started_compilers.so"
        library.touch()
        made = self.environment({"LD_PRELOAD": "/x.so"})
        self.assertEqual(made["LD_PRELOAD"], f"{library}:/x.so")
        self.assertEqual((made["MLGO_LINKS"], made["MLGO_OWN"]), (str(self.links), os.getcwd()))
        spaced = Compiler(self.folder / "a b")
        self.write("a b/lib/mlgo/record/started_compilers.so")
        self.assertNotIn("LD_PRELOAD", environment_of(spaced, self.links, {}))
        self.assertEqual(made["MLGO_WAS_LD_PRELOAD"], "LD_PRELOAD=/x.so")
        self.assertEqual(self.environment(given, command=("/b/bazel", "build")), given)

    def test_a_compiler_that_is_no_command(self):
        with self.assertRaisesRegex(RunError, "CC='gcc: is not a command: No closing quotation. Quote it"):
            self.environment({"CC": "'gcc"})

    def test_caches_of_compilers_see_the_options_of_a_build(self):
        config = self.folder / "mlgo.cfg"
        made = self.environment(config=config)
        self.assertEqual((made["CCACHE_EXTRAFILES"], made["SCCACHE_RECACHE"]), (str(config), "1"))
        self.assertNotIn("CCACHE_DISABLE", made)
        made = self.environment({"CCACHE_EXTRAFILES": "/x"}, config=config)
        self.assertEqual(made["CCACHE_EXTRAFILES"], f"/x:{config}")

    def test_links(self):
        for name in ("gcc-12", "llvm-ar-14", "llvm-nm", "llvm-profdata", "gcc-ar-12", "other-ar", "clang-format"):
            self.write(f"machine/{name}")
        make_links(self.links, self.compiler, f"{self.folder}/machine:{self.folder}/absent")
        links = {path.name: path for path in (self.links).iterdir()}
        for path in links.values():
            self.assertFalse(path.is_symlink() or path.stat().st_nlink > 1, path)
        self.assertFalse({"ar", "other-ar", "clang-format"} & links.keys())
        for name in ("llvm-ar", "llvm-nm", "llvm-profdata"):
            self.program(f"prefix/bin/{name}", 'echo "${0##*/} $* $MLGO_NESTED"\n')
        recorder = self.compiler.recorders / "clang"
        self.program(str(recorder), 'echo "$0 $MLGO_RECORDER $*"\nexit 3\n')
        for name, code, said in (
            ("gcc-12", 3, f"{links['gcc-12']} {recorder} a b c"),
            ("cc", 3, f"{links['cc']} {recorder} a b c"),
            ("gcc-ar-12", 3, f"{links['gcc-ar-12']} {recorder} a b c"),
            ("llvm-ar-14", 0, "llvm-ar a b c 1"),
            ("llvm-nm", 0, "llvm-nm a b c 1"),
            ("llvm-profdata", 0, "llvm-profdata a b c 1"),
        ):
            done = subprocess.run([links[name], "a b", "c"], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout), (code, f"{said}\n"))

    def test_links_that_another_build_uses_stay(self):
        elsewhere = pathlib.Path(self.write("elsewhere/precious")).parent
        self.links.symlink_to(elsewhere)
        make_links(self.links, self.compiler, "")
        self.assertEqual([path.name for path in elsewhere.iterdir()], ["precious"])
        (self.links / "old-gcc").touch()
        with mock.patch.object(os, "replace", side_effect=KeyboardInterrupt), self.assertRaises(KeyboardInterrupt):
            make_links(self.links, self.compiler, "")
        self.assertTrue(os.access(self.links / "cc", os.X_OK))
        make_links(self.links, self.compiler, "")
        self.assertFalse((self.links / "old-gcc").exists())
        self.assertEqual([path for path in self.folder.iterdir() if path.name.startswith(".path")], [])

    def test_the_compiler_in_a_command(self):
        for words, place in (
            (["ccache", "/usr/bin/g++-12", "-c"], 1),
            (["X=1", "cc", "a.o"], 1),
            (["nvcc", "-c", "cc"], None),
            (["ar", "qc", "x.a"], None),
            (["ld", "-r", "cc"], None),
        ):
            self.assertEqual(compiler_place(words), place, words)

    def test_names_of_compilers(self):
        for name in ("cc", "gcc-12", "x86_64-linux-gnu-g++", "clang++-16", "x86_64-pc-linux-gnu-gcc", "ld"):
            self.assertTrue(is_own_compiler(name, "x86_64"), name)
        for name in ("i686-linux-gnu-gcc", "arm-none-eabi-gcc", "ccache", "gcc-ar", "nvcc", "clang-format", "ld.bfd"):
            self.assertFalse(is_own_compiler(name, "x86_64"), name)

    def test_cross_compilers(self):
        for path, triple in (
            ("/usr/bin/aarch64-linux-gnu-gcc-12", "aarch64-linux-gnu"),
            ("/usr/bin/riscv64-linux-gnu-g++", "riscv64-linux-gnu"),
            # Their defaults are not clang's, or clang does not know their libraries.
            ("/usr/bin/i686-linux-gnu-gcc", None),
            ("/usr/bin/arm-linux-gnueabihf-gcc", None),
            ("/opt/bin/aarch64-linux-gnu-gcc", None),
            ("", None),
        ):
            self.assertEqual(cross_triple(path), triple, path)

    def test_builds_for_another_machine(self):
        for command, expected in (
            (["./configure", "--host=aarch64-linux-gnu"], True),
            (["sh", "-c", "../configure '--host=arm-none-eabi' && make"], True),
            (["dpkg-buildpackage", "--host-arch", "arm64"], False),
            (["dpkg-buildpackage", "--host-arch=arm64"], True),
            (["./configure", "--host=x86_64-linux-gnu", "--hostname=x"], False),
            (["make", "GHOST--host=arm"], False),
        ):
            self.assertEqual(is_for_another_machine(command, "x86_64"), expected, command)
        command = ["./configure", "--host=aarch64-linux-gnu"]
        self.assertNotIn("CC", self.environment(command=command))
        self.assertIn("CC", self.environment(command=command[:1]))

    def test_what_the_compilers_of_a_machine_say(self):
        gcc = self.folder / "gcc"
        for version, lenient in (("12", "yes"), ("13.2", "yes"), ("14", None), ("", None)):
            self.program("gcc", f"echo {version}\n")
            made = self.environment({"CC": str(gcc), "MLGO_LENIENT": "before"})
            self.assertEqual(made.get("MLGO_LENIENT"), lenient, version)
        for answer, without in (("libomp.so", "yes"), ("/usr/lib/libomp.so", None)):
            self.program("prefix/bin/clang", f"echo {answer}\n")
            made = self.environment()
            self.assertEqual(made.get("MLGO_NO_OPENMP"), without, answer)

    def test_exit_codes_of_builds(self):
        environment = {"PATH": "/bin:/usr/bin"}
        self.assertEqual(run_build(["sh", "-c", "exit 9"], environment)[0], 9)
        self.assertEqual(run_build(["sh", "-c", "kill -TERM $$"], environment)[0], 143)
        with self.assertRaisesRegex(RunError, "absent command'?: cannot be started: No such file"):
            run_build([str(self.folder / "absent command")], environment)
