"""Compiles with a fake compiler: what is kept, what is compiled again, the budget, the choice of a row, the page."""

import dataclasses
import errno
import json
import os
import pathlib

from mlgo.project import answer, artefact, goal, page, recorded
from mlgo.project.build import Program
from mlgo.project.command_line import Link
from mlgo.project.compiler import Compiler, compiler_at, digest_of
from mlgo.project.compiling import Units, prerequisites
from mlgo.project.counting import CACHEGRIND, Runs
from mlgo.project.goal import Measured
from mlgo.project.rows import AS_BUILT, ESTIMATED_ROWS, FASTER_ROWS, SAME_OPTIONS, SMALLER_ROWS, Row
from mlgo.project.testing.project_case import ProjectCase
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


class CompilingTest(ProjectCase):
    def setUp(self):
        super().setUp()
        self.compiler = self.installed(FAKE)
        self.header = self.write("header.h", "header\n")

    def source(self, text, *words):
        self.write("a.c", text)
        return self.unit("a.c", *words, output="a.o")

    def runs(self):
        path = self.folder / "prefix/bin/runs"
        return len(path.read_text().splitlines()) if path.exists() else 0

    def units(self, with_costs=False):
        return Units(self.compiler, self.folder / "cache", {}, with_costs)

    def compile(self, unit, *flags):
        return self.units().compile(unit, flags)

    def is_kept(self, unit, with_costs=False):
        before = self.runs()
        self.assertIsNotNone(self.units(with_costs).compile(unit, ()).object)
        return self.runs() == before

    def test_an_object_is_kept_until_something_changes(self):
        unit = self.source("source\n")
        made = self.compile(unit, "-flag", "-other")
        self.assertEqual(made.object.read_text(), "source\nheader\n-flag\n-other\n")
        again = self.compile(unit, "-flag", "-other")
        self.assertEqual((again, self.runs()), (made, 1))
        (self.folder / "header.h").write_text("changed\n")
        self.assertIn("changed", self.compile(unit, "-flag", "-other").object.read_text())
        self.compile(unit, "-flag")
        self.compile(self.source("source\n", "-DX"), "-flag")
        self.assertEqual(self.runs(), 4)

    def test_a_command_that_is_too_long_for_linux(self):
        self.program("prefix/bin/clang", FAKE.replace("config=", 'eval set -- $(cat "${1#@}")\nconfig=', 1))
        made = self.compile(self.source("source\n", f"-DX={'é' * 70_000}"), "-flag")
        self.assertEqual(made.object.read_text(), "source\nheader\n-flag\n")

    def test_files_that_changed_after_the_build(self):
        unit, gone = self.source("source\n"), str(self.folder / "gone.h")
        built = self.write("a.o", "built")
        for time, expected in ((1, []), (3, [self.header])):
            for path, when in ((unit.source, 1), (self.header, time), (built, 2)):
                os.utime(path, (when, when))
            for _ in ("compiled", "kept"):
                units = self.units()
                units.compile(unit, ("-flag",))
                self.assertEqual(answer.newer_files({**units.read, gone: [self.header]}), expected)
        self.assertEqual(self.runs(), 1)

    def test_a_profile_that_changed(self):
        profile = self.folder / "p.profdata"
        for word in ("-fprofile-use=p.profdata", f"-fprofile-sample-use={profile}", f"-fprofile-list={profile}"):
            unit = self.source("source\n", word)
            profile.write_text("one")
            self.compile(unit)
            self.assertTrue(self.is_kept(unit), word)
            profile.write_text("other")
            self.assertFalse(self.is_kept(unit), word)

    def test_costs_are_kept_with_the_object(self):
        units = self.units(True)
        unit = self.source("source\n")
        made = units.compile(unit, ())
        assert made.costs is not None
        self.assertEqual(made.costs.read_text(), "costs of source\n")
        self.assertEqual((self.units(True).compile(unit, ()), self.runs()), (made, 1))
        units.remove_unused()
        self.assertTrue(made.costs.exists())
        made.costs.unlink()
        self.assertFalse(self.is_kept(unit, True))
        # Without an estimate nothing of it is asked for.
        self.assertIsNone(self.compile(unit).costs)
        self.assertNotIn("cost", self.compile(unit).object.read_text())

    def test_an_entry_that_is_damaged_is_made_again(self):
        unit = self.source("source\n")
        self.compile(unit)
        (entry,) = (self.folder / "cache/units").iterdir()
        for damage in ("", "{}", "[]", '{"object": 1, "read": 2}', "[" * 100_000):
            entry.write_text(damage)
            self.assertFalse(self.is_kept(unit), damage)
        (object_file,) = (self.folder / "cache/objects").iterdir()
        for content in (None, "cut o"):
            object_file.unlink()
            if content is not None:
                object_file.write_text(content)
            self.assertFalse(self.is_kept(unit))
            self.assertTrue(self.is_kept(unit))

    def test_what_is_no_longer_used_is_removed(self):
        self.compile(self.source("one\n"))
        units = self.units()
        units.compile(self.source("two\n"), ())
        units.remove_unused()
        self.assertEqual([len(os.listdir(self.folder / "cache" / name)) for name in ("objects", "units")], [1, 1])

    def test_units_that_clang_refuses(self):
        made = self.compile(self.source("error\n"))
        self.assertEqual((made.object, made.reason), (None, "a.c:1: error: <wrong>"))
        without_costs = self.units(True).compile(self.source("flto\n"), ())
        self.assertIsNone(without_costs.object)
        self.assertIn("wrote no executed cost: it has none at -O0, and with -flto", without_costs.reason)
        with self.assertRaisesRegex(RunError, "no space left"):
            self.compile(self.source("full\n"))

    def test_prerequisites(self):
        text = "unit.o: a.c b\\ c.h \\\n  d$$.h e\\#.h\n\nheader.h:\n"
        self.assertEqual(prerequisites(text)[:4], ["a.c", "b c.h", "d$.h", "e#.h"])

    def test_no_compiler(self):
        with self.assertRaisesRegex(RunError, "holds no compiler: bin/clang is not there"):
            compiler_at(self.folder)


