"""record.sh runs a fake compiler as asked, and its records are read back."""

import os
import pathlib
import subprocess
import tempfile
import unittest

from mlgo.project.records import read_records

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
    -fcall-used-rax) echo "clang: error: unknown argument: '$word'" >&2; failed=yes ;;
    --fail-too) failed=yes ;;
    -flto=4) echo "clang: error: unsupported argument '4' to option '-flto='" >&2; failed=yes ;;
    esac
done
[ -z "$failed" ] || exit 1
echo "clang: $*"
"""


class RecordsTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.records = self.folder / "records"
        self.links = self.folder / "links"
        for folder in (self.folder / "bin", self.folder / "machine", self.records, self.links):
            folder.mkdir()
        for path in ("bin/clang", "bin/clang++", "machine/gcc", "machine/ld", "machine/ar"):
            (self.folder / path).write_text(FAKE.replace("--fail", "--fail-too") if "machine" in path else FAKE)
            (self.folder / path).chmod(0o755)
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
        with open(stdin) as given:
            done = subprocess.run(
                [self.links / name, *words],
                cwd=folder or self.folder,
                env=environment,
                stdin=given,
                capture_output=True,
                text=True,
            )
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

    def test_names(self):
        self.assertEqual(self.run_tool("g++")[0], "clang++: \n")
        self.assertEqual(self.run_tool("ld", "-r")[0], "ld: -r\n")
        self.assertEqual(sorted(record.tool for record in self.read()), ["clang++", "ld"])

    def test_folders_of_libraries_as_gcc_prints_them(self):
        (self.folder / "bin/clang++").write_text(
            '#!/bin/sh\ncase $* in -print-search-dirs) echo "programs: =/p"; echo "libraries: =/l:/m" ;; esac\n'
        )
        for words, said in ((("-E", "-v", "-xc++", "-"), "LIBRARY_PATH=/l:/m\n"), (("-v", "-c", "a.c"), "")):
            self.assertEqual(self.run_tool("g++", *words), ("", said), words)

    def test_archives(self):
        (self.folder / "members").write_text("a.o 'b c.o'")
        self.assertEqual(self.run_tool("ar", "rcs", "x.a", "@members", MLGO_CONFIG="/c")[0], "ar: rcs x.a @members\n")
        self.run_tool("ar", "t", "--fail-too", code=3)
        self.assertEqual(self.run_tool("ar", "t", MLGO_NESTED="1")[0], "ar: t\n")
        added, listed = self.read()
        self.assertEqual((added.tool, added.by, added.words), ("ar", "ar", ("rcs", "x.a", "a.o", "b c.o")))
        self.assertEqual((listed.words, listed.exit_code), (("t", "--fail-too"), 3))

    def test_a_response_file_that_is_deleted(self):
        (self.folder / "link.rsp").write_text('"a b.o" c.o\n-lx')
        self.run_tool("clang", "@link.rsp", "-o", "program")
        (self.folder / "link.rsp").unlink()
        self.assertEqual(self.read()[0].words, ("a b.o", "c.o", "-lx", "-o", "program"))

    def test_a_response_file_of_the_linker(self):
        (self.folder / "link.rsp").write_text("--version-script=x.map a.o")
        self.run_tool("clang", "-Wl,@link.rsp", "-Wl,@absent", "-shared")
        (self.folder / "link.rsp").unlink()
        self.assertEqual(self.read()[0].words, ("-Wl,--version-script=x.map,a.o", "-Wl,@absent", "-shared"))

    def test_an_at_sign_that_is_no_file(self):
        self.run_tool("clang", "@absent", "-c")
        self.assertEqual(self.read()[0].words, ("@absent", "-c"))

    def test_the_machines_compiler_runs_what_clang_refuses(self):
        said, errors = self.run_tool("gcc", "--fail", "-c", "a.c")
        gcc = ["gcc: --fail -c a.c -fsyntax-only", "gcc: --fail -c a.c"]
        clang = ["clang: --fail -c a.c", "clang: --fail -c a.c -Wno-everything"]
        self.assertEqual(said.splitlines(), [clang[0], gcc[0], clang[1], gcc[1]])
        self.assertIn("clang refuses this command; 'gcc' runs it", errors)
        self.assertEqual([(record.by, record.exit_code) for record in self.read()], [("other", 0)])

    def test_a_profile_of_gcc_is_named(self):
        self.assertNotIn("gcda", self.run_tool("gcc", "-c", "a.c", "-fprofile-use", "--fail", "-o", "a.o")[1])
        (self.folder / "bin/clang").write_text(
            "#!/bin/sh\necho 'clang: error: Error in reading profile x: none' >&2; exit 1"
        )
        said = self.run_tool("gcc", "-c", "a.c", "-fprofile-use", "--fail", "-o", "a.o")[1]
        self.assertIn("clang reads no profile of gcc's (.gcda)", said)
        self.assertNotIn("gcda", self.run_tool("gcc", "-c", "a.c", "--fail", "-o", "a.o")[1])

    def test_a_compiler_that_was_named_by_its_path_runs_what_clang_refuses(self):
        asked = self.folder / "elsewhere/gcc"
        asked.parent.mkdir()
        asked.write_text('#!/bin/sh\necho "asked: ${MLGO_ASKED-unset} $*"\n')
        asked.chmod(0o755)
        said = self.run_tool("gcc", "--fail", "-c", "a.c", MLGO_ASKED=str(asked))[0]
        self.assertEqual(said.splitlines()[-1], "asked: unset --fail -c a.c")
        self.assertEqual(self.run_tool("ld", "-r", MLGO_ASKED=str(asked))[0], "asked: unset -r\n")

    def test_what_only_gcc_has_is_left_out(self):
        (self.folder / "bin/clang").write_text(GCC_OPTIONS)
        words = ("-O2", "-fipa-pta", "-flto=4", "-fcall-used-rax", "-c", "a b.c")
        said, errors = self.run_tool("gcc", "-O2", "-fipa-pta", "-flto=4", "-c", "a b.c")
        lld = "--start-no-unused-arguments -fuse-ld=lld -Wl,--other --end-no-unused-arguments"
        self.assertEqual(said, f"clang: {lld} -O2 -flto -c a b.c\n")
        self.assertIn("clang runs this command now without -fipa-pta -flto=4\n", errors)
        (record,) = self.read()
        self.assertEqual((record.by, record.exit_code), ("clang", 0))
        self.assertEqual(record.words, (*lld.split(), "-O2", "-flto", "-c", "a b.c"))
        # What changes the meaning of a program is not.
        self.assertEqual(self.run_tool("gcc", *words)[0].splitlines()[-1], f"gcc: {' '.join(words)}")
        self.assertEqual(self.read()[-1].by, "other")

    def test_a_command_that_gcc_refuses_too_is_not_tried_without_options(self):
        (self.folder / "bin/clang").write_text(GCC_OPTIONS)
        said, errors = self.run_tool("gcc", "-fipa-pta", "-c", "--fail-too", "a.c", code=1)
        self.assertEqual((said, errors.count("unknown")), ("gcc: -fipa-pta -c --fail-too a.c -fsyntax-only\n", 1))

    def test_a_source_from_the_standard_input_reaches_all_compilers(self):
        for path, more in (("bin/clang", GCC_OPTIONS), ("machine/gcc", "")):
            (self.folder / path).write_text('#!/bin/sh\necho "${0##*/}: $(cat)"\n' + more)
        source = self.folder / "source"
        source.write_text("int i;")
        words = ("-x", "c", "-c", "-o", "a.o", "-")
        said = self.run_tool("gcc", "-fipa-pta", *words, stdin=source)[0].splitlines()
        self.assertEqual(said, ["clang: int i;", "clang: int i;", f"clang: {' '.join(words)}"])
        said = self.run_tool("gcc", "-fcall-used-rax", *words, stdin=source)[0].splitlines()
        self.assertEqual(said, ["clang: int i;", "gcc: int i;", "gcc: int i;"])

    def test_openmp_without_its_library_is_for_the_machines_compiler(self):
        words = ("-fopenmp", "-c", "a.c")
        self.assertEqual(self.run_tool("gcc", *words, MLGO_NO_OPENMP="yes")[0], "gcc: -fopenmp -c a.c\n")
        self.assertEqual(self.run_tool("gcc", *words, MLGO_NO_OPENMP="yes", MLGO_CC="")[0], "clang: -fopenmp -c a.c\n")
        self.assertEqual(self.run_tool("gcc", *words)[0], "clang: -fopenmp -c a.c\n")
        self.run_tool("gcc", *words, "--fail-too", code=3, MLGO_NO_OPENMP="yes")
        self.assertEqual(sorted(record.by for record in self.read()), ["clang", "clang", "other", "other"])

    def test_old_c_on_a_machine_that_takes_it(self):
        lenient = "-Wno-error=implicit-function-declaration -Wno-error=implicit-int"
        self.assertEqual(self.run_tool("gcc", "-c", "a.c", MLGO_LENIENT="yes")[0], f"clang: {lenient} -c a.c\n")
        self.assertEqual(self.run_tool("g++", "-c", "a.cc", MLGO_LENIENT="yes")[0], "clang++: -c a.cc\n")

    def test_the_compiler_that_the_build_named_takes_the_place_of_cc(self):
        (self.folder / "machine/gcc-9").write_text(FAKE.replace("--fail", "--fail-too"))
        (self.folder / "machine/gcc-9").chmod(0o755)
        (self.links / "gcc-9").symlink_to(self.links / "gcc")
        said = self.run_tool("gcc-9", "--fail", "-c", "a.c", MLGO_LINKS=str(self.links))[0]
        self.assertEqual(said.splitlines()[-1], "gcc-9: --fail -c a.c")

    def test_a_cross_compiler(self):
        name = "aarch64-linux-gnu-gcc"
        (self.folder / "machine" / name).write_text(FAKE.replace("--fail", "--fail-too"))
        (self.folder / "machine" / name).chmod(0o755)
        (self.links / name).symlink_to(self.links / "gcc")
        self.assertEqual(self.run_tool(name, "-c", "a.c")[0], "clang: --target=aarch64-linux-gnu -c a.c\n")
        self.assertEqual(self.read()[0].words, ("--target=aarch64-linux-gnu", "-c", "a.c"))
        said = self.run_tool(name, "--fail", "-c", "a.c", MLGO_LINKS=str(self.links))[0].splitlines()
        clang = "clang: --target=aarch64-linux-gnu --fail -c a.c"
        gcc = f"{name}: --fail -c a.c"
        self.assertEqual(said, [clang, f"{gcc} -fsyntax-only", f"{clang} -Wno-everything", gcc])

    def test_a_scan_for_modules_by_gcc(self):
        words = ("-E", "-fdeps-format=p1689r5", "a.cc")
        self.assertEqual(self.run_tool("g++", *words, MLGO_CXX="gcc")[0], f"gcc: {' '.join(words)}\n")

    def test_a_question_of_configure_is_answered_by_clang(self):
        self.assertEqual(self.run_tool("gcc", "--fail", "-c", "conftest.c", code=3)[0], "clang: --fail -c conftest.c\n")
        self.assertEqual(self.read()[0].exit_code, 3)

    def test_an_error_that_both_have(self):
        self.run_tool("gcc", "--fail", "--fail-too", "-c", "a.c", code=3)
        self.assertEqual(self.read()[0].exit_code, 3)

    def test_the_linker_of_a_compiler_is_no_record(self):
        self.run_tool("ld", "-o", "x", MLGO_NESTED="1")
        self.assertEqual(self.read(), [])

    def test_a_configuration_comes_first(self):
        self.assertEqual(
            self.run_tool("gcc", "-c", MLGO_CONFIG="/a b.cfg", MLGO_RECORD="")[0], "clang: --config=/a b.cfg -c\n"
        )

    def test_what_clang_refuses_with_a_configuration_it_makes_without(self):
        fails = FAKE.replace("--fail", "--fail-too").replace("""*' --fail-too '*""", """*'--config='*-fuse-ld=bfd*""")
        (self.folder / "bin/clang").write_text(fails)
        words = ("a.o", "-fuse-ld=bfd", "-o", "p")
        said, errors = self.run_tool("gcc", *words, MLGO_CONFIG="/x/mlgo.cfg", MLGO_RECORD="")
        shown = f"clang: {' '.join(words)}"
        self.assertEqual(said.splitlines(), [shown.replace("a.o", "--config=/x/mlgo.cfg a.o"), shown])
        self.assertEqual(errors, "mlgo: clang refuses this command with mlgo.cfg, and runs it without\n")
        # What it refuses in any case, the machine's compiler makes.
        (self.folder / "bin/clang").write_text(FAKE)
        said = self.run_tool("gcc", "--fail", *words, MLGO_CONFIG="/x/mlgo.cfg", MLGO_RECORD="")[0].splitlines()
        self.assertEqual(said[-1], f"gcc: --fail {' '.join(words)}")

    def test_objects_are_merged_without_a_configuration(self):
        said = self.run_tool("gcc", "-r", "a.o", "-o", "b.o", MLGO_CONFIG="/a.cfg", MLGO_RECORD="")[0]
        self.assertEqual(said, "clang: -r a.o -o b.o\n")

    def test_questions_are_answered_without_a_configuration(self):
        for words in (["-Wl,--version"], ["-o", "conftest", "conftest.c"], ["-c", "-o", "/dev/null", "a.c"]):
            said = self.run_tool("gcc", *words, MLGO_CONFIG="/a.cfg", MLGO_RECORD="")[0]
            self.assertEqual(said, f"clang: {' '.join(words)}\n")
        # No question, also where the folder of a project is called so.
        folder = self.folder / "conftest-project"
        folder.mkdir()
        words = ["-Wl,--version-script,a", "a.o"]
        said = self.run_tool("gcc", *words, folder=folder, MLGO_CONFIG="/a.cfg", MLGO_RECORD="")[0]
        self.assertEqual(said, "clang: --config=/a.cfg -Wl,--version-script,a a.o\n")

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
        (self.folder / "bitcode.o").write_bytes(b"BC\xc0\xde\n")
        (self.folder / "elf.o").write_bytes(b"\x7fELF\2\1\1\0BC\n")
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

    def test_a_header_is_precompiled_without_the_links_of_a_configuration(self):
        for words, shown in (
            (("-x", "c++-header", "p.h"), "-c -x c++-header p.h"),
            (("p.h", "-o", "p.h.gch"), "-c p.h -o p.h.gch"),
            (("-O2", "p.hpp"), "-c -O2 p.hpp"),
            (("a.c", "-include", "p.h"), "a.c -include p.h"),
            (("a.o", "-o", "p.h"), "a.o -o p.h"),
            (("-c", "-x", "c-header", "p.h"), "-c -x c-header p.h"),
            (("-Xclang", "-include-pch", "p.pch", "a.c"), "-Xclang -include-pch p.pch a.c"),
            (("a.c", "-o", "a"), "a.c -o a"),
        ):
            said = self.run_tool("gcc", *words, MLGO_CONFIG="/a.cfg", MLGO_RECORD="")[0]
            self.assertEqual(said, f"clang: --config=/a.cfg {shown}\n")
        self.assertEqual(self.run_tool("gcc", "p.h", "-o", "p.gch")[0], "clang: p.h -o p.gch\n")

    def test_parallel_compiles(self):
        script = "for i in 1 2 3 4 5 6 7 8 9 10; do gcc -c $i.c & done; wait"
        environment = {
            "PATH": f"{self.links}:{self.path}",
            "MLGO_BIN": str(self.folder / "bin"),
            "MLGO_RECORD": str(self.records),
        }
        subprocess.run(["sh", "-c", script], env=environment, stdout=subprocess.DEVNULL, check=True)
        self.assertEqual({record.words[1] for record in self.read()}, {f"{number}.c" for number in range(1, 11)})

    def test_a_response_file_that_names_itself_ends_no_other_record(self):
        for name, words in (("1", ("@x", "response", "x", "-c @x")), ("2", ("-c",))):
            begin = ("mlgo-record-1", "clang", str(self.folder), "1", *words)
            text = "\0".join([*begin, "done", "0", "clang", "0m1s 0m0s\n0m1.5s 0m0.5s", "end", ""])
            (self.records / name).write_text(text)
        records, broken = read_records(self.records)
        self.assertEqual(([record.words for record in records], broken), ([("-c",)], 1))

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

    def test_without_mlgo_it_is_the_compiler_of_its_installation(self):
        installed = self.folder / "prefix/lib/mlgo/record"
        installed.mkdir(parents=True)
        (installed / "clang").write_bytes((self.links / "gcc").read_bytes())
        (installed / "clang").chmod(0o755)
        (self.folder / "bin").rename(self.folder / "prefix/bin")
        (self.links / "cc").symlink_to(installed / "clang")
        # What `mlgo` puts on PATH, which the build folder remembers.
        (self.links / "c++").write_text(f"#!/bin/sh\nMLGO_RECORDER={installed}/clang\n. {installed}/clang\n")
        (self.links / "c++").chmod(0o755)
        for name, tool in (("cc", "clang"), ("c++", "clang++")):
            done = subprocess.run([self.links / name, "-c"], env={"PATH": self.path}, capture_output=True, text=True)
            self.assertEqual(done.stdout, f"{tool}: -c\n")

    def test_a_full_disk_does_not_break_the_build(self):
        self.assertTrue(os.path.exists("/dev/full"))
        said, _ = self.run_tool("gcc", "-c", MLGO_RECORD="/dev/full/absent")
        self.assertEqual(said, "clang: -c\n")


if __name__ == "__main__":
    unittest.main()
