"""Opening a finished trace by its folder, and what is refused."""

import pathlib
import tempfile
import unittest

from mlgo.run import manifest
from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.score.function_scores import FunctionScore
from mlgo.trace.finished import open_trace
from mlgo.trace.outcomes import ModuleRecord, Outcome, write_record

TRACED = ModuleRecord(Outcome.TRACED, functions={"f": FunctionScore(3, 1.0)})
IDLE = ModuleRecord(Outcome.NO_DECISIONS)


class OpenTraceTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name)

    def trace(self, name: str, records: dict[str, ModuleRecord], problem: str = "regalloc_eviction") -> pathlib.Path:
        folder = self.root / name
        for module, record in records.items():
            write_record(folder / "modules" / f"{module}.json", record)
        manifest.write(folder, manifest.Manifest(name, {}, {"problem": problem}, {}))
        return folder

    def test_a_trace_or_the_output_of_generate_default_trace(self):
        folder = self.trace("trace/default", {"b": IDLE, "a/x": TRACED})
        for given in (folder, self.root):
            trace, problem, stage = open_trace(given, "--data_path")
            self.assertEqual((trace.folder, problem.name, stage.stage), (folder, "regalloc_eviction", "trace/default"))
            self.assertEqual(list(trace.records.items()), [("a/x", TRACED), ("b", IDLE)])

    def test_refusals(self):
        unfinished = self.trace("unfinished", {"a": TRACED})
        (unfinished / manifest.FILE_NAME).unlink()
        for folder, said in (
            (self.root / "absent", "is no finished trace"),
            (unfinished, "is no finished trace"),
            (self.trace("other", {"a": TRACED}, "absent"), "cannot load PROBLEM from mlgo/problems/absent"),
        ):
            with self.assertRaisesRegex(RunError, f"--data_path=.*: {said}"):
                open_trace(folder, "--data_path")
        with self.assertRaisesRegex(RunError, "has no module with a decision") as caught:
            open_trace(self.trace("idle", {"a": IDLE}), "--data_path")
        self.assertEqual(caught.exception.exit_code, ExitCode.NOTHING_PRODUCED)


if __name__ == "__main__":
    unittest.main()
