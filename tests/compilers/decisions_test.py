"""Compilers take inlining decisions from a file (-mlgo-decisions), all of them the same ones."""

import functools
import hashlib
import os
import pathlib
import re
import subprocess
import tempfile
import unittest
from collections.abc import Sequence

from mlgo.compiler.code_size import code_of_object
from mlgo.corpus.corpus import Module
from mlgo.problems.problem import load_problem
from mlgo.run.locate import runfile
from tests.compilers.modules import SIZE_CORPUS, compile_to_object, held_out_modules, pipeline_for_size

PROBLEM = load_problem("inlining_for_size")
POLICY_ON = PROBLEM.release_flags()
#: A compiler with a made-up policy, which inlines other calls than the default.
CLANG, OPT, DEVELOPMENT = "tests/compilers/cpp_clang", "tests/compilers/opt", "development/clang"
STOCK = "tests/compilers/packaged_clang"
OTHERWISE = ("default", "policy", "cost-below 12")
PROJECTS = ("lua", "re2", "zstd")
SOURCE = """
extern int data[];
static int one(int x) { return data[x] * 3 + data[x + 1]; }
static int two(int x) { return one(x) + one(x + 7); }
static int big(int x) {
  int s = 0;
  for (int i = 0; i < x; i++) { s += data[i] ^ two(i); if (s & 1) s += data[i + 3] * 5; }
  return s;
}
int f(int x) { return big(x) + two(x); }
int g(int x) { return big(x + 1) - one(x) + two(2); }
"""
#: What the default decides there.
DECISIONS = """\
inline	two	one	two	0	0
inline	two	one	two	1	0
keep	big	two	big	0	0
keep	f	big	f	0	0
keep	f	two	f	0	0
keep	g	big	g	0	0
inline	g	one	g	0	0
keep	g	two	g	0	0
"""


def written(decisions: str, otherwise: str = "default", module: str = "x.c") -> str:
    """A decision file with one section."""
    return f"mlgo-decisions 1\nmodule\t{module}\notherwise {otherwise}\n{decisions}"


def flipped(decisions: str, one_in: int = 1) -> str:
    """The lines of `decisions` with the opposite decision in one of `one_in`, always the same ones."""
    lines = []
    for line in decisions.splitlines():
        word, site = line.split("\t", 1)
        if hashlib.sha256(site.encode()).digest()[0] % one_in == 0:
            word = {"inline": "keep", "keep": "inline"}[word]
        lines.append(f"{word}\t{site}\n")
    return "".join(lines)


def decisions_in(file: str) -> str:
    """The call sites' lines of a file with one section."""
    return file.split("\n", 3)[3]


def given(path: str | pathlib.Path, taken: bool = False) -> list[str]:
    return ["-mllvm", f"-mlgo-decisions{'-taken' if taken else ''}={path}"]


class DecisionsTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.write("x.c", SOURCE)

    def write(self, name: str, content: str) -> str:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
        return name

    def run_tool(self, program: str | pathlib.Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        executable = runfile(program) if isinstance(program, str) else program
        return subprocess.run(
            [executable, *arguments], cwd=self.folder, capture_output=True, text=True, timeout=300, check=False
        )

    def made(self, *arguments: str, program: str = CLANG, source: str = "x.c", level: str = "-Oz") -> bytes:
        """The object that a compiler makes, saying nothing."""
        done = self.run_tool(program, level, "-c", source, "-o", "out.o", *arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return (self.folder / "out.o").read_bytes()

    def taken(self, *arguments: str, source: str = "x.c", program: str = CLANG) -> str:
        """What a compile decides, as a decision file."""
        self.made(*arguments, *given("taken", taken=True), source=source, program=program)
        return (self.folder / "taken").read_text()

    def error(self, *arguments: str, program: str = CLANG) -> str:
        done = self.run_tool(program, "-Oz", "-c", "x.c", "-o", "out.o", *arguments)
        self.assertEqual(done.returncode, 1, done.stderr)
        found = re.findall(r"^fatal error: error in backend: (.*)", done.stderr, re.MULTILINE)
        self.assertEqual(len(found), 1, done.stderr)
        return found[0]

    def remarks(self, kind: str, decisions: str) -> list[str]:
        path = self.write("given", decisions)
        done = self.run_tool(CLANG, "-Oz", "-c", "x.c", "-o", "out.o", *given(path), f"-R{kind}=mlgo-decisions")
        self.assertEqual(done.returncode, 0, done.stderr)
        return re.findall(r"remark: (.*) \[", done.stderr)

    def test_what_a_compile_decides(self):
        for program in (CLANG, DEVELOPMENT):
            self.assertEqual(self.taken(program=program), written(DECISIONS))

    def test_flipped_decisions_are_taken(self):
        self.write("given", written(flipped(DECISIONS)))
        lines = self.taken(*given("given")).splitlines()
        named = {line.split("\t", 1)[1] for line in DECISIONS.splitlines()}
        found = [line for line in lines[3:] if line.split("\t", 1)[1] in named]
        self.assertGreater(len(found), 4)
        self.assertLess(set(found), set(flipped(DECISIONS).splitlines()))
        self.assertIs(self.made(*given("given")) == self.made(), False)

    def test_the_options_place_and_the_advisors_mode_do_not_matter(self):
        self.write("given", written(flipped(DECISIONS)))
        wanted = self.made(*given("given"))
        for mode in ("default", "release"):
            flags = ["-mllvm", f"-enable-ml-inliner={mode}"]
            self.assertIs(self.made(*given("given"), *flags) == wanted, True)
            self.assertIs(self.made(*flags, *given("given")) == wanted, True)

    def test_without_a_section_the_asked_mode_decides(self):
        self.write("given", written(flipped(DECISIONS), module="another.c"))
        self.assertIs(self.made(*given("given")) == self.made(), True)
        wanted = {mode: self.made("-mllvm", f"-enable-ml-inliner={mode}") for mode in ("default", "release")}
        self.assertIs(wanted["default"] == wanted["release"], False)
        for mode, alone in wanted.items():
            flags = ["-mllvm", f"-enable-ml-inliner={mode}"]
            self.assertIs(self.made(*given("given"), *flags) == alone, True, f"{mode} after the file")
            self.assertIs(self.made(*flags, *given("given")) == alone, True, f"{mode} before the file")

    def of_module(self, module: Module, flags: Sequence[str], program: str = CLANG) -> bytes:
        return compile_to_object(runfile(program), module, "-Oz", self.folder, flags)

    def assert_equal_to_development(self, module: Module, taken: str, otherwise: str, unlike: bytes) -> None:
        """The release compiler makes the development compiler's object with some of the decisions `taken` flipped."""
        with self.subTest(module=module.name, otherwise=otherwise):
            self.write("given", written(flipped(decisions_in(taken), one_in=3), otherwise, module="*"))
            found = self.of_module(module, given("given"))
            model = runfile("tests/policies/random_inlining_tflite/model.tflite").parent
            flags = PROBLEM.development_flags(None, str(model)) if otherwise == "policy" else []
            self.assertIs(found == self.of_module(module, [*flags, *given("given")], DEVELOPMENT), True)
            self.assertIs(found == unlike, False)

    def test_modules_of_a_project_are_those_of_the_development_compiler(self):
        for module in held_out_modules(SIZE_CORPUS)[:3]:
            compiled = functools.partial(self.of_module, module)
            default = compiled([])
            self.assertIs(compiled(given("taken", taken=True)) == default, True, module.name)
            taken = (self.folder / "taken").read_text()
            policy = compiled(POLICY_ON)
            self.assertIs(compiled([*POLICY_ON, *given("policy", taken=True)]) == policy, True)
            self.write("again", (self.folder / "policy").read_text())
            self.assertIs(compiled(given("again")) == policy, True)
            self.assertIs(policy == default, False)
            for otherwise in OTHERWISE:
                self.assert_equal_to_development(module, taken, otherwise, default)

    def test_modules_of_other_projects_are_those_of_the_development_compiler(self):
        for project in PROJECTS:
            # The largest of those that are not too large: they have most decisions.
            module = max(held_out_modules(f"mlgo/corpus/{project}_oz"), key=lambda one: one.bitcode_size)
            default = self.of_module(module, given("taken", taken=True))
            taken = (self.folder / "taken").read_text()
            self.assertGreater(taken.count("\n"), 20, module.name)
            for otherwise in ("default", "cost-below 12"):
                self.assert_equal_to_development(module, taken, otherwise, default)

    def test_a_module_stops_growing(self):
        """Decisions that inline everything until the module has doubled."""
        module = held_out_modules(SIZE_CORPUS)[0]
        self.write("given", written("", "cost-below 1000000", module="*"))
        flags = [*given("given"), *given("taken", taken=True)]

        def made(program: str, *more: str) -> tuple[bytes, str]:
            return self.of_module(module, [*flags, *more], program), (self.folder / "taken").read_text()

        found = made(CLANG)
        self.assertIs(found == made(DEVELOPMENT), True)
        unlimited = made(CLANG, "-mllvm", "-ml-advisor-size-increase-threshold=1000")
        self.assertLess(len(found[1]), len(unlimited[1]))

    def test_functions_for_speed_are_the_defaults(self):
        self.write("given", written(flipped(DECISIONS)))
        for level in ("-O0", "-O1", "-O2"):
            self.assertIs(self.made(*given("given"), level=level) == self.made(level=level), True, level)

    def test_unknown_call_sites_have_no_effect(self):
        self.write("given", written("inline\tno\tsuch\tcall\t0\t0\nkeep\tf\tbig\tf\tx\t-1\n"))
        self.assertIs(self.made(*given("given")) == self.made(), True)

    def test_an_edit_elsewhere_keeps_the_names_of_call_sites(self):
        edited = SOURCE.replace("int f(int x) {", "int h(int x) { return one(one(x)); }\nint f(int x) { x += one(x);")
        self.write("edited.c", "static int data2[9];\nint *more(void) { return data2; }\n" + edited)
        before = self.taken().splitlines()
        after = self.taken(source="edited.c").splitlines()
        others = [line.split("\t", 1)[1] for line in before[3:] if not line.split("\t")[1] == "f"]
        self.assertGreater(len(others), 4)
        self.assertLess(set(others), {line.split("\t", 1)[1] for line in after[3:]})

    def test_a_section_belongs_to_a_source_file(self):
        self.write("src/lib/x.c", SOURCE)
        flip, same = flipped(DECISIONS), DECISIONS
        default = self.made(source="src/lib/x.c")
        for sections, taken in (
            ([("src/lib/x.c", flip), ("lib/x.c", same)], True),
            ([("lib/x.c", same), ("src/lib/x.c", flip)], True),
            ([("./src//lib/x.c", flip)], True),
            ([("/elsewhere/src/lib/x.c", flip), ("/elsewhere/lib/x.c", same)], True),
            ([("x.c", flip)], True),
            ([("*", flip)], True),
            ([("*", flip), ("x.c", same)], False),
            ([("*", same), ("other/x.c", flip)], True),
            ([("a/lib/x.c", flip), ("b/lib/x.c", flip)], False),
            ([("src/lib/xx.c", flip), ("x.cc", flip), ("lib", flip)], False),
        ):
            with self.subTest(sections=[name for name, _ in sections]):
                lines = "".join(f"module\t{name}\notherwise default\n{body}" for name, body in sections)
                self.write("given", f"mlgo-decisions 1\n{lines}")
                self.assertIs(self.made(*given("given"), source="src/lib/x.c") == default, not taken)

    def test_names_with_any_bytes(self):
        self.write(
            "a %\tb.c",
            'int d[9]; int f(int x) __asm__("a b%\\tc"); static int g(int x) { return d[x]; }\n'
            "int f(int x) { return g(x) + g(x + 1); }\n",
        )
        taken = self.taken(source="a %\tb.c")
        lines = [f"inline\ta%20b%25%09c\tg\ta%20b%25%09c\t{number}\t0\n" for number in range(2)]
        self.assertEqual(taken, written("".join(lines), module="a%20%25%09b.c"))
        self.write("given", taken.replace("inline", "keep"))
        self.assertIn("keep", self.taken(*given("given"), source="a %\tb.c"))

    def test_remarks(self):
        decisions = written(DECISIONS.replace("keep\tg\tbig", "keep\tgone\tbig"))
        self.assertEqual(
            self.remarks("pass-analysis", decisions),
            [
                "'big' in 'g': keep, not in the file",
                "7 of 8 decisions of given applied; 1 call sites asked that it does not name",
            ],
        )
        self.assertEqual(
            self.remarks("pass", decisions),
            [f"'one' in '{caller}': inline, from the file" for caller in ("two", "two", "g")],
        )
        self.assertEqual(len(self.remarks("pass-missed", decisions)), 4)

    def test_no_trace_is_left_in_the_bitcode(self):
        self.write("given", written(DECISIONS))
        for flags in ([], given("given")):
            done = self.run_tool(CLANG, "-Oz", "-S", "-emit-llvm", "x.c", "-o", "-", *flags)
            self.assertIn("define", done.stdout)
            self.assertNotIn("mlgo", done.stdout)

    def test_files_that_are_refused(self):
        sites = DECISIONS.splitlines(keepends=True)
        for content, wrong in (
            ("", 'line 1 is not "mlgo-decisions 1"'),
            ("mlgo-decisions 2\n", "line 1 is not"),
            ("mlgo-decisions 1\r\n", "line 1 is not"),
            ("mlgo-decisions 1\n\n", "line 2 does not begin a module"),
            ("mlgo-decisions 1\notherwise default\n", "line 2 does not begin a module"),
            ("mlgo-decisions 1\nmodule\tx.c", "line 3 is none of"),
            ("mlgo-decisions 1\nmodule\tx.c\n", "line 3 is none of"),
            ("mlgo-decisions 1\nmodule\tx.c\nmodule\ty.c\n", "line 3 is none of"),
            (written("", "nothing"), "line 3 is none of"),
            (written("", "cost-below 1x"), "line 3 is none of"),
            (written("", "cost-below 99999999999999999999"), "line 3 is none of"),
            (written("\n"), "line 4 is no decision"),
            (written("inline\ta\tb\tc\t0\n"), "line 4 is no decision"),
            (written("inlined\ta\tb\tc\t0\t0\n"), "line 4 is no decision"),
            (written("\0" * 1000), "line 4 is no decision"),
            (written(sites[0] + sites[1] + sites[0]), "line 6 decides about a call site a second time"),
            (written("") + "module\tx.c\notherwise default\n", "line 4 names a module a second time"),
        ):
            with self.subTest(content):
                error = self.error(*given(self.write("given", content)))
                self.assertIn(wrong, error)
                self.assertIn("-mlgo-decisions: given, line", error)
                self.assertIn("Make it again", error)

    def test_a_section_far_inside_a_large_file(self):
        # More than the blocks in which a file is read, in lines of many lengths and one that is longer than a block.
        lines = "".join(f"keep\ta\tb\t{'c' * (number % 997)}\t0\t{number}\n" for number in range(2000))
        others = [written(lines, module=f"{name}.c").split("\n", 1)[1] for name in ("first", "second", "d" * 3 * 2**18)]
        own = written(DECISIONS.replace("keep", "inline")).split("\n", 1)[1]
        self.write("alone", "mlgo-decisions 1\n" + own)
        self.write("large", "mlgo-decisions 1\n" + "".join([*others, own, others[0].replace("first", "third")]))
        self.assertEqual(self.taken(*given("large")), self.taken(*given("alone")))
        self.write("wrong", "mlgo-decisions 1\n" + "".join([*others, own, "wrong\n"]))
        number = 1 + 3 * 2002 + own.count("\n") + 1
        self.assertIn(f"wrong, line {number} is no decision", self.error(*given("wrong")))

    def test_paths_that_are_refused(self):
        os.mkfifo(self.folder / "pipe")
        with open(self.folder / "huge", "wb") as file:
            file.truncate(2**31)
        for path, wrong in (
            ("missing", "No such file"),
            (".", "not a regular file"),
            ("pipe", "not a regular file"),
            ("/dev/zero", "not a regular file"),
            ("huge", "2147483648 bytes are more than"),
        ):
            self.assertRegex(self.error(*given(path)), f"-mlgo-decisions: cannot read {path}: .*{wrong}")
        self.assertIn("cannot write missing/taken", self.error(*given("missing/taken", taken=True)))

    def test_a_policy_that_is_not_there(self):
        error = self.error(*given(self.write("given", written("", "policy"))), program=DEVELOPMENT)
        self.assertIn('given says "otherwise policy" for x.c, and this compiler has no policy', error)

    def test_the_interactive_channel_excludes_a_file(self):
        self.write("given", written(DECISIONS))
        error = self.error(*given("given"), *POLICY_ON, "-mllvm", "-inliner-interactive-channel-base=channel")
        self.assertIn("cannot be combined", error)

    def test_a_stock_clang_replays_them(self):
        self.write("given", written(flipped(DECISIONS)))
        self.made(*given("given"), "-mllvm", "-mlgo-decisions-replay=replay", "-gline-tables-only")
        remarks = (self.folder / "replay").read_text().splitlines()
        self.assertIn("mlgo: 'one' will not be inlined into 'two' at callsite two:0:32;", remarks)
        self.assertIn("mlgo: 'one' inlined into 'big' at callsite two:0:41 @ big:2:48;", remarks)
        wanted = code_of_object(self.made(*given("given"), "-gline-tables-only"), "wanted")
        flags = [f"-cgscc-inline-replay{flag}" for flag in ("=replay", "-scope=Module", "-fallback=NeverInline")]
        flags = ["-gline-tables-only", *(word for flag in flags for word in ("-mllvm", flag))]
        self.assertEqual(code_of_object(self.made(*flags, program=STOCK), "replayed"), wanted)
        self.assertNotEqual(code_of_object(self.made("-gline-tables-only", program=STOCK), "default"), wanted)

    def test_without_debug_locations_nothing_is_replayed(self):
        self.made("-mllvm", "-mlgo-decisions-replay=replay")
        self.assertEqual((self.folder / "replay").read_bytes(), b"")

    def test_opt(self):
        self.run_tool(CLANG, "-Oz", "-Xclang", "-disable-llvm-passes", "-emit-llvm", "-c", "x.c", "-o", "x.bc")
        self.write("given", written(flipped(DECISIONS)))
        command = [pipeline_for_size(runfile(OPT)), "x.bc", "-o", "out.bc", "-mlgo-decisions-taken=taken"]
        done = self.run_tool(OPT, *command, "-mlgo-decisions=given")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual((self.folder / "taken").read_text(), self.taken(*given("given")))

    def test_the_back_ends_of_a_thin_link(self):
        linker = self.folder / "ld.lld"
        linker.symlink_to(runfile(CLANG).resolve())
        for name in ("x.c", self.write("y.c", SOURCE.replace("int f", "int f2").replace("int g", "int g2"))):
            self.made("-flto=thin", "-fPIC", source=name)
            (self.folder / "out.o").rename(self.folder / f"{name}.o")

        def linked(*arguments: str) -> bytes:
            done = self.run_tool(linker, "-shared", "x.c.o", "y.c.o", "-o", "out.so", "--thinlto-jobs=1", *arguments)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            return (self.folder / "out.so").read_bytes()

        default = linked()
        self.assertIs(linked(*given("before", taken=True)) == default, True)
        before = (self.folder / "before").read_text()
        self.assertEqual(re.findall(r"^module\t(.*)", before, re.MULTILINE), ["x.c", "y.c"])
        self.assertIn("\nkeep\tf2\tbig\t", before)
        self.write("given", before.replace("\nkeep", "\ninline"))
        self.assertIs(linked(*given("given"), *given("after", taken=True)) == default, False)
        after = (self.folder / "after").read_text()
        self.assertIn("\ninline\tf2\tbig\t", after)
        self.assertNotIn("keep", after)

    def test_two_modules_of_one_source_in_a_program(self):
        # Only one of them could be named in the file.
        linker = self.folder / "ld.lld"
        linker.symlink_to(runfile(CLANG).resolve())
        for name in ("one.o", "two.o"):
            self.made("-flto=thin", "-fPIC", f"-Df={name[:3]}_f", f"-Dg={name[:3]}_g")
            (self.folder / "out.o").rename(self.folder / name)
        command = ["-shared", "one.o", "two.o", "-o", "out.so", "--thinlto-jobs=1"]
        done = self.run_tool(linker, *command, *given("taken", taken=True))
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("-mlgo-decisions-taken: this program inlines in x.c a second time", done.stderr)
        done = self.run_tool(linker, *command, "-mllvm", "-mlgo-decisions-replay=replay")
        self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