class ResultTest(ProjectCase):
    def setUp(self):
        super().setUp()
        self.goal = goal.smaller(Compiler(pathlib.Path("/prefix")), pathlib.Path("/scratch"))

    def measured(self, *sizes, row=SMALLER_ROWS[0]):
        built = Measured(AS_BUILT, {"code": 1000, "file": 2000, "xz": 900}, 1.0)
        return [built, *(Measured(row, {"code": code, "file": file, "xz": 1}, time) for code, file, time in sizes)]

    def result(self, measured, chosen=None, program="/built", sources=(), others=(), notes=()):
        return goal.Result(self.goal, program, sources, measured, chosen, dict(others), notes)

    def test_the_smallest_file_and_of_equals_the_least_code_and_the_first(self):
        for sizes, best in (
            (((900, 1500, 1.0), (701, 1000, 9.0), (700, 1000, 2.0), (1, 1990, 0.1)), (700, 2.0)),
            (((700, 1000, 9.0), (700, 1000, 2.0)), (700, 9.0)),
            (((1000, 2000, 1.0),), None),
            (((1000, 1999, 1.0),), None),
            (((900, 2001, 1.0),), None),
            # The same pages, less code.
            (((950, 2000, 1.0), (900, 1999, 1.0)), (900, 1.0)),
            # A row with more code than the build is the last choice.
            (((1100, 640, 1.0), (950, 650, 1.0)), (950, 1.0)),
            (((1100, 640, 1.0),), (1100, 1.0)),
            # So little is what linkers differ in.
            (((1001, 640, 1.0), (950, 2000, 1.0)), (1001, 1.0)),
            # A few bytes of the file are less than many of the code.
            (((990, 1500, 1.0), (830, 1512, 1.0)), (830, 1.0)),
        ):
            found = self.goal.best(self.measured(*sizes))
            self.assertEqual(found and found.figures and (found.figures["code"], found.seconds), best, sizes)
        self.assertIsNone(self.goal.best([*self.measured(), Measured(SMALLER_ROWS[0], None, why_not="x")]))
        self.assertIsNone(self.goal.best(self.measured((1, 1, 1.0), row=SAME_OPTIONS)))

    def test_what_could_not_be_measured_is_not_called_larger(self):
        failed = [Measured(row, None, why_not="linking built: x.o is not there") for row in SMALLER_ROWS[:2]]
        for more, said in (
            (failed, "was measured: linking built: x.o is not there"),
            ([*failed, *self.measured((1000, 2000, 1.0))[1:]], "is smaller than the build"),
        ):
            lines = answer.closing(self.result([*self.measured(), *more]), pathlib.Path("mlgo"), False)
            self.assertEqual(lines[0], f"built: no variant {said}")

    def test_a_row_with_more_code_than_the_build_is_the_last_choice(self):
        sizes = {20_000: 90_000, 20_030: 32_000, 20_001: 89_000}
        rows = [Measured(SMALLER_ROWS[0], {"code": code, "file": file}, 1.0) for code, file in sizes.items()]
        self.assertIs(self.goal.best(rows), rows[1])
        figures = [{"instructions": 900 - more, "data references": 100, "code": 1000 + more} for more in (0, 100)]
        rows = [Measured(FASTER_ROWS[0], each, 1.0) for each in figures]
        program = Program(Link("clang", "/", (), "/built", "clang", 1.0, ()), 1, "x86-64")
        faster = goal.faster(Runs(CACHEGRIND, program, [], pathlib.Path("/scratch")), FASTER_ROWS)
        self.assertIs(faster.best(rows), rows[1])

    def test_thin_lto_is_chosen_where_it_is_the_smallest(self):
        thin = next(row for row in SMALLER_ROWS if "ThinLTO" in row.name)
        found = self.goal.best([*self.measured((1012, 640, 1.0)), *self.measured((905, 626, 1.4), row=thin)[1:]])
        assert found is not None
        self.assertEqual(found.row, thin)
        # Archives and links of others read the machine code.
        self.assertIn("-ffat-lto-objects", found.row.config)

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
        result = self.result(measured, measured[1], "/<p>&", others={"<a.c>": "<b>"}, notes=["<n>"])
        text = page.render(result, ["<line>"], ["<x>"])
        for name in ("<p>&", "<line>", "<r>", "<why>", "<x>", "<a.c>", "<b>", "<n>"):
            self.assertNotIn(name, text.replace("<p>&lt;line", ""))
        self.assertEqual(text.count('class="chosen"'), 1)
        self.assertIn("−25.0 %", text)

    def test_the_page_shows_what_a_viewer_would_obey(self):
        measured = self.measured((900, 1500, 1.0))
        result = self.result(measured, measured[1], "a\u202ec.exe", notes=["\x1b[2J\udcff"])
        text = page.render(result, [], ["x\ty", "z"])
        self.assertIn(r"a\u202ec.exe", text)
        self.assertIn("<pre>x\ty\nz</pre>", text)
        self.assertIn(r"<li>\x1b[2J\xff</li>", text)

    def test_the_artefact(self):
        folder, compiler, source = self.folder / "mlgo", self.installed("compiler"), self.write("a.c", "one")
        artefact.opened(folder)
        self.assertEqual((folder / ".cache/.gitignore").read_text(), "*\n")
        measured = self.measured((900, 1500, 1.0))

        def write(chosen):
            content = artefact.content_of(self.folder, compiler, self.result(measured, chosen, sources=[source]))
            artefact.write(folder, content, chosen, "page")

        write(measured[1])
        self.assertIsNone(artefact.stale(folder, compiler))
        again = "; `mlgo smaller` with the flags that it had measures again"
        self.assertEqual(json.loads((folder / "mlgo.json").read_text())["sources"].keys(), {"a.c"})
        self.write("a.c", "two")
        self.assertEqual(artefact.stale(folder, compiler), f"was measured before 1 of 1 sources changed{again}")
        # One that the build generates, after a clean.
        os.rename(self.folder / "a.c", self.folder / "b.c")
        self.assertIsNone(artefact.stale(folder, compiler))
        os.rename(self.folder / "b.c", self.folder / "a.c")
        self.installed("other compiler")
        self.assertEqual(artefact.stale(folder, compiler), f"was measured with another compiler{again}")
        write(dataclasses.replace(measured[1], decisions="mlgo-decisions 1\n"))
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

    def test_folders_of_others_stay_as_they_are(self):
        self.write("own/.cache/clangd/index")
        profile = self.write("own/app.profdata")
        with self.assertRaisesRegex(RunError, "holds files that mlgo did not write: .cache, app.profdata"):
            artefact.opened(self.folder / "own")
        artefact.opened(self.folder / "mlgo")
        os.rename(profile, self.folder / "mlgo/app.profdata")
        cache = artefact.opened(self.folder / "mlgo")
        artefact.write(self.folder / "mlgo", {}, None, "page")
        self.assertTrue((self.folder / "mlgo/app.profdata").exists())
        for link in (cache / "objects", cache / "scratch"):
            os.symlink(self.folder / "own", link)
            with self.assertRaisesRegex(RunError, f"{link.name}: is a link, and mlgo deletes what lies there"):
                artefact.opened(self.folder / "mlgo")
            os.unlink(link)
        (self.folder / "linked").mkdir()
        os.symlink(self.folder / "own/.cache", self.folder / "linked/.cache")
        with self.assertRaisesRegex(RunError, "linked/.cache: is a link"):
            artefact.opened(self.folder / "linked")

    def test_one_run_at_a_time_which_removes_what_a_killed_one_left(self):
        cache = artefact.opened(self.folder / "mlgo")
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
        entry = '{"format": 1, "commands": [{"kind": "Compile", "output": "a.o"}], "build_seconds": 1, "changed": {}}'
        none, foreign = "has no command, and no build was recorded here", "recording.json: was not written by this mlgo"
        for text, wrong in (
            *((text, none) for text in (None, "", "[]", '{"format": 7}', '{"format": 1}', "[" * 100_000)),
            ('{"format": 1, "commands": [7]}', none),
            ('{"format": 1, "commands": [], "build_seconds": "x", "changed": {}}', none),
            (entry, f"{foreign}. Remove it, clean"),
        ):
            if text is not None:
                self.write("recording.json", text)
            with self.assertRaisesRegex(RunError, wrong, msg=text):
                recorded.read(self.folder, "smaller")

    def test_a_source_that_is_no_file_counts_as_changed(self):
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        for path in (pipe, "/dev/zero", "a\0b", self.folder):
            self.assertIsNone(digest_of(path), path)
