"""Figures of runs, the order in which images are timed, and times that Google Benchmark takes."""

import json
import pathlib
import sys
import unittest

from mlgo.evaluation.programs import run_time, tables
from mlgo.evaluation.programs.program import Program, ProgramRun
from mlgo.evaluation.programs.running import RunFailure
from mlgo.evaluation.programs.totals import benchmark_totals
from mlgo.run.testing.folder_case import FolderCase

_RUNS = {
    "small": {"instructions": 100, "loads": 20, "stores": 5},
    "large": {"instructions": 1000, "loads": 300, "stores": 50},
}
_SORT = {"name": "BM_Sort/8", "run_type": "iteration", "cpu_time": 2.5, "time_unit": "us", "real_time": 9.0}
_FIND = {"name": "BM_Find", "cpu_time": 7, "time_unit": "ns"}
_MEAN = {"name": "BM_Find_mean", "run_type": "aggregate", "cpu_time": 7, "time_unit": "ns"}
_BROKEN = {"name": "BM_Broken", "error_occurred": True, "error_message": "no input"}


def _program(*runs: ProgramRun) -> Program:
    return Program("p", "", pathlib.Path("/"), (), (), (), (), (), (), {}, runs)


class FiguresTest(unittest.TestCase):
    def test_runs_are_summed_and_data_references_are_loads_and_stores(self):
        expected = {"instructions": 1100, "loads": 320, "stores": 55, "data_references": 375}
        self.assertEqual(run_time.figures(_RUNS), expected)
        self.assertEqual(set(expected), set(run_time.COUNTS))

    def test_counts_through_lto_have_names_of_their_own(self):
        found = run_time.all_figures({"counts": _RUNS, "lto": {"thin": {"small": _RUNS["small"]}}})
        self.assertEqual((found["instructions"], found["instructions_thin_lto"]), (1100, 100))
        self.assertEqual(found["data_references_thin_lto"], 25)
        found = run_time.all_figures({"counts": _RUNS, "code_bytes": 7})
        self.assertEqual(found, run_time.figures(_RUNS) | {"code_bytes": 7})

    def test_medians(self):
        found = run_time.medians({"wall_seconds": [3.0, 1.0, 2.0], "x": [4.0]})
        self.assertEqual(found, {"wall_seconds": 2.0, "x": 4.0})


class TurnsTest(FolderCase):
    def setUp(self):
        super().setUp()
        self.asked = self.folder / "asked"

    def image(self, name: str, code: int = 0) -> pathlib.Path:
        """A program that notes that it ran, and with which argument."""
        script = f"open({str(self.asked)!r}, 'a').write({name!r} + sys.argv[1] + ' ')\nsys.exit({code})\n"
        return self.file(name, f"#!{sys.executable} -IS\nimport sys\n{script}")

    def program(self) -> Program:
        return _program(*(ProgramRun(name, (name,), None, ()) for name in "12"))

    def test_sides_alternate_so_that_other_load_affects_all(self):
        images = {name: self.image(name) for name in "ab"}
        found = run_time.time_in_turns(self.program(), images, 3, None)
        self.assertEqual(self.asked.read_text("utf-8"), "a1 a2 b1 b2 b1 b2 a1 a2 a1 a2 b1 b2 ")
        for side in images:
            counts = {name: len(values) for name, values in found[side].items()}
            self.assertEqual(counts, {"wall_seconds": 3, "cpu_seconds": 3})

    def test_a_run_that_fails_is_an_error(self):
        with self.assertRaisesRegex(RunFailure, "run 1 of p: exit code 3"):
            run_time.time_in_turns(self.program(), {"a": self.image("a", 3)}, 1, None)

    def test_no_repeat_runs_nothing(self):
        self.assertEqual(run_time.time_in_turns(self.program(), {"a": self.image("a")}, 0, None), {"a": {}})
        self.assertFalse(self.asked.exists())


class GoogleBenchmarkTest(FolderCase):
    def that_writes(self, content) -> pathlib.Path:
        """A program that writes `content` where it is told to, and its arguments to a file."""
        script = (
            f"#!{sys.executable} -IS\nimport sys\n"
            f"open({str(self.folder / 'asked')!r}, 'a').write(' '.join(sys.argv[1:-2]) + ';')\n"
            "path = sys.argv[-2].removeprefix('--benchmark_out=')\n"
            f"open(path, 'w').write({json.dumps(content)!r})\n"
        )
        return self.file("image", script)

    def test_only_runs_with_benchmarks_are_timed_and_with_their_arguments(self):
        image = self.that_writes({"benchmarks": [_SORT, _FIND, _MEAN, _BROKEN]})
        search = ProgramRun("search", ("--benchmark_min_time=5x",), None, ("out",), ("--benchmark_min_time=0.01s",))
        program = _program(ProgramRun("plain", ("a",), None, ()), search)
        expected = {"benchmark search: BM_Sort/8": 2500.0, "benchmark search: BM_Find": 7.0}
        self.assertEqual(run_time.take_benchmarks(program, image), expected)
        asked = (self.folder / "asked").read_text(encoding="utf-8")
        self.assertEqual(asked, "--benchmark_min_time=5x --benchmark_min_time=0.01s;")

    def test_a_program_without_benchmarks_is_not_started(self):
        image = self.folder / "absent"
        self.assertEqual(run_time.take_benchmarks(_program(ProgramRun("plain", (), None, ())), image), {})

    def test_what_is_no_file_of_times_is_refused(self):
        run = ProgramRun("search", (), None, (), ("-x",))
        contents: tuple[object, ...] = (
            {},
            [],
            {"benchmarks": 5},
            {"benchmarks": ["text"]},
            {"benchmarks": []},
            {"benchmarks": [_BROKEN]},
            {"benchmarks": [{**_FIND, "cpu_time": -1}]},
            {"benchmarks": [{**_FIND, "cpu_time": "fast"}]},
            {"benchmarks": [{**_FIND, "time_unit": "fortnight"}]},
            {"benchmarks": [{"name": "BM_Find"}]},
        )
        for content in contents:
            with self.subTest(content), self.assertRaisesRegex(RunFailure, "times of run search"):
                run_time.take_benchmarks(_program(run), self.that_writes(content))

    def test_the_table_has_means_over_benchmarks(self):
        rows: dict[str, dict[str, dict[str, float]]] = {
            "re2": {
                "default": {"instructions": 9, "benchmark a: 1": 4.0, "benchmark a: 2": 1.0, "benchmark a: 3": 0.0},
                "policy": {"instructions": 9, "benchmark a: 1": 1.0, "benchmark a: 2": 1.0, "benchmark a: 3": 5.0},
            },
            "lua": {"default": {"instructions": 9}, "policy": {"instructions": 9}},
        }
        found = benchmark_totals(rows, "default", 1)
        self.assertEqual(list(found), ["re2"])
        self.assertEqual(found["re2"]["policy"]["programs"], 2)
        self.assertAlmostEqual(found["re2"]["policy"]["geometric_mean"], 0.5)
        lines = tables.benchmark_lines(found)
        self.assertEqual(len(lines), 3)
        for text in ("re2", "| 2 |", "-50.00 %", "+0.00 % a: 2"):
            self.assertIn(text, lines[2])
