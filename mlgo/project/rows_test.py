"""The rows of a program with a fake of the linker: what the budget holds, what is shared, what is left out."""

import dataclasses
import os
import pathlib

from mlgo.project.build import Program
from mlgo.project.command_line import Compile, Link
from mlgo.project.compiler import Compiler
from mlgo.project.compiling import Compiled, Units
from mlgo.project.estimate import Estimate
from mlgo.project.goal import Goal
from mlgo.project.measuring import Measuring, rows_not_tried
from mlgo.project.profile import Profiler
from mlgo.project.relinking import Parts, Relinker
from mlgo.project.rows import FASTER_ROWS, INSTRUMENTED, SMALLER_ROWS, Row, faster_rows, why_no_link_flags
from mlgo.project.steps import Allowance
from mlgo.project.testing.project_case import ProjectCase, elf_library, elf_of_code
from mlgo.run.exit_codes import RunError

ROWS = (
    Row("linker", None, ("-l",), 0.0),
    Row("small", ("-s",), (), 1.0),
    Row("small, linker", ("-s",), ("-l",), 1.0),
    Row("smaller", ("-t",), (), 1.0),
)


class FakeParts(Parts):
    def __init__(self, units: list[Compile], absent: set[str]):
        self.units = {unit.output: unit for unit in units}
        self.absent = absent


class FakeRelinker(Relinker):
    """Compiles take what they were estimated; a linked file is as large as its flags say."""

    jobs = 1
    refused: str | None = None
    is_broken = False
    content = b""
    link_seconds = 0.0

    def __init__(self, folder, parts, say):
        self.folder, self.parts, self.say, self.compiled, self.linked = folder, parts, say, [], 0
        self.units = Units(Compiler(folder), folder / "cache", {})

    def compile(self, flags, budget, expected, name):
        seconds = sum(expected.values())
        if not budget.reserve(seconds):
            return None
        budget.settle(seconds, seconds)
        if expected:
            self.compiled.append(flags)
        return {output: Compiled(pathlib.Path(output), 1.0) for output in expected}

    def link(self, link, objects, flags, name):
        self.linked += 1
        if self.is_broken or self.refused in flags:
            raise RunError("linking", "unknown argument", "")
        path = self.folder / "linked"
        path.write_bytes(self.content or bytes(100 - 10 * len(objects) - 5 * len(flags)))
        return path, self.link_seconds


class FakeEstimate(Estimate):
    """Each build is better than the one before; after `most` a compile has written nothing."""

    def __init__(self, most=2):
        self.seen, self.most = [], most

    def figures_of(self, objects):
        self.seen.append(sorted(objects))
        if len(self.seen) > self.most:
            raise RunError("0.o", "wrote no cost", "")
        return {"code": 1, "file": 101 - len(self.seen)}


class FakeProfiler(Profiler):
    """Makes a file with the content of the instrumented program."""

    def __init__(self, path):
        self.path, self.made = path, 0

    def profile_of(self, image):
        self.made += 1
        if self.path is None:
            raise RunError("the run", "writes no profile", "")
        self.path.write_bytes(image.read_bytes())
        return self.path


