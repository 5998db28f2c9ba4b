"""The files and exit codes of measured programs, and which of them training saw."""

import contextlib
import io
import json
import pathlib
import tempfile
import unittest

from mlgo.evaluation.programs import results
from mlgo.evaluation.programs.program import Program
from mlgo.run.exit_codes import ExitCode, RunError

_PROGRAMS = [Program(name, "", pathlib.Path("/"), (), (), (), (), (), (), {}, ()) for name in ("lua", "re2")]
_RUN = {
    "lua": {
        side: {"instructions": count, "data_references": count, "loads": count, "stores": 0}
        for side, count in (("default", 1000), ("policy", 990))
    }
}


def _result(**more):
    found: dict[str, object] = {
        **{name: {} for name in ("size", "executed", "symbols", "run", "run_details", "run_times", "cost")},
        **{name: {} for name in ("without_ml", "verdicts", "left_out", "differing")},
        "totals": {"run": {}, "size": {}, "executed": {}},
        "counters": {"counts": "cachegrind", "perf": False},
        "programs": {program.name: {} for program in _PROGRAMS},
    }
    return found | more


def _counted(**more):
    total = {
        "programs": 1,
        "geometric_mean": 0.99,
        "low": 0.99,
        "high": 0.99,
        "worst": {"program": "lua", "ratio": 0.99},
    }
    totals = {"run": {"policy": {"instructions": total}}, "size": {}, "executed": {}}
    return _result(run=_RUN, totals=totals, **more)


class SeenTest(unittest.TestCase):
    def test_names_of_measured_programs(self):
        self.assertEqual(results.seen_from_flags(["lua"], _PROGRAMS), {"lua"})
        self.assertEqual(results.seen_from_flags([], _PROGRAMS), frozenset())

    def test_what_is_refused(self):
        with self.assertRaisesRegex(
            RunError, "--seen=lua,zstd: names 'zstd', which is not measured. Name some of lua, re2"
        ):
            results.seen_from_flags(["lua", "zstd"], _PROGRAMS)
        with self.assertRaisesRegex(RunError, "--seen=re2,lua: names every program"):
            results.seen_from_flags(["re2", "lua"], _PROGRAMS)


class WriteTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def written(self, result):
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            code = results.write(self.folder, result)
        return code, said.getvalue()

    def test_the_files_and_the_terminal_have_the_same(self):
        code, said = self.written(_counted())
        self.assertIs(code, ExitCode.DONE)
        self.assertEqual(json.loads((self.folder / "result.json").read_bytes())["run"], _RUN)
        self.assertIn("run,lua,policy,instructions,990,0.99\n", (self.folder / "programs.csv").read_text("utf-8"))
        summary = (self.folder / "summary.md").read_text("utf-8")
        self.assertIn("| lua | 1,000 | -1.00 % |", summary)
        self.assertIn(summary.strip(), said)

    def test_exit_codes(self):
        code, said = self.written(_counted(left_out={"run": {"re2": "default: does not link"}}))
        self.assertIs(code, ExitCode.TOO_MANY_FAILURES)
        self.assertIn("re2: default: does not link", said)
        code, said = self.written(_counted(differing={"run": {"re2": "policy: run a"}}))
        self.assertIs(code, ExitCode.OUTPUT_DIFFERS)
        self.assertIn("re2", said)

    def test_nothing_to_compare_is_an_error_and_its_reasons_are_written(self):
        with self.assertRaisesRegex(RunError, "2 programs: could not be compared") as caught:
            self.written(_result(left_out={"run": {"re2": "default: does not link"}}))
        self.assertIs(caught.exception.exit_code, ExitCode.NOTHING_PRODUCED)
        self.assertIn("does not link", (self.folder / "summary.md").read_text("utf-8"))


if __name__ == "__main__":
    unittest.main()
