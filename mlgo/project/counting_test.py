"""Runs are counted by a fake Cachegrind: which program is run, what it must print, what its counts are."""

import hashlib
import os
import pathlib
import tracemalloc
from unittest import mock

from mlgo.project import goal
from mlgo.project.build import Program
from mlgo.project.compiler import Compiler
from mlgo.project.counting import CACHEGRIND, Runs, cachegrind_counts, perf_count, program_named_by, run_of
from mlgo.project.goal import Measured
from mlgo.project.profile import Profiler
from mlgo.project.rows import AS_BUILT, FASTER_ROWS
from mlgo.project.testing.project_case import ProjectCase
from mlgo.run.exit_codes import RunError

#: Writes counts, and runs the program. Two processes are counted.
VALGRIND = """#!/bin/sh
while :; do
    case $1 in
    --cachegrind-out-file=*) out=${1#*=} ;;
    --log-file=*) log=${1#*=} ;;
    -*) ;;
    *) break ;;
    esac
    shift
done
size=$(wc -c < "$(command -v "$1")")
for process in 1 2; do
    printf 'desc: x\\nevents: Ir I1mr Dr Dw\\nfn=f\\n1 1 1 1 1\\nsummary: %s 3 10 5\\n' "$size" > "${out%\\%p}$process"
done
for file in "${LD_LIBRARY_PATH%%:*}"/libx*; do echo "--1-- Reading syms from $file"; done > "${log%\\%p}1"
"$@"
"""


