"""Totals over programs, their tables, the files and exit codes of a command, and which programs training saw."""

import contextlib
import csv
import io
import json
import pathlib
import unittest

from mlgo.compiler.symbols import Demangler
from mlgo.evaluation.programs import results, tables
from mlgo.evaluation.programs.program import Program
from mlgo.evaluation.programs.size import symbol_differences
from mlgo.evaluation.programs.totals import timing_ratios, totals, verdicts, without_ml
from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.run.testing.folder_case import FolderCase

_MEASURES = ("code_bytes", "code_bytes_icf", "code_bytes_thinlto", "executable_bytes", "file_bytes")


def _sizes(code, thinlto=None):
    values = (code, code, thinlto, 2 * code, 3 * code)
    return dict(zip(_MEASURES, values, strict=True))


def _counts(instructions):
    counts = {"instructions": instructions, "data_references": 2 * instructions}
    return {**counts, "loads": instructions, "stores": instructions, "cpu_seconds": instructions / 1e9}


_TABLE = {
    "a": {
        "default": _sizes(1000, 1100),
        "threshold_9": _sizes(900),
        "threshold_20": _sizes(1000),
        "policy": _sizes(500, 1100),
    },
    "b": {
        "default": _sizes(400, 200),
        "threshold_9": _sizes(400),
        "threshold_20": _sizes(400),
        "policy": _sizes(800, 100),
    },
}


def _result():
    executed = {"a": {"default": _counts(400), "policy": _counts(500)}}
    run = {"a": {"default": _counts(200), "policy": _counts(100)}}
    of_parts = {
        "size": totals(_TABLE, "default", _MEASURES, 1),
        "executed": totals(executed, "default", list(_counts(1)), 1),
        "run": totals(run, "default", list(_counts(1)), 1),
    }
    return {
        "size": _TABLE,
        "executed": executed,
        "run": run,
        "run_times": {"a": {"policy": {"cpu_seconds": {"ratio": 1.5, "low": 1.25, "high": 2.0, "repeats": 4}}}},
        "cost": {},
        "symbols": {"a": symbol_differences({"f": 9, "g": 5, "h": 4}, {"f": 9, "g": 8}, 3)},
        "totals": of_parts,
        "without_ml": without_ml(of_parts),
        "verdicts": verdicts(of_parts),
        "left_out": {"size": {"c": "policy: x.c: exit code 1"}},
        "differing": {},
        "counters": {"counts": "cachegrind", "perf": False},
    }


class TotalsTest(unittest.TestCase):
    def test_known_answers(self):
        found = totals(_TABLE, "default", _MEASURES, 1)["policy"]["code_bytes"]
        self.assertEqual((found["programs"], found["mean"], found["worst"]), (2, 1.25, {"program": "b", "ratio": 2.0}))
        self.assertAlmostEqual(found["geometric_mean"], 1.0)
        # Of two programs the interval is Student's: logarithms -ln 2 and ln 2, standard error ln 2, point 12.706.
        self.assertAlmostEqual(found["low"], 2.0**-12.706204736)
        self.assertAlmostEqual(found["high"], 2.0**12.706204736)

    def test_what_was_not_linked_so_is_in_no_mean(self):
        found = totals(_TABLE, "default", _MEASURES, 1)
        self.assertNotIn("code_bytes_thinlto", found["threshold_9"])
        self.assertEqual(found["policy"]["code_bytes_thinlto"]["worst"], {"program": "a", "ratio": 1.0})

    def test_of_three_programs_there_is_a_mean_without_the_best(self):
        found = totals({**_TABLE, "c": _TABLE["a"]}, "default", _MEASURES, 1)["policy"]["code_bytes"]["without_best"]
        self.assertEqual((found["program"], found["geometric_mean"]), ("a", 1.0))
        self.assertNotIn("without_best", totals(_TABLE, "default", _MEASURES, 1)["policy"]["code_bytes"])

    def test_times_are_medians_of_turns(self):
        times = {"default": {"s": [2.0, 2.0, 9.0]}, "policy": {"s": [1.0, 1.0, 1.0]}, "same": {"s": [2.0, 2.0, 9.0]}}
        found = timing_ratios({"a": times}, "default", 1)["a"]
        self.assertEqual([found["policy"]["s"][name] for name in ("ratio", "high", "repeats")], [0.5, 0.5, 3])
        self.assertAlmostEqual(found["policy"]["s"]["low"], 1 / 9)
        self.assertEqual(found["same"]["s"], {"ratio": 1.0, "low": 1.0, "high": 1.0, "repeats": 3})

    def test_symbols_that_changed(self):
        default, policy = {"same": 5, "grown": 5, "gone": 7, "less": 9}, {"same": 5, "grown": 50, "new": 3, "less": 8}
        found = [(row["symbol"], row["default"], row["policy"]) for row in symbol_differences(default, policy, 9)]
        self.assertEqual(found, [("grown", 5, 50), ("new", 0, 3), ("less", 9, 8), ("gone", 7, 0)])
        self.assertEqual([row["symbol"] for row in symbol_differences(default, policy, 1)], ["grown", "gone"])


