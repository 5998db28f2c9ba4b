import pathlib
import tempfile
import unittest

from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.score.function_scores import FunctionScore
from mlgo.trace import outcomes
from mlgo.trace.outcomes import FailureLimit, ModuleRecord, Outcome

TRACED = ModuleRecord(Outcome.TRACED, functions={"f": FunctionScore(3, 1.5), "g": FunctionScore(1, 0.1)})


class RecordTest(unittest.TestCase):
    def setUp(self):
        self.path = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()), "record.json")

    def test_round_trip(self):
        folded = {"f": FunctionScore(1, 2.0, "group", "fold"), "g": FunctionScore(0, 3.0, None, "fold")}
        for record in (
            TRACED,
            ModuleRecord(Outcome.TRACED, functions=folded),
            ModuleRecord(Outcome.NO_DECISIONS),
            ModuleRecord(Outcome.FAILED, "crash"),
        ):
            outcomes.write_record(self.path, record)
            self.assertEqual(outcomes.read_record(self.path), record)

    def test_records_share_equal_names(self):
        record = ModuleRecord(Outcome.TRACED, functions={"name": FunctionScore(1, 2.0, "group")})
        outcomes.write_record(self.path, record)
        first, second = (next(iter(outcomes.read_record(self.path).functions.items())) for _ in range(2))
        self.assertIs(first[0], second[0])
        self.assertIs(first[1].comdat, second[1].comdat)

    def test_damage_is_an_error_with_a_remedy(self):
        traced = '{"outcome": "traced", "failure_kind": null, "functions": %s}'
        contents = ["{}", "[]", '{"outcome": "dreamt", "failure_kind": null, "functions": {}}']
        contents.append('{"outcome": "failed", "failure_kind": {}, "functions": {}}')
        for score in ("[-1, 1]", "[1.5, 1]", "[true, 1]", '[1, "1"]', "[1, 1, []]", "[1, 1, null, 2]", '"ab"'):
            contents.append(traced % f'{{"f": {score}}}')
        for content in contents:
            self.path.write_text(content)
            with self.assertRaisesRegex(RunError, "is not one: .*its module is then compiled again"):
                outcomes.read_record(self.path)

    def test_failures_have_a_kind_and_others_none(self):
        for arguments in ((Outcome.FAILED,), (Outcome.TRACED, "crash")):
            with self.assertRaisesRegex(ValueError, "failed modules have a failure kind and no others do"):
                ModuleRecord(*arguments)

    def test_counts(self):
        found = outcomes.count_outcomes([TRACED, ModuleRecord(Outcome.FAILED, "crash")])
        self.assertEqual(found, {"traced": 1, "no decisions": 0, "failed": 1, "functions": 2, "decisions": 4})


class FailureLimitTest(unittest.TestCase):
    def test_describes_by_kind_and_names_the_first(self):
        failures = FailureLimit("trace", 100, 0.5)
        self.assertEqual(failures.describe(), "0 failed")
        failures.add("a.cpp", "crash", "signal 11")
        failures.add("b.cpp", "timeout")
        failures.add("c.cpp", "crash")
        self.assertEqual(failures.describe(), "3 failed: crash 2, timeout 1 (first: a.cpp: crash: signal 11)")

    def test_one_too_many_ends_the_run(self):
        failures = FailureLimit("trace", 10, 0.1)
        failures.add("a", "crash")
        wrong = "more than 1 of 10 modules failed; 2 failed.*--max_failure_ratio"
        with self.assertRaisesRegex(RunError, wrong) as seen:
            failures.add("b", "crash")
        self.assertEqual(seen.exception.exit_code, ExitCode.TOO_MANY_FAILURES)

    def test_few_modules(self):
        FailureLimit("trace", 4, 0.1).add("a", "crash")
        with self.assertRaisesRegex(RunError, "more than 0 of 4 modules failed"):
            FailureLimit("trace", 4, 0.0).add("a", "crash")
        failures = FailureLimit("trace", 2, 1.0)
        failures.add("a", "crash")
        with self.assertRaisesRegex(RunError, "all 2 modules failed"):
            failures.add("b", "timeout")
