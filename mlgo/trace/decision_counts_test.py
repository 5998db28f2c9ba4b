"""ByteCounter the decisions of traces."""

import pathlib
import tempfile
import unittest

from mlgo.compiler.code_size import FunctionCode, ObjectCode
from mlgo.run import manifest
from mlgo.run.exit_codes import RunError
from mlgo.score.code_size import code_scores
from mlgo.score.function_scores import FunctionScore
from mlgo.score.testing.code import log_of
from mlgo.trace.decision_counts import DecisionCounts, count_decisions, stage_folders
from mlgo.trace.outcomes import ModuleRecord, Outcome, count_outcomes, write_record


class DecisionCountsTest(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.root = pathlib.Path(temporary.name)

    def trace(self, name: str, problem: str, records: dict[str, ModuleRecord]) -> pathlib.Path:
        folder = self.root / name
        for module, record in records.items():
            write_record(folder / "modules" / f"{module}.json", record)
        manifest.write(folder, manifest.Manifest(name, {}, {"problem": problem}, {}))
        return folder

    def test_counts(self):
        traced = ModuleRecord(Outcome.TRACED, functions={"f": FunctionScore(3, 1.0), "g": FunctionScore(4, 2.0)})
        self.trace("trace/train", "regalloc_eviction", {"a/x": traced, "b": ModuleRecord(Outcome.NO_DECISIONS)})
        self.trace("trace/held_out", "regalloc_eviction", {"c": ModuleRecord(Outcome.FAILED, "crash"), "other": traced})
        self.trace("inlining", "inlining_for_size", {"b": traced})
        folders = [*stage_folders(self.root), *stage_folders(self.root / "inlining")]
        self.assertEqual(
            count_decisions(folders, ["a/x", "b", "c", "d"]),
            {
                "inlining_for_size": DecisionCounts(
                    7, 2, 0, {"traced": 1, "no decisions": 0, "failed": 0, "not in the trace": 3}
                ),
                "regalloc_eviction": DecisionCounts(
                    7, 2, 0, {"traced": 1, "no decisions": 1, "failed": 1, "not in the trace": 1}
                ),
            },
        )

    def test_records_of_code_sizes_hold_functions_without_decisions(self):
        code = ObjectCode(tuple(FunctionCode(name, 8, None) for name in "fgh"), code_bytes=24, text_bytes=40)
        log = log_of(("f", "g", 1), ("f", "h", 0), ("gone", "h", 1))
        record = ModuleRecord(Outcome.TRACED, functions=code_scores(code, log))
        folder = self.trace("inlining", "inlining_for_size", {"a": record})
        counts = count_decisions([folder], ["a"])["inlining_for_size"]
        self.assertEqual((counts.decisions, counts.functions, counts.elsewhere), (3, 1, 1))
        self.assertEqual(count_outcomes([record])["functions"], 1)
        greedy = ModuleRecord(Outcome.TRACED, functions=code_scores(code, None))
        folder = self.trace("without_log", "inlining_for_size", {"a": greedy})
        self.assertEqual(count_decisions([folder], ["a"])["inlining_for_size"].functions, 0)

    def test_refusals(self):
        with self.assertRaisesRegex(RunError, "--trace=.*: holds no trace"):
            stage_folders(self.root)
        folder = self.trace("trace/train", "p", {"a": ModuleRecord(Outcome.NO_DECISIONS)})
        (folder / manifest.FILE_NAME).unlink()
        with self.assertRaisesRegex(RunError, "is not finished"):
            count_decisions([folder], ["a"])


if __name__ == "__main__":
    unittest.main()