class TablesTest(FolderCase):
    def test_the_table_holds_the_numbers(self):
        text = tables.markdown(_result())
        self.assertIn("| a | 1,000 | -10.00 % | +0.00 % | -50.00 % |", text)
        self.assertIn("| program | default, bytes | threshold_9 (best without ML) | threshold_20 | policy |", text)
        self.assertIn("| geometric mean of 2, code, ThinLTO |  |  |  | -29.29 % [-99.14, +5680.42] |", text)
        self.assertIn("| worst, code |  | +0.00 % b | +0.00 % a | +100.00 % b |", text)
        self.assertIn("| a | 400 | +25.00 % | +25.00 % | +25.00 % | +25.00 % | +25.00 % |", text)
        self.assertIn("| a | 200 | -50.00 % | -50.00 % | -50.00 % | -50.00 % | +50.00 % [+25.00, +100.00] |", text)
        # One program has no interval.
        self.assertIn("| geometric mean of 1 |  | -50.00 % | -50.00 % |", text)
        self.assertIn("| a | `h` | 4 | 0 |", text)
        self.assertIn("Left out of size: c: policy: x.c: exit code 1", text)

    def test_a_threshold_that_is_worse_than_the_default_is_not_the_best(self):
        worse = {"a": {"default": _sizes(100), "threshold_9": _sizes(101), "policy": _sizes(90)}}
        result = _result() | {"size": worse}
        result["totals"]["size"] = totals(worse, "default", _MEASURES, 1)
        result |= {"without_ml": without_ml(result["totals"])}
        self.assertEqual(result["without_ml"], {"size": "default"})
        self.assertIn("| program | default, bytes (best without ML) | threshold_9 |", tables.markdown(result))

    def test_programs_that_training_did_not_see_have_means_of_their_own(self):
        result = _result()
        self.assertNotIn("did not see", tables.markdown(result))
        unseen = {"size": totals({"b": _TABLE["b"]}, "default", _MEASURES, 1)}
        result["totals"] |= {"unseen": unseen | {"run": {}, "executed": {}}}
        text = tables.markdown(result)
        self.assertIn("| the same, 1 that training did not see |  | +0.00 % | +0.00 % | +100.00 % |", text)
        # Four sizes are known of "b" and its default; ThinLTO's is the fifth.
        self.assertEqual(text.count("did not see"), 5)

    def test_functions_have_demangled_names(self):
        result = _result() | {"symbols": {"a": [{"symbol": "_Z1fv", "default": 9, "policy": 8}]}}
        demangler = Demangler(self.script("cxxfilt", "sed 's/_Z1fv/f()/'"))
        self.assertIn("| a | `f()` | 9 | 8 |", tables.markdown(result, demangler))
        self.assertIn("| a | `_Z1fv` | 9 | 8 |", tables.markdown(result))

    def test_verdicts_say_result_worst_rest_cost_and_the_same_without_ml(self):
        table = {
            name: {
                "default": {"code_bytes": 100, "instructions": 1000, "data_references": 100},
                "policy": {"code_bytes": 103, "instructions": count, "data_references": 149},
                "default_callee_saved_7": {"code_bytes": 100, "instructions": 995},
            }
            for name, count in (("brotli", 900), ("x", 980), ("y", 981))
        }
        found = {"run": totals(table, "default", ("instructions", "data_references", "code_bytes"), 1)}
        self.assertEqual(without_ml(found), {"run": "default_callee_saved_7"})
        (sentence,) = [each["sentence"] for each in verdicts(found)["run"].values()]
        self.assertRegex(
            sentence,
            r"^no difference shown by executed instructions, geometric mean of 3 programs \(-4\.\d\d % \[.*\]\); worst"
            r" y -1\.90 %; without brotli, the best, -1\.95 % \[.*\]; data references \+49\.00 %; bytes of code"
            r" \+3\.00 %; the same without ML: default_callee_saved_7 -0\.50 %$",
        )
        one = {"run": totals({"x": table["x"]}, "default", ("instructions",), 1)}
        self.assertEqual(verdicts(one)["run"]["policy"]["claim"], "better")
        self.assertRegex(verdicts(one)["run"]["policy"]["sentence"], r"^better by executed instructions of x \(-2")

    def test_the_csv_holds_them_too(self):
        rows = list(csv.DictReader(io.StringIO(tables.to_csv(_result()).decode("utf-8"))))
        self.assertEqual(len(rows), 2 * 4 * 5 + 2 * 5 + 2 * 5)
        found = {(row["program"], row["side"], row["measure"]): row for row in rows}["b", "policy", "code_bytes"]
        self.assertEqual((found["value"], found["ratio_to_default"]), ("800", "2.0"))