class CountingTest(ProjectCase):
    def setUp(self):
        super().setUp()
        valgrind = self.program("bin/valgrind", VALGRIND)
        path = f"{valgrind.parent}:{os.environ['PATH']}"
        self.enterContext(mock.patch.dict(os.environ, {"PATH": path}))
        self.built = self.program("prog", 'echo "$1"\n')

    def built_as(self, path, *words):
        return Program(self.link(*words, output=str(path)), 1, "x86-64")

    def runs(self, *texts, program=None):
        runs = [run_of(text, str(self.folder)) for text in texts]
        return Runs(CACHEGRIND, program or self.built_as(self.built), runs, self.folder / "a scratch")

    def test_counts_of_all_runs_and_processes(self):
        size = self.built.stat().st_size
        figures = self.runs("./prog one", "env -- {} two").figures_of(self.built)
        env = pathlib.Path("/usr/bin/env").resolve().stat().st_size
        self.assertEqual(figures, {"instructions": 2 * size + 2 * env, "data references": 60, "code": 0})

    def test_another_program_must_print_the_same(self):
        runs = self.runs("./prog one")
        runs.figures_of(self.built)
        larger = self.program("scratch/larger", 'echo "$1" # longer\n')
        self.assertEqual(runs.figures_of(larger)["instructions"], 2 * larger.stat().st_size)
        with self.assertRaisesRegex(RunError, "printed something else"):
            runs.figures_of(self.program("scratch/other", "echo other\n"))

    def test_counts_that_differ_between_runs(self):
        calls = self.folder / "calls"
        counter = self.folder / "bin/valgrind"
        # 2 * 1000 + 30, then 2 * 1010 + 30.
        size = f"$(echo >> {calls}; echo $((990 + 10 * $(wc -l < {calls}))))"
        counter.write_text(counter.read_text().replace('$(wc -c < "$(command -v "$1")")', size))
        runs = self.runs("./prog one")
        asked = goal.faster(runs, FASTER_ROWS)
        figures = runs.figures_of(self.built)
        built = Measured(AS_BUILT, figures)
        self.assertEqual(runs.noise, 2050 / 2030 - 1)
        self.assertEqual(
            asked.notes(), ["two counts of the build's program differ by 0.99 %: a gain below three times that is none"]
        )
        for instructions, is_better in ((1941, False), (1939, True)):
            other = Measured(FASTER_ROWS[0], {**figures, "instructions": instructions})
            self.assertEqual(asked.best([built, other]) is other, is_better)

    def test_a_program_that_prints_something_else_each_time(self):
        self.built.write_text("#!/bin/sh\ndate +%N\n")
        runs = self.runs("./prog one")
        runs.figures_of(self.built)
        self.assertEqual(runs.note, "")
        other = self.program("scratch/other", "date +%N # longer\n")
        self.assertEqual(runs.figures_of(other)["instructions"], 2 * other.stat().st_size)
        self.assertIn("is not compared, because it differs between two runs", runs.note)
        with self.assertRaisesRegex(RunError, "ended with exit code 3"):
            runs.figures_of(self.program("failing", "exit 3\n"))

    def test_a_shell_reads_what_only_a_shell_understands(self):
        self.built.write_text('#!/bin/sh\necho "$ONE $* $(cat)"\n')
        (self.folder / "input").write_text("read")
        for text, printed in (
            ("./prog a < input", " a read"),
            ("ONE='1 2' './prog' b", "1 2 b "),
            ("cat input | {} 'c|d'", " c|d read"),
            ('sh -c "{} e < input"', " e read"),
            ("./prog '{\"x\":{}}'", ' {"x":{}} '),
        ):
            copy = self.program("other", f"test \"$ONE $* $(cat)\" = '{printed}'\n")
            self.assertGreater(self.runs(text).figures_of(copy)["instructions"], 0, text)
        for text in ("cat input | ./prog", "(./prog)"):
            with self.assertRaisesRegex(RunError, "Write {} where the program stands"):
                self.runs(text)

    def test_a_profile_of_all_runs(self):
        # The program and llvm-profdata are fakes; the last one writes its words and what it reads.
        text = 'echo "$1" > "${LLVM_PROFILE_FILE%%%m*}$1.profraw"\n'
        tool = self.program("bin/llvm-profdata", 'shift; out=$3; shift 3; cat "$@" > "$out"\n')
        folder = self.folder / "objects"
        profiler = Profiler(self.runs("./prog one", "env -- {} two"), True, Compiler(tool.parent.parent), folder)
        made = profiler.profile_of(self.program("instrumented", text))
        self.assertEqual((made.read_text(), made.suffix), ("one\ntwo\n", ".profdata"))
        self.assertEqual(os.listdir(folder), [made.name])
        for text, wrong in ((":", "the run: writes no profile"), ("exit 3", "ended with exit code 3")):
            with self.assertRaisesRegex(RunError, wrong):
                profiler.profile_of(self.program("instrumented", text))
        self.program("bin/llvm-profdata", "echo error: x.profraw: bad >&2\nexit 1\n")
        with self.assertRaisesRegex(RunError, "merging the profile: error: x.profraw: bad"):
            profiler.profile_of(self.program("instrumented", 'echo > "${LLVM_PROFILE_FILE%%%m*}x.profraw"\n'))
        self.assertEqual(os.listdir(folder), [made.name])

    def test_what_a_run_prints_may_be_larger_than_memory(self):
        program = self.program("much", "head -c 50000000 /dev/zero; head -c 50000000 /dev/zero >&2\n")
        runs = self.runs("{}", program=self.built_as(program))
        expected = hashlib.sha256(bytes(50_000_000)).hexdigest()
        tracemalloc.start()
        self.addCleanup(tracemalloc.stop)
        self.assertEqual(runs.execute(program, {}), [expected])
        self.assertLess(tracemalloc.get_traced_memory()[1], 20_000_000)

    def test_a_run_that_fails(self):
        with self.assertRaisesRegex(RunError, "ended with exit code 3: wrong"):
            self.runs("./prog").figures_of(self.program("failing", "echo wrong >&2\nexit 3\n"))

    def test_copies_are_run_without_debug_information(self):
        # Fakes: one that shortens the copy, and one that cannot.
        strip = self.program("strip", 'grep -v debug "$2" > "$2.new"; cat "$2.new" > "$2"\n')
        debug = self.program("debug", 'echo "$1"\n# debug information\n')
        for tool, size in ((strip, self.built.stat().st_size), ("/bin/false", debug.stat().st_size)):
            one = [run_of("./prog x", str(self.folder))]
            runs = Runs(CACHEGRIND, self.built_as(self.built), one, self.folder / "scratch", str(tool))
            self.assertEqual(runs.figures_of(debug)["instructions"], 2 * size)
        self.assertIn("# debug", debug.read_text())

    def test_what_runs_a_library_is_run_without_debug_information(self):
        strip = self.program("strip", 'grep -av debug "$2" > "$2.new"; cat "$2.new" > "$2"\n')
        self.program("user", "true # .debug_info\0\nexit 3 # debug\n")
        library = self.program("libx.so.1", "")
        program = self.built_as(library, "-shared")
        one = [run_of("./user x", str(self.folder))]
        Runs(CACHEGRIND, program, one, self.folder / "scratch", str(strip)).figures_of(library)
        with self.assertRaisesRegex(RunError, "exit code 3"):
            Runs(CACHEGRIND, program, one, self.folder / "scratch").figures_of(library)

    def test_debug_information_that_valgrind_cannot_read(self):
        (self.folder / "bin/valgrind").write_text(
            "#!/bin/sh\nfor word; do case $word in --log-file=*) log=${word#*=} ;; esac; done\n"
            'echo "Valgrind: debuginfo reader: Possibly corrupted" > "${log%\\%p}1"; exit 1\n'
        )
        with self.assertRaisesRegex(RunError, "exit code 1: valgrind cannot read the debug information of a library"):
            self.runs("./prog one").figures_of(self.built)

    def test_a_shared_library_is_found_by_its_name(self):
        library = self.program("libx.so.1.2", "")
        program = self.built_as(library, "-shared", "-Wl,-soname,libx.so.1")
        self.program("user", 'test -e "${LD_LIBRARY_PATH%%:*}/libx.so.1"\n')
        self.runs("./user", program=program).figures_of(library)
        self.program("user", 'test -e "${PYTHONPATH%%:*}/libx.so.1"\n')
        self.runs("./user", program=program).figures_of(library)
        self.program(".libs/user", 'test -e "${LD_LIBRARY_PATH%%:*}/libx.so.1"\n')
        self.program("user", "exit 3 # As libtool writes it, with another LD_LIBRARY_PATH.\n")
        self.runs("./user", program=program).figures_of(library)
        # As with an RPATH.
        valgrind = self.folder / "bin/valgrind"
        valgrind.write_text(VALGRIND.replace('"${LD_LIBRARY_PATH%%:*}"', "/usr/lib"))
        with self.assertRaisesRegex(RunError, "user: does not load the libx.so.1 that is measured. Run a program"):
            self.runs("./user", program=program).figures_of(library)

    def test_the_program_that_a_run_starts(self):
        own = self.program(".libs/tool", "")
        self.program("tool", "exec .libs/tool\n")
        programs = [self.built_as(self.built), self.built_as(own)]
        for text, found in (("./prog x", programs[0]), ("./tool", programs[1]), ("sh", None)):
            self.assertEqual(program_named_by(run_of(text, str(self.folder)), programs), found, text)

    def test_wrong_commands(self):
        for text, wrong in (("", "is empty"), ("'", "is not a command")):
            with self.assertRaisesRegex(RunError, wrong):
                run_of(text, "/")
        with self.assertRaisesRegex(RunError, "starts sh, which is not .*/prog"):
            self.runs("sh -c ./prog")

    def test_a_program_that_the_build_removed(self):
        programs = [self.built_as(self.folder / "gone"), self.built_as(self.built)]
        self.assertEqual(program_named_by(run_of("./prog x", str(self.folder)), programs), programs[1])

    def test_a_run_that_was_not_counted(self):
        # As of a program that changes its user, or of one that is killed.
        for written in ("", ': > "$out"', 'echo "events: Ir" > "$out"'):
            text = "for word; do case $word in *out-file=*) out=${word#*=}1 ;; esac; done\n"
            (self.folder / "bin/valgrind").write_text(f"#!/bin/sh\n{text}{written}\n")
            with self.assertRaisesRegex(RunError, "prog x: was not counted by Cachegrind: .* counts"):
                self.runs("./prog x").figures_of(self.built)

    def test_counts_of_perf(self):
        comment = "# started on Sat\n\n"
        self.assertEqual(perf_count(f"{comment}812,,instructions:u,1,100.00,,\n"), 812)
        cores = "5000,,cpu_atom/instructions:u/,1,50.00,,\n<not counted>,,cpu_lp/instructions:u/,0,0.00,,\n"
        self.assertEqual(perf_count(f"{comment}{cores}7,,cpu_core/instructions:u/,1,50.00,,\n"), 5007)
        for text, wrong in (("", "it wrote no counts"), ("<not supported>,,instructions:u\n", "<not supported>")):
            with self.assertRaisesRegex(ValueError, wrong):
                perf_count(comment + text)

    def test_a_file_of_cachegrind(self):
        self.assertEqual(cachegrind_counts("events: Ir Dr\nfn=x\n1 2 3\nsummary: 70 20\n"), {"Ir": 70, "Dr": 20})
