"""Counting the decisions of traces."""

import pathlib
import tempfile
import unittest

from mlgo.run import manifest
from mlgo.run.exit_codes import RunError
from mlgo.score.function_scores import FunctionScore
from mlgo.trace.decision_counts import DecisionCounts, count_decisions, stage_folders
from mlgo.trace.outcomes import ModuleRecord, Outcome, write_record


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
                    7, 2, {"traced": 1, "no decisions": 0, "failed": 0, "not in the trace": 3}
                ),
                "regalloc_eviction": DecisionCounts(
                    7, 2, {"traced": 1, "no decisions": 1, "failed": 1, "not in the trace": 1}
                ),
            },
        )

    def test_refusals(self):
        with self.assertRaisesRegex(RunError, "--trace=.*: holds no trace"):
            stage_folders(self.root)
        folder = self.trace("trace/train", "p", {"a": ModuleRecord(Outcome.NO_DECISIONS)})
        (folder / manifest.FILE_NAME).unlink()
        with self.assertRaisesRegex(RunError, "is not finished"):
            count_decisions([folder], ["a"])


if __name__ == "__main__":
    unittest.main()
