"""Compiles with a fake compiler: what is kept, what is compiled again, the budget, the choice of a row, the page."""

import dataclasses
import errno
import json
import os
import pathlib
import tempfile
import unittest

from mlgo.project import answer, artefact, goal, page, recorded
from mlgo.project.budget import Allowance, Budget
from mlgo.project.build import Build
from mlgo.project.command_line import Compile, Link
from mlgo.project.compiler import Compiler, compiler_at
from mlgo.project.compiling import Units, prerequisites
from mlgo.project.counting import CACHEGRIND, Runs
from mlgo.project.goal import Measured
from mlgo.project.programs import Program
from mlgo.project.relinking import Parts
from mlgo.project.rows import AS_BUILT, ESTIMATED_ROWS, FASTER_ROWS, SAME_OPTIONS, SMALLER_ROWS, Row
from mlgo.run.exit_codes import RunError

#: Writes the source, a header beside it and the configuration file into the object; counts its runs. A source that
#: holds "error" is refused, "full" finds a full disk. Costs are written unless the source holds "flto".
FAKE = """#!/bin/sh
echo run >> "$(dirname "$0")/runs"
echo "$*" > "$(dirname "$0")/words"
config=${1#--config=} source=$2
while [ $# -gt 0 ]; do
    case $1 in -o) out=$2 ;; -MF) list=$2 ;; esac
    shift
done
if grep -q error $source; then printf '\\033[1m%s\\033[0m\\033[0;1;31m\\n' "$source:1: error: <wrong>" >&2; exit 1; fi
if grep -q full $source; then echo "error: No space left on device" >&2; exit 1; fi
cat $source header.h "$config" > "$out"
costs=$(sed -n 's/.*-mlgo-executed-cost-file=\\(.*\\)".*/\\1/p' "$config")
if [ -n "$costs" ] && ! grep -q flto $source; then echo "costs of $(cat $source)" > "$costs"; fi
printf 'unit.o: %s \\\\\\n  header.h\\n' $source > "$list"
"""


class CompilingTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(os.path.realpath(self.enterContext(tempfile.TemporaryDirectory())))
        for name in ("bin/clang", "bin/ld.lld", "bin/llvm-ar", "lib/mlgo/record/clang"):
            path = self.folder / "prefix" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(FAKE)
            path.chmod(0o755)
        self.compiler = compiler_at(self.folder / "prefix")
        (self.folder / "header.h").write_text("header\n")

    def unit(self, text, *words):
        (self.folder / "a.c").write_text(text)
        return Compile(
            "clang", str(self.folder), ("a.c", *words), str(self.folder / "a.c"), "/a.o", "clang", 1.0, False
        )

    def runs(self):
        path = self.folder / "prefix/bin/runs"
        return len(path.read_text().splitlines()) if path.exists() else 0

    def compile(self, unit, *flags):
        return Units(self.compiler, self.folder / "cache").compile(unit, flags)

    def test_an_object_is_kept_until_something_changes(self):
        unit = self.unit("source\n")
        made = self.compile(unit, "-flag", "-other")
        self.assertEqual(made.object.read_text(), "source\nheader\n-flag\n-other\n")
        again = self.compile(unit, "-flag", "-other")
        self.assertEqual((again.object, again.was_kept, self.runs()), (made.object, True, 1))
        (self.folder / "header.h").write_text("changed\n")
        self.assertIn("changed", self.compile(unit, "-flag", "-other").object.read_text())
        self.compile(unit, "-flag")
        self.compile(self.unit("source\n", "-DX"), "-flag")
        self.assertEqual(self.runs(), 4)

    def test_files_that_changed_after_the_build(self):
        unit = dataclasses.replace(self.unit("source\n"), output=str(self.folder / "a.o"))
        built, header, gone = self.folder / "a.o", self.folder / "header.h", str(self.folder / "gone.h")
        built.write_text("built")
        for time, expected in ((1, []), (3, [str(header)])):
            for path, when in ((self.folder / "a.c", 1), (header, time), (built, 2)):
                os.utime(path, (when, when))
            for _ in ("compiled", "kept"):
                units = Units(self.compiler, self.folder / "cache")
                units.compile(unit, ("-flag",))
                self.assertEqual(answer.newer_files({**units.read, gone: [str(header)]}), expected)
        self.assertEqual(self.runs(), 1)

    def test_a_profile_that_changed(self):
        profile = self.folder / "p.profdata"
        for word in ("-fprofile-use=p.profdata", f"-fprofile-sample-use={profile}", f"-fprofile-list={profile}"):
            unit = self.unit("source\n", word)
            profile.write_text("one")
            self.compile(unit)
            self.assertTrue(self.compile(unit).was_kept, word)
            profile.write_text("other")
            self.assertFalse(self.compile(unit).was_kept, word)

    def test_costs_are_kept_with_the_object(self):
        units = Units(self.compiler, self.folder / "cache", with_costs=True)
        unit = self.unit("source\n")
        made = units.compile(unit, ())
        assert made.costs is not None
        self.assertEqual(made.costs.read_text(), "costs of source\n")
        again = Units(self.compiler, self.folder / "cache", with_costs=True).compile(unit, ())
        self.assertEqual((again.costs, again.was_kept), (made.costs, True))
        units.remove_unused()
        self.assertTrue(made.costs.exists())
        made.costs.unlink()
        self.assertFalse(units.compile(unit, ()).was_kept)
        # Without an estimate nothing of it is asked for.
        self.assertIsNone(self.compile(unit).costs)
        self.assertNotIn("cost", self.compile(unit).object.read_text())

    def test_a_compile_that_writes_no_costs(self):
        units = Units(self.compiler, self.folder / "cache", with_costs=True)
        made = units.compile(self.unit("flto\n"), ())
        self.assertIsNone(made.object)
        self.assertIn("wrote no executed cost: it has none at -O0, and with -flto", made.reason)

    def test_an_entry_that_is_damaged_is_made_again(self):
        unit = self.unit("source\n")
        self.compile(unit)
        (entry,) = (self.folder / "cache/units").iterdir()
        for damage in ("", "{}", "[]", '{"object": 1, "read": 2}'):
            entry.write_text(damage)
            self.assertFalse(self.compile(unit).was_kept, damage)
        for object_file in (self.folder / "cache/objects").iterdir():
            object_file.unlink()
        self.assertFalse(self.compile(unit).was_kept)

    def test_what_is_no_longer_used_is_removed(self):
        self.compile(self.unit("one\n"))
        units = Units(self.compiler, self.folder / "cache")
        units.compile(self.unit("two\n"), ())
        units.remove_unused()
        self.assertEqual([len(os.listdir(self.folder / "cache" / name)) for name in ("objects", "units")], [1, 1])

    def test_a_unit_that_clang_refuses(self):
        made = self.compile(self.unit("error\n"))
        self.assertEqual((made.object, made.reason), (None, "a.c:1: error: <wrong>"))

    def test_a_full_disk(self):
        with self.assertRaisesRegex(RunError, "no space left"):
            self.compile(self.unit("full\n"))

    def test_prerequisites(self):
        text = "unit.o: a.c b\\ c.h \\\n  d$$.h e\\#.h\n\nheader.h:\n"
        self.assertEqual(prerequisites(text)[:4], ["a.c", "b c.h", "d$.h", "e#.h"])

    def test_no_compiler(self):
        with self.assertRaisesRegex(RunError, "holds no compiler: bin/clang is not there"):
            compiler_at(self.folder)


