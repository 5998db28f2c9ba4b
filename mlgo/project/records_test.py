"""record.sh runs a fake compiler as asked, and its records are read back."""

import os
import pathlib
import subprocess

from mlgo.project.command_line import Compile, understand
from mlgo.project.recording import read_records
from mlgo.project.testing.project_case import ProjectCase

#: Prints its words and the tool it is; fails where --fail is among them, as the machine's compiler does not.
FAKE = """#!/bin/sh
printf '%s: %s\\n' "${0##*/}" "$*"
case " $* " in *' --fail '*) exit 3 ;; esac
"""

#: A clang that knows neither -fipa-pta nor a number of jobs nor -fcall-used-rax.
GCC_OPTIONS = """#!/bin/sh
for word; do
    case $word in
    -fipa-pta) echo "clang: error: unknown argument '$word'; did you mean '-fno-pta'?" >&2; failed=yes ;;
    -pass-exit-codes) echo "clang: error: unsupported option '$word'" >&2; failed=yes ;;
    -fcall-used-rax) echo "clang: error: unknown argument: '$word'" >&2; failed=yes ;;
    --fail-too) failed=yes ;;
    -flto=4) echo "clang: error: unsupported argument '4' to option '-flto='" >&2; failed=yes ;;
    esac
done
[ -z "$failed" ] || exit 1
echo "clang: $*"
"""


#: Of the machine.
OTHER = FAKE.replace("--fail", "--fail-too")


