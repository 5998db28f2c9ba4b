"""Figures of runs, and the order in which images are timed."""

import pathlib
import sys
import tempfile
import unittest

from mlgo.evaluation.programs import run_time
from mlgo.evaluation.programs.program import Program, ProgramRun
from mlgo.evaluation.programs.running import RunFailure

_RUNS = {
    "small": {"instructions": 100, "loads": 20, "stores": 5},
    "large": {"instructions": 1000, "loads": 300, "stores": 50},
}


class FiguresTest(unittest.TestCase):
    def test_runs_are_summed_and_data_references_are_loads_and_stores(self):
        expected = {"instructions": 1100, "loads": 320, "stores": 55, "data_references": 375}
        self.assertEqual(run_time.figures(_RUNS), expected)
        self.assertEqual(set(expected), set(run_time.COUNTS))

    def test_counts_through_lto_have_names_of_their_own(self):
        found = run_time.all_figures({"counts": _RUNS, "lto": {"thin": {"small": _RUNS["small"]}}})
        self.assertEqual((found["instructions"], found["instructions_thin_lto"]), (1100, 100))
        self.assertEqual(found["data_references_thin_lto"], 25)
        self.assertEqual(
            run_time.all_figures({"counts": _RUNS, "code_bytes": 7}), run_time.figures(_RUNS) | {"code_bytes": 7}
        )

    def test_medians(self):
        self.assertEqual(
            run_time.medians({"wall_seconds": [3.0, 1.0, 2.0], "x": [4.0]}), {"wall_seconds": 2.0, "x": 4.0}
        )


class TurnsTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.asked = self.folder / "asked"

    def image(self, name: str, code: int = 0) -> pathlib.Path:
        """A program that notes that it ran, and with which argument."""
        path = self.folder / name
        script = f"open({str(self.asked)!r}, 'a').write({name!r} + sys.argv[1] + ' ')\nsys.exit({code})\n"
        path.write_text(f"#!{sys.executable} -IS\nimport sys\n{script}", encoding="utf-8")
        return path

    def program(self) -> Program:
        runs = tuple(ProgramRun(name, (name,), None, ()) for name in "12")
        return Program("p", "", pathlib.Path("/"), (), (), (), (), (), (), {}, runs)

    def test_sides_alternate_so_that_other_load_affects_all(self):
        images = {name: self.image(name) for name in "ab"}
        found = run_time.time_in_turns(self.program(), images, 3, None)
        self.assertEqual(self.asked.read_text("utf-8"), "a1 a2 b1 b2 b1 b2 a1 a2 a1 a2 b1 b2 ")
        for side in images:
            self.assertEqual(
                {name: len(values) for name, values in found[side].items()}, {"wall_seconds": 3, "cpu_seconds": 3}
            )

    def test_a_run_that_fails_is_an_error(self):
        with self.assertRaisesRegex(RunFailure, "run 1 of p: exit code 3"):
            run_time.time_in_turns(self.program(), {"a": self.image("a", 3)}, 1, None)

    def test_no_repeat_runs_nothing(self):
        self.assertEqual(run_time.time_in_turns(self.program(), {"a": self.image("a")}, 0, None), {"a": {}})
        self.assertFalse(self.asked.exists())


if __name__ == "__main__":
    unittest.main()