class ResultTest(unittest.TestCase):
    def setUp(self):
        self.goal = goal.smaller(Compiler(pathlib.Path("/prefix")), pathlib.Path("/scratch"))

    def measured(self, *sizes, row=SMALLER_ROWS[0]):
        built = Measured(AS_BUILT, {"code": 1000, "file": 2000, "xz": 900}, 1.0)
        return [built, *(Measured(row, {"code": code, "file": file, "xz": 1}, time) for code, file, time in sizes)]

    def best(self, *sizes):
        """(bytes of code, seconds) of the best of rows with `sizes`."""
        found = self.goal.best(self.measured(*sizes))
        assert found is not None and found.figures is not None
        return found.figures["code"], found.seconds

    def test_the_smallest_file_and_of_equals_the_least_code_and_the_first(self):
        best = self.goal.best
        found = self.best((900, 1500, 1.0), (701, 1000, 9.0), (700, 1000, 2.0), (1, 1990, 0.1))
        self.assertEqual(found, (700, 2.0))
        self.assertEqual(self.best((700, 1000, 9.0), (700, 1000, 2.0)), (700, 9.0))
        self.assertIsNone(best(self.measured((1000, 2000, 1.0))))
        self.assertIsNone(best(self.measured((1000, 1999, 1.0))))
        self.assertIsNone(best(self.measured((900, 2001, 1.0))))
        # The same pages, less code.
        self.assertEqual(self.best((950, 2000, 1.0), (900, 1999, 1.0)), (900, 1.0))
        self.assertIsNone(best([*self.measured(), Measured(SMALLER_ROWS[0], None, why_not="x")]))
        self.assertIsNone(best(self.measured((1, 1, 1.0), row=SAME_OPTIONS)))

    def test_what_could_not_be_measured_is_not_called_larger(self):
        link = Link("clang", "/", (), "/built", "clang", 1.0, ())
        failed = [Measured(row, None, why_not="linking built: x.o is not there") for row in SMALLER_ROWS[:2]]
        for more, said in (
            (failed, "was measured: linking built: x.o is not there"),
            ([*failed, *self.measured((1000, 2000, 1.0))[1:]], "is smaller than the build"),
        ):
            measured = [*self.measured(), *more]
            program = Program(link, 1, "x86-64")
            lines = answer.closing(self.goal, measured, None, program, Parts(Build([]), link), pathlib.Path("mlgo"))
            self.assertEqual(lines[0], f"built: no variant {said}")

    def test_a_row_with_more_code_than_the_build_is_the_last_choice(self):
        best = self.goal.best
        self.assertEqual(self.best((1100, 640, 1.0), (950, 650, 1.0))[0], 950)
        self.assertEqual(self.best((1100, 640, 1.0))[0], 1100)
        # So little is what linkers differ in.
        self.assertEqual(self.best((1001, 640, 1.0), (950, 2000, 1.0))[0], 1001)
        sizes = {20_000: 90_000, 20_030: 32_000, 20_001: 89_000}
        rows = [Measured(SMALLER_ROWS[0], {"code": code, "file": file}, 1.0) for code, file in sizes.items()]
        self.assertIs(best(rows), rows[1])
        counts = {1000: 900, 1100: 800}
        rows = [
            Measured(FASTER_ROWS[0], {"instructions": count, "data references": 100, "code": code}, 1.0)
            for code, count in counts.items()
        ]
        program = Program(Link("clang", "/", (), "/built", "clang", 1.0, ()), 1, "x86-64")
        faster = goal.faster(Runs(CACHEGRIND, program, [], pathlib.Path("/scratch")), "a counter", FASTER_ROWS)
        self.assertIs(faster.best(rows), rows[1])

    def test_a_few_bytes_of_the_file_are_less_than_many_of_the_code(self):
        self.assertEqual(self.best((990, 1500, 1.0), (830, 1512, 1.0))[0], 830)

    def test_thin_lto_is_chosen_where_it_is_the_smallest(self):
        thin = next(row for row in SMALLER_ROWS if "ThinLTO" in row.name)
        found = self.goal.best([*self.measured((1012, 640, 1.0)), *self.measured((905, 626, 1.4), row=thin)[1:]])
        assert found is not None
        self.assertEqual(found.row, thin)
        # Archives and links of others read the machine code.
        self.assertIn("-ffat-lto-objects", found.row.config)

    def test_budget(self):
        budget = Budget(10.0)
        self.assertTrue(budget.reserve(6.0))
        self.assertFalse(budget.reserve(4.1))
        self.assertEqual(budget.left, 4.0)
        budget.settle(6.0, 7.0)
        self.assertEqual((budget.left, budget.spent), (3.0, 7.0))

    def test_a_small_project_may_take_seconds(self):
        default = Allowance(2.0, 20.0)
        self.assertEqual([default.of(seconds) for seconds in (0.0, 3.0, 30.0)], [20.0, 20.0, 60.0])
        self.assertEqual([Allowance(0.5).of(seconds) for seconds in (0.0, 30.0)], [0.5, 15.0])

    def test_rows(self):
        for rows in (SMALLER_ROWS, FASTER_ROWS, ESTIMATED_ROWS):
            self.assertEqual(len({row.name for row in rows}), len(rows))
            factors: dict[tuple[str, ...] | None, float] = {}
            for row in rows:
                self.assertEqual(len(set(row.config)), len(row.config), row.name)
                if not row.is_tuned:
                    self.assertEqual(factors.setdefault(row.compile_flags, row.factor), row.factor, row.name)
            if rows is not FASTER_ROWS:
                self.assertEqual(list(factors.values()), sorted(factors.values()))
        self.assertIn("-mllvm -mlgo-search=2", SMALLER_ROWS[-1].config)

    def test_the_page_escapes_what_others_wrote(self):
        measured = [*self.measured((900, 1500, 1.0)), Measured(Row("<r>", (), (), 0.0), None, why_not="<why>")]
        text = page.render("<p>&", self.goal, ["<line>"], measured, measured[1], ["<x>"], {"<a.c>": "<b>"}, ["<n>"])
        for name in ("<p>&", "<line>", "<r>", "<why>", "<x>", "<a.c>", "<b>", "<n>"):
            self.assertNotIn(name, text.replace("<p>&lt;line", ""))
        self.assertEqual(text.count('class="chosen"'), 1)
        self.assertIn("−25.0 %", text)

    def test_the_page_shows_what_a_viewer_would_obey(self):
        measured = self.measured((900, 1500, 1.0))
        text = page.render("a\u202ec.exe", self.goal, [], measured, measured[1], ["x\ty", "z"], {}, ["\x1b[2J\udcff"])
        self.assertIn(r"a\u202ec.exe", text)
        self.assertIn("<pre>x\ty\nz</pre>", text)
        self.assertIn(r"<li>\x1b[2J\xff</li>", text)

    def test_the_artefact(self):
        with tempfile.TemporaryDirectory() as scratch:
            project = pathlib.Path(os.path.realpath(scratch))
            folder = project / "mlgo"
            artefact.opened(folder)
            self.assertEqual((folder / ".cache/.gitignore").read_text(), "*\n")
            (project / "clang").mkdir()
            (project / "clang/bin").mkdir()
            (project / "clang/bin/clang").write_text("compiler")
            compiler = Compiler(project / "clang")
            (project / "a.c").write_text("one")
            measured = self.measured((900, 1500, 1.0))

            def write(chosen):
                source = [str(project / "a.c")]
                content = artefact.content_of(project, compiler, self.goal, "/other/p", measured, chosen, source, {})
                artefact.write(folder, content, chosen, "page")

            write(measured[1])
            self.assertIsNone(artefact.stale(folder, compiler))
            self.assertEqual(json.loads((folder / "mlgo.json").read_text())["sources"].keys(), {"a.c"})
            (project / "a.c").write_text("two")
            self.assertEqual(artefact.stale(folder, compiler), "was measured before 1 of 1 sources changed")
            (project / "clang/bin/clang").write_text("other compiler")
            self.assertEqual(artefact.stale(folder, compiler), "was measured with another compiler")
            tuned = dataclasses.replace(measured[1], decisions="mlgo-decisions 1\n")
            write(tuned)
            (decisions,) = folder.glob("*.decisions")
            self.assertEqual(decisions.read_text(), "mlgo-decisions 1\n")
            option = f'-mllvm "-mlgo-decisions=<CFGDIR>/{decisions.name}"'
            self.assertEqual((folder / "mlgo.cfg").read_text().splitlines()[-1], option)
            write(dataclasses.replace(measured[1], profile=b"counts"))
            self.assertEqual(list(folder.glob("*.decisions")), [])
            (profile,) = folder.glob("*.profdata")
            self.assertEqual(profile.read_bytes(), b"counts")
            option = f'"-fprofile-use=<CFGDIR>/{profile.name}"'
            self.assertEqual((folder / "mlgo.cfg").read_text().splitlines()[-1], option)
            write(measured[1])
            self.assertEqual(list(folder.glob("*.profdata")), [])
            write(None)
            with self.assertRaisesRegex(RunError, "Run `mlgo smaller -- COMMAND` first"):
                artefact.stale(folder, compiler)

    def test_one_run_at_a_time_which_removes_what_a_killed_one_left(self):
        with tempfile.TemporaryDirectory() as scratch:
            cache = artefact.opened(pathlib.Path(scratch, "mlgo"))
            (cache / "records.x").mkdir()
            (cache / "objects/.compile.x").mkdir(parents=True)
            with artefact.locked(cache):
                self.assertEqual(sorted(os.listdir(cache)), [".gitignore", "objects", "records.x"])
                self.assertEqual(os.listdir(cache / "objects"), [])
                with self.assertRaisesRegex(RunError, "is in use by another"), artefact.locked(cache):
                    pass
            with self.assertRaisesRegex(RunError, "no space is left on its disk"), artefact.locked(cache):
                raise OSError(errno.ENOSPC, "No space left on device")

    def test_a_recording_that_is_damaged_is_none(self):
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            self.assertEqual(artefact.read_recording(folder), {})
            for text in (
                *("", "[]", '{"format": 7}', '{"format": 1}', '{"format": 1, "commands": [7]}'),
                '{"format": 1, "commands": [], "build_seconds": "x", "changed": {}}',
            ):
                (folder / "recording.json").write_text(text)
                self.assertEqual(artefact.read_recording(folder), {})
            text = json.dumps(
                {"format": 1, "commands": [{"kind": "Compile", "output": "a.o"}], "build_seconds": 1, "changed": {}}
            )
            (folder / "recording.json").write_text(text)
            with self.assertRaisesRegex(RunError, "recording.json: was not written by this mlgo. Remove it, clean"):
                recorded.read(folder, "smaller")

    def test_a_source_that_is_no_file_counts_as_changed(self):
        with tempfile.TemporaryDirectory() as scratch:
            pipe = pathlib.Path(scratch, "pipe")
            os.mkfifo(pipe)
            for path in (pipe, "/dev/zero", "a\0b", scratch):
                self.assertIsNone(artefact.digest_of(path), path)


if __name__ == "__main__":
    unittest.main()
