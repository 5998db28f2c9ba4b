"""The development clang searches better eviction decisions; the release clang applies them, or searches itself."""

import csv
import io
import math
import pathlib
import subprocess
import tempfile
import unittest

from mlgo.run.locate import runfile
from tests.compilers import pressure
from tests.compilers.profiles import profiled

DEVELOPMENT, RELEASE, LLC = "development/clang", "release/clang", "release/llc"
POLICY = "-regalloc-enable-advisor=release"
TARGET = pressure.SMALL[0]
LIVE, ARMS = 24, 3


class EvictionSearchTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        functions = [
            pressure.loop("long", pressure.ARITHMETIC["integer"], LIVE, seed, ARMS).replace(" f(", f" f{seed}(")
            for seed in (1, 2)
        ]
        (self.folder / "x.c").write_text("\n".join(functions).replace(pressure.VECTOR, "") + "int none;\n")

    def compiled(self, program: str, *options: str) -> subprocess.CompletedProcess:
        """Args: options: of LLVM."""
        words = [word for option in options for word in ("-mllvm", option)]
        return self.run_tool(program, *TARGET.flags, "-O2", "-c", "x.c", "-o", "x.o", *words)

    def run_tool(self, program: str, *words: str) -> subprocess.CompletedProcess:
        command = [str(runfile(program)), *words]
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=300, check=False)

    def made(self, program: str, *options: str) -> bytes:
        """The object that a compiler makes, saying nothing. Args: options: of LLVM."""
        done = self.compiled(program, *options)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return (self.folder / "x.o").read_bytes()

    def searched(self, *options: str) -> tuple[bytes, dict[str, dict[str, str]], str]:
        """The object, the report by function, and the decisions."""
        made = self.made(DEVELOPMENT, "-mlgo-eviction-search=found", *options)
        rows = csv.DictReader(io.StringIO((self.folder / "found").read_text()), delimiter="\t")
        decisions = (self.folder / "found.decisions").read_text()
        return made, {row["function"]: row for row in rows}, decisions

    def test_the_search_finds_less_and_every_compiler_applies_it(self):
        made, report, decisions = self.searched("-mlgo-eviction-noisy-tries=16", "-mlgo-eviction-flips=24")
        self.assertEqual(list(report), ["f1", "f2"])
        for row in report.values():
            self.assertLess(float(row["best"]), float(row["default"]))
            self.assertEqual(int(row["tries"]), 1 + 16 + 24)
            costs = [float(step.split(":")[1]) for step in row["curve"].split(",")]
            self.assertEqual(costs, sorted(costs, reverse=True))
            self.assertEqual((costs[0], costs[-1]), (float(row["default"]), float(row["best"])))
        (self.folder / "given").write_text(decisions)
        for program in (DEVELOPMENT, RELEASE):
            with self.subTest(program):
                self.assertEqual(self.made(program, "-mlgo-decisions=given"), made)
        self.assertNotEqual(self.made(RELEASE), made)
        # A search can start from what another one found.
        _, again, _ = self.searched("-mlgo-decisions=given", "-mlgo-eviction-noisy-tries=0", "-mlgo-eviction-flips=0")
        for name, row in again.items():
            self.assertEqual((row["given"], row["best"]), (report[name]["best"], report[name]["best"]))

    def test_equal_searches_find_the_same(self):
        options = ("-mlgo-eviction-noisy-tries=8", "-mlgo-eviction-flips=4")
        first = self.searched(*options)
        self.assertEqual(first, self.searched(*options))
        self.assertNotEqual(first[2], self.searched(*options, "-mlgo-eviction-seed=2")[2])

    def test_flips_by_cost(self):
        few = ("-mlgo-eviction-noisy-tries=0", "-mlgo-eviction-flips=1")
        _, report, _ = self.searched(*few)
        roots = {name: math.sqrt(float(row["default"])) for name, row in report.items()}
        factor = 5.5 / roots["f1"]
        for most in (2, 100):
            options = (f"-mlgo-eviction-flips-per-root-cost={factor!r}", f"-mlgo-eviction-more-flips={most}")
            _, report, _ = self.searched(*few, *options)
            tries = {name: 1 + 1 + min(most, math.floor(factor * root)) for name, root in roots.items()}
            self.assertEqual({name: int(row["tries"]) for name, row in report.items()}, tries)
            self.assertEqual(tries["f1"], 2 + min(most, 5))

    def test_without_tries_the_default_stays(self):
        made, report, _ = self.searched("-mlgo-eviction-noisy-tries=0", "-mlgo-eviction-flips=0")
        self.assertEqual(made, self.made(DEVELOPMENT))
        self.assertEqual([row["tries"] for row in report.values()], ["1", "1"])

    def test_the_release_clang_finds_the_same(self):
        by_executed_cost = ("-mlgo-executed-cost=1,1,4", "-mlgo-eviction-noisy-tries=16")
        for flips in (0, 24):
            with self.subTest(flips=flips):
                made, report, _ = self.searched(*by_executed_cost, f"-mlgo-eviction-flips={flips}")
                for row in report.values():
                    self.assertLess(float(row["best"]), float(row["default"]))
                self.assertEqual(self.made(RELEASE, f"-mlgo-allocations={1 + 16 + flips}"), made)

    def test_the_release_clang_starts_from_the_policy(self):
        default, policy = self.made(RELEASE), self.made(RELEASE, POLICY)
        self.assertNotEqual(default, policy)
        self.assertEqual(self.made(RELEASE, "-mlgo-allocations=1", POLICY), policy)
        self.assertEqual(self.made(RELEASE, "-mlgo-allocations=1"), default)
        better = self.made(RELEASE, "-mlgo-allocations=18", POLICY)
        self.assertEqual(self.made(RELEASE, POLICY, "-mlgo-allocations=18"), better)
        self.assertNotIn(better, (default, policy, self.made(RELEASE, "-mlgo-allocations=18")))

    def test_work_is_limited(self):
        starts, all_tries = (self.made(RELEASE, f"-mlgo-allocations={tries}", POLICY) for tries in (2, 18))
        self.assertNotEqual(starts, all_tries)
        made = [
            self.made(RELEASE, "-mlgo-allocations=18", f"-mlgo-allocations-work={10**n}", POLICY) for n in range(10)
        ]
        self.assertEqual((made[0], made[-1]), (starts, all_tries))
        self.assertGreater(len(set(made)), 2)

    def test_functions_that_a_profile_calls_cold_are_not_searched(self):
        made = self.run_tool(RELEASE, *TARGET.flags, "-O2", "-S", "-emit-llvm", "x.c", "-o", "x.ll")
        self.assertEqual((made.returncode, made.stderr), (0, ""))
        text = (self.folder / "x.ll").read_text()
        for calls, hot_from, is_searched in ((0, None, False), (5, None, True), (5, 10**6, False), (5, 5, True)):
            with self.subTest(calls=calls, hot_from=hot_from):
                (self.folder / "x.ll").write_text(profiled(text, calls, hot_from))
                default, searched = (self.by_llc(*words) for words in ((), ("-mlgo-allocations=17",)))
                self.assertEqual(default != searched, is_searched)

    def test_in_modules_with_a_profile_alone(self):
        made = self.run_tool(RELEASE, *TARGET.flags, "-O2", "-S", "-emit-llvm", "x.c", "-o", "x.ll")
        self.assertEqual((made.returncode, made.stderr), (0, ""))
        text = (self.folder / "x.ll").read_text()
        rule = "-mlgo-allocations-with-profile=18"
        for advisor in ((), (POLICY,)):
            with self.subTest(advisor):
                (self.folder / "x.ll").write_text(text)
                self.assertEqual(self.by_clang(*advisor, rule), self.by_clang(*advisor))
                (self.folder / "x.ll").write_text(profiled(text, 5, 5))
                # No try is the policy's.
                searched = self.by_clang("-mlgo-allocations=18")
                self.assertEqual(self.by_clang(*advisor, rule), searched)
                self.assertNotEqual(searched, self.by_clang())
                self.assertNotEqual(searched, self.by_clang(POLICY, "-mlgo-allocations=18"))
                # The other option wins, in both orders; so do decisions that are given.
                for options in ((rule, "-mlgo-allocations=1"), ("-mlgo-allocations=1", rule)):
                    self.assertEqual(self.by_clang(*advisor, *options), self.by_clang(*advisor, "-mlgo-allocations=1"))
        self.assertEqual(self.by_clang(rule, "-mlgo-evictions-taken=taken"), self.by_clang())
        self.assertGreater((self.folder / "taken").stat().st_size, 0)

    def test_linkers_and_compiles_without_allocation_take_the_rule_and_do_nothing(self):
        rule = ("-mllvm", "-mlgo-allocations-with-profile=18")
        made = self.run_tool(RELEASE, *TARGET.flags, "-O2", "-S", "-emit-llvm", "x.c", "-o", "x.ll")
        self.assertEqual((made.returncode, made.stderr), (0, ""))
        (self.folder / "x.ll").write_text(profiled((self.folder / "x.ll").read_text(), 5, 5))
        linked = []
        for options in ((), rule):
            words = (*TARGET.flags, "-O2", "-flto", "-Wno-override-module", "-x", "ir", "-c", "x.ll", "-o", "x.o")
            done = self.run_tool(RELEASE, *words, *options)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            linker = runfile(RELEASE).resolve().with_name("ld.lld")
            command = [linker, "-shared", "x.o", "-o", "x.so", *options]
            done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            linked.append((self.folder / "x.so").read_bytes())
        self.assertEqual(*linked)

    def by_clang(self, *options: str) -> bytes:
        """The object of x.ll, made silently but for the warning that the heuristic decides. Args: options: of LLVM."""
        silent = (word for option in (*options, "-mlgo-warn-unmeasured=false") for word in ("-mllvm", option))
        words = (*TARGET.flags, "-O2", "-Wno-override-module", "-c", "x.ll", "-o", "x.o", *silent)
        done = self.run_tool(RELEASE, *words)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return (self.folder / "x.o").read_bytes()

    def test_a_compile_that_allocates_no_registers_warns(self):
        for words, count in (
            (("-c", "-flto"), 1),
            (("-c", "-flto=thin"), 1),
            (("-S", "-emit-llvm"), 1),
            (("-S",), 0),
            (("-c",), 0),
        ):
            with self.subTest(words):
                options = ("-mllvm", "-mlgo-allocations=2")
                done = self.run_tool(RELEASE, *TARGET.flags, "-O2", *words, "x.c", "-o", "x.made", *options)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(done.stderr.count("warning: -mlgo-allocations: has no effect, because"), count)

    def by_llc(self, *words: str) -> bytes:
        done = self.run_tool(LLC, "-O2", "-filetype=obj", "x.ll", "-o", "x.o", *words)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return (self.folder / "x.o").read_bytes()

    def test_refusals_of_the_release_compilers(self):
        for options, sentence in (
            (("-mlgo-allocations=0",), "-mlgo-allocations: 0 allocations make no code. Give 1 or more"),
            (
                ("-mlgo-allocations-with-profile=0",),
                "-mlgo-allocations-with-profile: 0 allocations make no code. Give 1 or more",
            ),
            (
                ("-mlgo-allocations=4", "-mlgo-evictions-taken=taken"),
                "-mlgo-allocations: does not go together with -mlgo-evictions-taken",
            ),
        ):
            with self.subTest(options):
                done = self.compiled(RELEASE, *options)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn(sentence, done.stderr)
                self.assertNotIn("PLEASE submit", done.stderr)
        linker = runfile(RELEASE).resolve().with_name("ld.lld")
        done = subprocess.run([linker, "-mllvm", "-mlgo-allocations=4"], capture_output=True, text=True, check=False)
        self.assertIn("Unknown command line argument '-mlgo-allocations=4'", done.stderr)


if __name__ == "__main__":
    unittest.main()