_PROGRAMS = [Program(name, "", pathlib.Path("/"), (), (), (), (), (), (), {}, ()) for name in ("lua", "re2")]


class SeenTest(unittest.TestCase):
    def test_names_of_measured_programs(self):
        self.assertEqual(results.seen_from_flags(["lua"], _PROGRAMS), {"lua"})
        self.assertEqual(results.seen_from_flags([], _PROGRAMS), frozenset())

    def test_what_is_refused(self):
        wrong = "--seen=lua,zstd: names 'zstd', which is not measured. Name some of lua, re2"
        with self.assertRaisesRegex(RunError, wrong):
            results.seen_from_flags(["lua", "zstd"], _PROGRAMS)
        with self.assertRaisesRegex(RunError, "--seen=re2,lua: names every program"):
            results.seen_from_flags(["re2", "lua"], _PROGRAMS)


def _written(**more):
    """As `measure` returns it, of programs of which none was left out."""
    return _result() | {"left_out": {}, "run_details": {}, "programs": {each.name: {} for each in _PROGRAMS}} | more


class WriteTest(FolderCase):
    def written(self, result):
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            code = results.write(self.folder, result)
        return code, said.getvalue()

    def test_the_files_and_the_terminal_have_the_same(self):
        code, said = self.written(_written())
        self.assertIs(code, ExitCode.DONE)
        self.assertEqual(json.loads((self.folder / "result.json").read_bytes())["run"], _written()["run"])
        self.assertIn("run,a,policy,instructions,100,0.5\n", (self.folder / "programs.csv").read_text("utf-8"))
        summary = (self.folder / "summary.md").read_text("utf-8")
        self.assertIn("| a | 200 | -50.00 % |", summary)
        self.assertIn(summary.strip(), said)

    def test_exit_codes(self):
        code, said = self.written(_written(left_out={"run": {"re2": "default: does not link"}}))
        self.assertIs(code, ExitCode.TOO_MANY_FAILURES)
        self.assertIn("re2: default: does not link", said)
        code, said = self.written(_written(differing={"run": {"re2": "policy: run a"}}))
        self.assertIs(code, ExitCode.OUTPUT_DIFFERS)
        self.assertIn("re2", said)

    def test_nothing_to_compare_is_an_error_and_its_reasons_are_written(self):
        with self.assertRaisesRegex(RunError, "2 programs: could not be compared") as caught:
            self.written(_written(size={}, executed={}, run={}, left_out={"run": {"re2": "default: does not link"}}))
        self.assertIs(caught.exception.exit_code, ExitCode.NOTHING_PRODUCED)
        self.assertIn("does not link", (self.folder / "summary.md").read_text("utf-8"))