class RecordsTest(ProjectCase):
    def setUp(self):
        super().setUp()
        self.records, self.links = self.folder / "records", self.folder / "links"
        self.records.mkdir()
        self.links.mkdir()
        for name in ("bin/clang", "bin/clang++"):
            self.program(name, FAKE)
        for name in ("gcc", "ld", "ar"):
            self.program(f"machine/{name}", OTHER)
        for name in ("gcc", "g++", "clang", "ld", "ar"):
            (self.links / name).symlink_to(pathlib.Path(__file__).resolve().with_name("record.sh"))
        self.path = f"{self.folder / 'machine'}:/usr/bin:/bin"

    def run_tool(self, name, *words, code=0, folder=None, stdin=os.devnull, **variables):
        environment = {
            "PATH": f"{self.links}:{self.path}",
            "MLGO_PATH": self.path,
            "MLGO_BIN": str(self.folder / "bin"),
            "MLGO_RECORD": str(self.records),
            "MLGO_CC": "gcc",
            "MLGO_LLD": "-fuse-ld=lld -Wl,--other",
            **variables,
        }
        command, folder = [self.links / name, *words], folder or self.folder
        with open(stdin) as given:
            done = subprocess.run(command, cwd=folder, env=environment, stdin=given, capture_output=True, text=True)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout, done.stderr

    def read(self):
        records, broken = read_records(self.records)
        self.assertEqual(broken, 0)
        return records

    def test_words_of_every_kind(self):
        words = ["-c", "a b.c", "-DX='\"%s\\n'", "", "-o", "x\ny.o"]
        self.assertEqual(self.run_tool("gcc", *words)[0], f"clang: {' '.join(words)}\n")
        (record,) = self.read()
        self.assertEqual((record.tool, record.directory, record.by), ("clang", str(self.folder), "clang"))
        self.assertEqual(record.words, tuple(words))

    def test_which_compiler_is_run_with_which_words(self):
        lenient = "-Wno-error=implicit-function-declaration -Wno-error=implicit-int"
        config, own = {"MLGO_CONFIG": "/a b.cfg", "MLGO_RECORD": ""}, "clang: --config=/a b.cfg"
        for name, words, variables, shown in (
            ("g++", "", {}, "clang++: "),
            ("ld", "-r", {}, "ld: -r"),
            ("ar", "t", {"MLGO_NESTED": "1"}, "ar: t"),
            ("gcc", "-c", config, f"{own} -c"),
            # Old C on a machine that takes it.
            ("gcc", "-c a.c", {"MLGO_LENIENT": "yes"}, f"clang: {lenient} -c a.c"),
            ("g++", "-c a.cc", {"MLGO_LENIENT": "yes"}, "clang++: -c a.cc"),
            # Assembly is for the machine's assembler.
            ("gcc", "-S a.c", {}, "clang: -fno-integrated-as -S a.c"),
            # CMake asks gcc for modules.
            ("g++", "-E -fdeps-format=p1689r5 a.cc", {"MLGO_CXX": "gcc"}, "gcc: -E -fdeps-format=p1689r5 a.cc"),
            # The name of the machine is that of its compiler.
            ("gcc", "-dumpmachine", {}, "gcc: -dumpmachine"),
            ("g++", "-m64 --print-multiarch", {"MLGO_CXX": "gcc"}, "gcc: -m64 --print-multiarch"),
            ("gcc", "-dumpfullversion -dumpversion", {}, "gcc: -dumpfullversion -dumpversion"),
            ("gcc", "-Q --help=optimizers", {}, "gcc: -Q --help=optimizers"),
            ("gcc", "-print-sysroot", {"MLGO_CC": ""}, "clang: -print-sysroot"),
            # A pipe cannot be read twice.
            ("gcc", "-x c /dev/fd/63 -c", {}, "gcc: -x c /dev/fd/63 -c"),
            ("gcc", "-S a.c -o /dev/stdout", {}, "gcc: -S a.c -o /dev/stdout"),
            # OpenMP without its library is for the machine's compiler.
            ("gcc", "-fopenmp -c a.c", {"MLGO_NO_OPENMP": "yes"}, "gcc: -fopenmp -c a.c"),
            ("gcc", "-fopenmp -c a.c", {"MLGO_NO_OPENMP": "yes", "MLGO_CC": ""}, "clang: -fopenmp -c a.c"),
            ("gcc", "-fopenmp -c a.c", {}, "clang: -fopenmp -c a.c"),
            # Objects are merged, and questions are answered, without a configuration.
            ("gcc", "-r a.o -o b.o", config, "clang: -r a.o -o b.o"),
            ("gcc", "-Wl,--version", config, "clang: -Wl,--version"),
            ("gcc", "-o conftest conftest.c", config, "clang: -o conftest conftest.c"),
            ("gcc", "-c -o /dev/null a.c", config, "clang: -c -o /dev/null a.c"),
            # A header is precompiled without the links of a configuration.
            ("gcc", "-x c++-header p.h", config, f"{own} -c -x c++-header p.h"),
            ("gcc", "p.h -o p.h.gch", config, f"{own} -c p.h -o p.h.gch"),
            ("gcc", "-O2 p.hpp", config, f"{own} -c -O2 p.hpp"),
            ("gcc", "a.c -include p.h", config, f"{own} a.c -include p.h"),
            ("gcc", "a.o -o p.h", config, f"{own} a.o -o p.h"),
            ("gcc", "-c -x c-header p.h", config, f"{own} -c -x c-header p.h"),
            ("gcc", "-Xclang -include-pch p.pch a.c", config, f"{own} -Xclang -include-pch p.pch a.c"),
            ("gcc", "a.c -o a", config, f"{own} a.c -o a"),
            ("gcc", "p.h -o p.gch", {}, "clang: p.h -o p.gch"),
        ):
            self.assertEqual(self.run_tool(name, *words.split(), **variables)[0], f"{shown}\n", words)
        # No question, also where the folder of a project is called so.
        folder = pathlib.Path(self.write("conftest-project/a.o")).parent
        said = self.run_tool("gcc", "-Wl,--version-script,a", "a.o", folder=folder, **config)[0]
        self.assertEqual(said, f"{own} -Wl,--version-script,a a.o\n")
        self.run_tool("gcc", "-fopenmp", "-c", "a.c", "--fail-too", code=3, MLGO_NO_OPENMP="yes")
        # The compilers below record.sh are no records.
        self.assertEqual([record.tool for record in self.read()].count("clang++"), 4)
        self.assertEqual([record.by for record in self.read()].count("other"), 9)
        self.assertNotIn("ar", [record.tool for record in self.read()])

    def test_folders_of_libraries_as_gcc_prints_them(self):
        self.program(
            "bin/clang++", 'case $* in -print-search-dirs) echo "programs: =/p"; echo "libraries: =/l:/m" ;; esac\n'
        )
        for words, said in ((("-E", "-v", "-xc++", "-"), "LIBRARY_PATH=/l:/m\n"), (("-v", "-c", "a.c"), "")):
            self.assertEqual(self.run_tool("g++", *words), ("", said), words)

    def test_folders_that_a_build_names_in_variables(self):
        given = {"CPATH": "a b:", "C_INCLUDE_PATH": "/c", "CPLUS_INCLUDE_PATH": "/d", "LIBRARY_PATH": "/l"}
        for variables, more in (
            (given, "-Ia b|-I.|-Xclang|-c-isystem|-Xclang|/c|-Xclang|-cxx-isystem|-Xclang|/d|-L/l"),
            ({"CPATH": "/p", "LIBRARY_PATH": ""}, "-I/p"),
        ):
            self.run_tool("gcc", "-c", "a.c", **variables)
            self.run_tool("ld", "a.o", **variables)
            ours = ("--start-no-unused-arguments", *more.split("|"), "--end-no-unused-arguments")
            self.assertEqual([one.words for one in self.read()][-2:], [("-c", "a.c", *ours), ("a.o",)])

    def test_objects_that_a_link_names_by_their_paths_are_kept(self):
        one, two = self.write("a b/one.o", "1"), self.write("two.o", "2")
        beyond = f"{self.folder}/a b/../two.o"
        self.run_tool("gcc", one, beyond, "rel.o", "-o", "p", TMPDIR=str(self.folder))
        self.run_tool("gcc", "-c", two, "-o", two)
        kept = [path.relative_to(self.records / "objects") for path in self.records.rglob("*.o")]
        self.assertEqual(kept, [pathlib.Path(one[1:])])
        self.assertTrue(os.path.samefile(one, self.records / "objects" / one[1:]))
        self.assertEqual(len(self.read()), 2)
        # Not by a hard link.
        self.program("machine/cp", 'case $1 in -l) exit 1 ;; esac; exec /bin/cp "$@"\n')
        self.run_tool("gcc", two, "-o", "p", PATH=f"{self.links}:{self.path}", TMPDIR=str(self.folder))
        self.assertEqual((self.records / "objects" / two[1:]).read_text(), "2")

    def test_a_build_without_path(self):
        self.program("bin/clang", "printenv PATH\n")
        done = subprocess.run(
            [self.links / "gcc", "a.o"], env={"MLGO_BIN": str(self.folder / "bin")}, capture_output=True, check=True
        )
        self.assertIn(b"/bin", done.stdout)

    def test_archives(self):
        self.write("members", "a.o 'b c.o'")
        self.assertEqual(self.run_tool("ar", "rcs", "x.a", "@members", MLGO_CONFIG="/c")[0], "ar: rcs x.a @members\n")
        self.run_tool("ar", "t", "--fail-too", code=3)
        self.assertEqual(self.run_tool("ar", "t", MLGO_NESTED="1")[0], "ar: t\n")
        added, listed = self.read()
        self.assertEqual((added.tool, added.by, added.words), ("ar", "ar", ("rcs", "x.a", "a.o", "b c.o")))
        self.assertEqual((listed.words, listed.exit_code), (("t", "--fail-too"), 3))

    def test_response_files(self):
        for text, words, read in (
            ('"a b.o" c.o\n-lx', "@link.rsp -o program", ("a b.o", "c.o", "-lx", "-o", "program")),
            # Of the linker.
            (
                "--version-script=x.map a.o",
                "-Wl,@link.rsp -Wl,@absent -shared",
                ("-Wl,--version-script=x.map,a.o", "-Wl,@absent", "-shared"),
            ),
            # No file.
            ("", "@absent -c", ("@absent", "-c")),
        ):
            path = self.write("link.rsp", text)
            self.run_tool("clang", *words.split())
            os.unlink(path)
            self.assertEqual(self.read()[-1].words, read)

    def test_the_machines_compiler_runs_what_clang_refuses(self):
        said, errors = self.run_tool("gcc", "--fail", "-c", "a.c")
        gcc = ["gcc: --fail -c a.c -fsyntax-only", "gcc: --fail -c a.c"]
        clang = [f"clang: --fail -c a.c{more}" for more in ("", " -Wno-everything")]
        self.assertEqual(said.splitlines(), [clang[0], gcc[0], clang[1], f"{clang[1]} -fno-integrated-as", gcc[1]])
        self.assertIn("clang refuses this command; 'gcc' runs it", errors)
        self.assertEqual([(record.by, record.exit_code) for record in self.read()], [("other", 0)])

    def test_a_program_without_a_name_is_made_by_the_machines_compiler_too(self):
        self.assertEqual(self.run_tool("gcc", "--fail", "a.c")[0].splitlines()[-1], "gcc: --fail a.c")
        # nvcc preprocesses by clang what refuses its version.
        self.assertEqual(
            self.run_tool("gcc", "--fail", "-E", "a.c", "-o", "a.i")[0].splitlines()[-1], "gcc: --fail -E a.c -o a.i"
        )
        self.run_tool("gcc", "--fail", "-E", "a.c", code=3)
        self.run_tool("gcc", "--fail", "-fsyntax-only", "a.c", code=3)
        self.run_tool("gcc", "--fail", code=3)

    def test_a_profile_of_gcc_is_named(self):
        self.assertNotIn("gcda", self.run_tool("gcc", "-c", "a.c", "-fprofile-use", "--fail", "-o", "a.o")[1])
        self.program("bin/clang", "echo 'clang: error: Error in reading profile x: none' >&2; exit 1")
        said = self.run_tool("gcc", "-c", "a.c", "-fprofile-use", "--fail", "-o", "a.o")[1]
        self.assertIn("clang reads no profile of gcc's (.gcda)", said)
        self.assertNotIn("gcda", self.run_tool("gcc", "-c", "a.c", "--fail", "-o", "a.o")[1])

    def test_a_compiler_that_was_named_by_its_path_runs_what_clang_refuses(self):
        asked = self.program("elsewhere/gcc", 'echo "asked: ${MLGO_ASKED-unset} $*"\n')
        said = self.run_tool("gcc", "--fail", "-c", "a.c", MLGO_ASKED=str(asked))[0]
        self.assertEqual(said.splitlines()[-1], "asked: unset --fail -c a.c")
        self.assertEqual(self.run_tool("ld", "-r", MLGO_ASKED=str(asked))[0], "asked: unset -r\n")

    def test_what_only_gcc_has_is_left_out(self):
        self.program("bin/clang", GCC_OPTIONS)
        words = ("-O2", "-fipa-pta", "-flto=4", "-fcall-used-rax", "-c", "a b.c")
        said, errors = self.run_tool("gcc", "-O2", "-fipa-pta", "-flto=4", "-c", "a b.c")
        lld = "--start-no-unused-arguments -fuse-ld=lld -Wl,--other --end-no-unused-arguments"
        self.assertEqual(said, f"clang: {lld} -O2 -flto -c a b.c\n")
        self.assertIn("clang runs this command now without -fipa-pta -flto=4\n", errors)
        (record,) = self.read()
        self.assertEqual((record.by, record.exit_code), ("clang", 0))
        self.assertEqual(record.words, (*lld.split(), "-O2", "-flto", "-c", "a b.c"))
        self.assertEqual(self.run_tool("gcc", "-pass-exit-codes", "a.o", "-o", "p")[0], "clang: a.o -o p\n")
        # What changes the meaning of a program is not.
        self.assertEqual(self.run_tool("gcc", *words)[0].splitlines()[-1], f"gcc: {' '.join(words)}")
        self.assertEqual(self.read()[-1].by, "other")

    def test_assembly_that_only_the_machines_assembler_takes(self):
        self.program("bin/clang", 'case $* in *integrated-as) echo "$*" ;; *) exit 1 ;; esac\n')
        words = ("-Wa,-adhln=a.lst", "-c", "a.c", "-Wno-everything", "-fno-integrated-as")
        self.assertIn(f"{' '.join(words)}\n", self.run_tool("gcc", *words[:3])[0])
        (record,) = self.read()
        self.assertEqual((record.by, record.words), ("clang", words))
        # The listing stays as the build wrote it.
        (unit,) = understand(record)
        assert isinstance(unit, Compile)
        self.assertEqual(unit.words, ("a.c", *words[3:]))

    def test_a_command_that_gcc_refuses_too_is_not_tried_without_options(self):
        self.program("bin/clang", GCC_OPTIONS)
        said, errors = self.run_tool("gcc", "-fipa-pta", "-c", "--fail-too", "a.c", code=1)
        self.assertEqual((said, errors.count("unknown")), ("gcc: -fipa-pta -c --fail-too a.c -fsyntax-only\n", 1))

    def test_modules_of_a_kernel_of_gcc_are_for_gcc(self):
        for compiler, who in (("GCC", "gcc"), ("CLANG", "clang")):
            path = self.write(f"{compiler}/include/config/auto.conf", f"CONFIG_X=y\nCONFIG_CC_IS_{compiler}=y\n")
            folder = pathlib.Path(path).parents[2]
            for words in ("--version", "-c -x c /dev/null", "-c m.c -o m.o"):
                self.assertEqual(self.run_tool("gcc", *words.split(), folder=folder)[0], f"{who}: {words}\n")
            self.run_tool("gcc", "-c", "m.c", "--fail", "--fail-too", folder=folder, code=3)
            self.assertEqual({record.by for record in self.read()[-4:]} - {"other"}, {who})

    def test_a_source_from_the_standard_input_reaches_all_compilers(self):
        for path, more in (("bin/clang", GCC_OPTIONS), ("machine/gcc", "")):
            self.program(path, '#!/bin/sh\necho "${0##*/}: $(cat)"\n' + more)
        source = self.write("source", "int i;")
        for name in ("-", "/dev/stdin"):
            words = ("-x", "c", "-c", "-o", "a.o", name)
            said = self.run_tool("gcc", "-fipa-pta", *words, stdin=source)[0].splitlines()
            self.assertEqual(said, ["clang: int i;", "clang: int i;", f"clang: {' '.join(words)}"])
            said = self.run_tool("gcc", "-fcall-used-rax", *words, stdin=source)[0].splitlines()
            self.assertEqual(said, ["clang: int i;", "gcc: int i;", "gcc: int i;"])
        said = self.run_tool("gcc", "-fcall-used-rax", "-E", "-", "-o", "a.i", stdin=source)[0].splitlines()
        self.assertEqual(said, ["clang: int i;", "gcc: int i;", "gcc: int i;"])

    def test_the_compiler_that_the_build_named_takes_the_place_of_cc(self):
        self.program("machine/gcc-9", OTHER)
        (self.links / "gcc-9").symlink_to(self.links / "gcc")
        said = self.run_tool("gcc-9", "--fail", "-c", "a.c", MLGO_LINKS=str(self.links))[0]
        self.assertEqual(said.splitlines()[-1], "gcc-9: --fail -c a.c")

    def test_a_cross_compiler(self):
        name = "aarch64-linux-gnu-gcc"
        self.program(f"machine/{name}", OTHER)
        (self.links / name).symlink_to(self.links / "gcc")
        self.assertEqual(self.run_tool(name, "-c", "a.c")[0], "clang: --target=aarch64-linux-gnu -c a.c\n")
        self.assertEqual(self.read()[0].words, ("--target=aarch64-linux-gnu", "-c", "a.c"))
        said = self.run_tool(name, "--fail", "-c", "a.c", MLGO_LINKS=str(self.links))[0].splitlines()
        clang = "clang: --target=aarch64-linux-gnu --fail -c a.c"
        gcc = f"{name}: --fail -c a.c"
        again = f"{clang} -Wno-everything"
        self.assertEqual(said, [clang, f"{gcc} -fsyntax-only", again, f"{again} -fno-integrated-as", gcc])

    def test_errors_that_stay(self):
        # Of a question of configure, which clang answers alone; and of both compilers.
        self.assertEqual(self.run_tool("gcc", "--fail", "-c", "conftest.c", code=3)[0], "clang: --fail -c conftest.c\n")
        self.run_tool("gcc", "--fail", "--fail-too", "-c", "a.c", code=3)
        self.assertEqual([record.exit_code for record in self.read()], [3, 3])

    def test_the_linker_of_a_compiler_is_no_record(self):
        self.run_tool("ld", "-o", "x", MLGO_NESTED="1")
        self.assertEqual(self.read(), [])

    def test_what_clang_refuses_with_a_configuration_it_makes_without(self):
        fails = OTHER.replace("""*' --fail-too '*""", """*'--config='*-fuse-ld=bfd*""")
        self.program("bin/clang", fails)
        words = ("a.o", "-fuse-ld=bfd", "-o", "p")
        said, errors = self.run_tool("gcc", *words, MLGO_CONFIG="/x/mlgo.cfg", MLGO_RECORD="")
        shown = f"clang: {' '.join(words)}"
        self.assertEqual(said.splitlines(), [shown.replace("a.o", "--config=/x/mlgo.cfg a.o"), shown])
        self.assertEqual(errors, "mlgo: clang refuses this command with mlgo.cfg, and runs it without\n")
        # What it refuses in any case, the machine's compiler makes.
        self.program("bin/clang", FAKE)
        said = self.run_tool("gcc", "--fail", *words, MLGO_CONFIG="/x/mlgo.cfg", MLGO_RECORD="")[0].splitlines()
        self.assertEqual(said[-1], f"gcc: --fail {' '.join(words)}")

    def test_lto_links_with_the_linker_of_clang(self):
        lld = "--start-no-unused-arguments -fuse-ld=lld -Wl,--other --end-no-unused-arguments"
        for words, shown in (
            (("-flto", "a.o", "-o", "p"), f"{lld} -flto a.o -o p"),
            (("a.c", "-flto=thin", "-c"), f"{lld} a.c -flto=thin -c"),
            (("-flto", "-fuse-ld=gold", "a.o"), "-flto -fuse-ld=gold a.o"),
            (("-flto", "-fno-lto", "a.o"), "-flto -fno-lto a.o"),
        ):
            self.assertEqual(self.run_tool("gcc", *words)[0], f"clang: {shown}\n")
        self.assertEqual(self.run_tool("ld", "-flto", "a.o")[0], "ld: -flto a.o\n")
        self.assertEqual(" ".join(self.read()[0].words), f"{lld} -flto a.o -o p")
        self.write("bitcode.o", b"BC\xc0\xde\n")
        self.write("elf.o", b"\x7fELF\2\1\1\0BC\n")
        for given, begin in (
            (("-lx", "bitcode.o", "-o", "p"), f"{lld} "),
            (("bitcode.o", "-fuse-ld=gold"), ""),
            (("-x", "ir", "-c", "bitcode.o"), ""),
            (("elf.o", "bitcode.o"), ""),
            (("absent.o", "-o", "p"), ""),
        ):
            said, errors = self.run_tool("gcc", *given)
            self.assertEqual((said, errors), (f"clang: {begin}{' '.join(given)}\n", ""))
        # What clang refuses is given to the other one as it was.
        said = self.run_tool("gcc", "--fail", "-flto", "-o", "p")[0].splitlines()
        self.assertEqual(said[-1], "gcc: --fail -flto -o p")

    def test_a_library_with_objects_of_lto_is_linked_by_the_linker_of_clang(self):
        text = 'case $* in *-fuse-ld=lld*) echo "$*" ;; *) echo "x.a: file format not recognized" >&2; exit 1 ;; esac\n'
        self.program("bin/clang", text)
        words = "a.o x.a -o p"
        lld = "--start-no-unused-arguments -fuse-ld=lld -Wl,--other --end-no-unused-arguments"
        self.assertEqual(self.run_tool("gcc", *words.split())[0], f"{lld} {words}\n")
        (record,) = self.read()
        self.assertEqual((record.by, " ".join(record.words)), ("clang", f"{lld} {words}"))
        # Another linker of the build's, and a compile.
        for words in ("a.o x.a -fuse-ld=bfd -o p", "-c a.c"):
            self.run_tool("gcc", *words.split())
            self.assertEqual(self.read()[-1].by, "other")

    def test_parallel_compiles(self):
        script = "for i in 1 2 3 4 5 6 7 8 9 10; do gcc -c $i.c & done; wait"
        path, clang = f"{self.links}:{self.path}", str(self.folder / "bin")
        environment = {"PATH": path, "MLGO_BIN": clang, "MLGO_RECORD": str(self.records)}
        subprocess.run(["sh", "-c", script], env=environment, stdout=subprocess.DEVNULL, check=True)
        self.assertEqual({record.words[1] for record in self.read()}, {f"{number}.c" for number in range(1, 11)})

    def test_a_record_that_cannot_be_used_ends_no_other_record(self):
        of_itself, of_no_compiler = ("@x", "response", "x", "-c @x"), ("-c", "folders", "NO_SUCH_PATH", "/x")
        for name, words in (("1", of_itself), ("2", ("-c",)), ("3", of_no_compiler)):
            begin = ("mlgo-record-1", "clang", str(self.folder), "1", *words)
            end = ("done", "0", "clang", "0m1s 0m0s\n0m1.5s 0m0.5s", "end", "")
            self.write(f"records/{name}", "\0".join([*begin, *end]))
        records, broken = read_records(self.records)
        self.assertEqual(([record.words for record in records], broken), ([("-c",)], 2))

    def test_records_that_are_cut_off(self):
        self.run_tool("gcc", "-c", "a.c")
        (path,) = self.records.iterdir()
        whole = path.read_bytes()
        for size in range(len(b"mlgo-record-1") + 1, len(whole) - 1):
            path.write_bytes(whole[:size])
            records, broken = read_records(self.records)
            self.assertEqual((len(records), broken), (0, 1), size)
        path.write_bytes(whole + whole)
        self.assertEqual(len(self.read()), 2)

    def test_after_the_end_of_mlgo_it_is_the_machines_compiler(self):
        (self.links / "cc").symlink_to(self.links / "gcc")
        for name, said in (("gcc", "gcc: -c a.c"), ("cc", "gcc: -c a.c"), ("ld", "ld: -c a.c")):
            self.assertEqual(self.run_tool(name, "-c", "a.c", MLGO_ALIVE="/gone")[0], f"{said}\n")
        self.assertEqual(self.run_tool("gcc", "-c", "a.c", MLGO_ALIVE=str(self.folder))[0], "clang: -c a.c\n")
        self.assertEqual(len(self.read()), 1)

    def test_without_mlgo_it_is_the_compiler_of_its_installation(self):
        installed = self.folder / "prefix/lib/mlgo/record"
        self.program(str(installed / "clang"), (self.links / "gcc").read_text())
        (self.folder / "bin").rename(self.folder / "prefix/bin")
        (self.links / "cc").symlink_to(installed / "clang")
        # What `mlgo` puts on PATH, which the build folder remembers.
        self.program("links/c++", f"MLGO_RECORDER={installed}/clang\n. {installed}/clang\n")
        for name, tool in (("cc", "clang"), ("c++", "clang++")):
            done = subprocess.run([self.links / name, "-c"], env={"PATH": self.path}, capture_output=True, text=True)
            self.assertEqual(done.stdout, f"{tool}: -c\n")

    def test_a_full_disk_does_not_break_the_build(self):
        self.assertTrue(os.path.exists("/dev/full"))
        said, _ = self.run_tool("gcc", "-c", MLGO_RECORD="/dev/full/absent")
        self.assertEqual(said, "clang: -c\n")