class MeasuringRowsTest(ProjectCase):
    def setUp(self):
        super().setUp()
        self.said = []
        (self.folder / "built").write_bytes(elf_of_code(bytes(8)))
        self.goal = Goal(
            "smaller", "bytes", ROWS, ("file",), "", lambda path: {"code": 1, "file": os.path.getsize(path)}
        )

    def measure(self, times, sources=(), seconds=2.0, absent=(), words=(), name="built", **fake):
        units = [Compile("clang", "/", (), f"/{n}.c", f"/{n}.o", "clang", seconds / 2, False) for n in range(2)]
        link = Link("clang", "/", words, str(self.folder / name), "clang", 4.0, tuple(sources))
        self.relinker = FakeRelinker(self.folder, FakeParts(units, set(absent)), self.said.append)
        vars(self.relinker).update(fake)
        program = Program(link, 1, "x86-64")
        measuring = Measuring(self.goal, program, self.relinker, Allowance(times), seconds, self.folder)
        measured = measuring.measure()
        return {one.row.name: one.figures and one.figures["file"] for one in measured}, measured

    def test_all_fit(self):
        found, _ = self.measure(2.0)
        self.assertEqual(found, {"as built": 200, "linker": 95, "small": 75, "small, linker": 70, "smaller": 75})
        self.assertEqual(self.relinker.compiled, [("-s",), ("-t",)])
        self.assertEqual(self.said[0], "linker: file −52.5 %")

    def test_the_first_compile_always_fits_and_no_other(self):
        found, measured = self.measure(0.1)
        self.assertEqual((found["small"], found["small, linker"], found["smaller"]), (75, 70, None))
        self.assertEqual(rows_not_tried(measured), ["smaller"])
        self.assertIn("CPU seconds, and 0.0 of the budget of 0.2 are left", measured[-1].why_not)

    def test_a_build_that_was_not_seen_is_made_first(self):
        found, measured = self.measure(1.0, seconds=0.0)
        self.assertEqual(list(found)[1], "mlgo's clang, the same options")
        self.assertEqual(self.relinker.compiled, [(), ("-s",)])
        self.assertEqual(measured[1].seconds, 2.0)

    def test_a_link_that_lld_refuses_is_done_by_the_builds_linker(self):
        row = next(one for one in SMALLER_ROWS if one.name == "-Oz, policy, linker")
        self.goal = dataclasses.replace(self.goal, rows=(row, SMALLER_ROWS[1]))
        found, measured = self.measure(2.0, refused="-fuse-ld=lld")
        self.assertIsNotNone(found["-Oz, policy, linker"])
        self.assertEqual(measured[1].row.link_flags, ("-Wl,--gc-sections",))
        self.assertIn("unknown argument", measured[2].why_not)

    def test_links_that_take_no_options(self):
        why = "the linker script of the build need not keep what --gc-sections drops"
        for words, said in (
            ("-T x.ld", why),
            ("-Wl,-z,now,-Tx.ld", why),
            ("-Wl,--script=x.ld", why),
            ("-Wl,--gc-sections,-T,x.ld", ""),
            ("-Wl,-Ttext=0 -Wl,-Ttext-segment,0", ""),
        ):
            found, measured = self.measure(2.0, words=words.split())
            self.assertEqual([one.why_not for one in measured if one.row.link_flags], [said] * 2, words)
            self.assertEqual(found["small"], 75)
        self.assertIn("mlgo.cfg", why_no_link_flags("ld", ()))

    def test_code_that_a_link_makes_costs_its_time(self):
        thin = next(row for row in SMALLER_ROWS if "ThinLTO" in row.name)
        self.goal = dataclasses.replace(self.goal, rows=(thin, ROWS[1]))
        _, measured = self.measure(9.0, link_seconds=3.0)
        self.assertEqual([one.seconds for one in measured], [2.0, 5.0, 2.0])
        _, measured = self.measure(9.0, link_seconds=3.0, words=("-flto", "a.o"))
        self.assertEqual([one.seconds for one in measured], [6.0, 5.0, 5.0])
        # What a link compiled itself is in its time.
        _, measured = self.measure(9.0, link_seconds=3.0, words=("-flto", "a.c"), sources=["/a.c"])
        self.assertEqual(measured[0].seconds, 2.0)

    def test_thin_lto_needs_lld(self):
        thin = next(row for row in SMALLER_ROWS if "ThinLTO" in row.name)
        self.goal = dataclasses.replace(self.goal, rows=(thin,))
        _, measured = self.measure(9.0, refused="-fuse-ld=lld")
        self.assertIn("unknown argument", measured[1].why_not)

    def test_rows_with_a_profile_share_one(self):
        rows = [Row(name, (f"-{name}",), (), 1.0, is_profiled=True) for name in ("a", "b")]
        profiler = FakeProfiler(self.folder / "x.profdata")
        self.goal = dataclasses.replace(self.goal, rows=[ROWS[1], *rows], profiler=profiler)
        _, measured = self.measure(9.0)
        self.assertEqual((profiler.made, self.relinker.units.used), (1, {profiler.path}))
        option = f'"-fprofile-use={profiler.path}"'
        compiled = [("-s",), INSTRUMENTED.compile_flags, ("-a", option), ("-b", option)]
        self.assertEqual(self.relinker.compiled, compiled)
        # The row has no path of this machine; mlgo.cfg gets the file's name.
        self.assertEqual([one.row for one in measured[2:]], rows)
        self.assertEqual([one.profile for one in measured], [b"", b"", *2 * [profiler.path.read_bytes()]])

    def test_rows_whose_profile_cannot_be_made(self):
        rows = [Row("a", ("-a",), (), 1.0, is_profiled=True)]
        for times, profiler, why in (
            (9.0, None, "there is no run to make a profile of"),
            (9.0, FakeProfiler(None), "the run: writes no profile"),
            (1.5, FakeProfiler(None), "about 2.2 CPU seconds, and 1.0 of the budget of 3.0 are left"),
        ):
            self.goal = dataclasses.replace(self.goal, rows=[ROWS[1], *rows], profiler=profiler)
            _, measured = self.measure(times)
            self.assertEqual((measured[2].figures, measured[2].why_not), (None, why))

    def test_rows_that_would_not_change_a_build(self):
        all_rows = {row.name for row in FASTER_ROWS}
        profiled = {row.name for row in FASTER_ROWS if row.is_profiled}
        self.assertEqual(len(profiled), 4)
        thin = {"ThinLTO", "profile, ThinLTO"}
        for units, link, gone in (
            ([["-O2"], ["-O3"]], [], set()),
            ([["-O3"], ["-Ofast"]], [], {"-O3"}),
            ([["-O2"], ["-O2", "-fprofile-use=x"]], [], profiled),
            ([["-O2", "-flto"]], ["-flto", "a.o"], thin),
        ):
            self.assertEqual(all_rows - {row.name for row in faster_rows(units, link)}, gone, units)

    def test_an_estimate_compares_compiles_and_links_nothing(self):
        estimate = FakeEstimate()
        rows = [one for one in ROWS if one.name in ("small", "smaller")]
        self.goal = dataclasses.replace(self.goal, rows=rows, estimate=estimate)
        _, measured = self.measure(2.0, sources=["/a.c"])
        self.assertEqual(estimate.seen, [["/0.o", "/1.o"]] * 3)
        self.assertEqual([one.row.name for one in measured], ["mlgo's clang, the same options", "small", "smaller"])
        self.assertEqual([one.figures["file"] for one in measured[:2]], [100, 99])
        # What one compile does not write is an error of its row.
        self.assertEqual((measured[2].figures, measured[2].why_not), (None, "0.o: wrote no cost"))
        self.assertEqual(self.relinker.linked, 0)

    def test_an_estimate_of_what_cannot_be_estimated(self):
        estimate = FakeEstimate(most=0)
        self.goal = dataclasses.replace(self.goal, estimate=estimate)
        with self.assertRaisesRegex(RunError, "an estimate for built: 0.o: wrote no cost. Count what a run executes"):
            self.measure(2.0)

    def test_objects_that_are_not_there_are_made_outside_the_budget(self):
        found, _ = self.measure(1.0, absent=["/1.o"])
        self.assertEqual(found, {"as built": 200, "linker": 85, "small": 75, "small, linker": 70, "smaller": None})
        self.assertEqual(self.relinker.compiled, [(), ("-s",)])

    def test_a_library_that_lost_an_export_is_not_smaller(self):
        self.write("built.d/libx.so", elf_library("one", "two", "_init"))
        for exported, why in (
            (("two", "one"), ""),
            (("two",), "linking libx.so: lost 1 exported symbols, such as one"),
        ):
            linked = {"words": ("-shared", "a.o"), "name": "built.d/libx.so", "content": elf_library(*exported)}
            _, measured = self.measure(2.0, **linked)
            self.assertEqual({one.why_not for one in measured[1:]}, {why})

    def test_a_program_that_is_not_there_is_linked_again(self):
        (self.folder / "built").unlink()
        for _ in ("gone", "a script now"):
            found, measured = self.measure(1.0)
            self.assertEqual((found["as built"], measured[0].seconds), (100, 2.0))
            self.program("built", "exec ./built.bin")
        (self.folder / "built").unlink()
        with self.assertRaisesRegex(RunError, "built: is not there, and cannot be linked again: linking: unknown"):
            self.measure(1.0, is_broken=True)
