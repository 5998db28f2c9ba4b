import pathlib

from mlgo.compiler.code_size import FunctionCode, ObjectCode
from mlgo.run import manifest
from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.run.testing.folder_case import FolderCase
from mlgo.score.code_size import code_scores
from mlgo.score.function_scores import FunctionScore
from mlgo.score.testing.code import log_of
from mlgo.trace.finished import DecisionCounts, count_decisions, open_trace, stage_folders
from mlgo.trace.outcomes import ModuleRecord, Outcome, count_outcomes, write_record

TRACED = ModuleRecord(Outcome.TRACED, functions={"f": FunctionScore(3, 1.0)})
IDLE = ModuleRecord(Outcome.NO_DECISIONS)


class TracesTestCase(FolderCase):
    """Traces below a temporary folder."""

    def trace(self, name: str, records: dict[str, ModuleRecord], problem: str = "regalloc_eviction") -> pathlib.Path:
        folder = self.folder / name
        for module, record in records.items():
            write_record(folder / "modules" / f"{module}.json", record)
        manifest.write(folder, manifest.Manifest(name, {}, {"problem": problem}, {}))
        return folder


class OpenTraceTest(TracesTestCase):
    def test_a_trace_or_the_output_of_generate_default_trace(self):
        folder = self.trace("trace/default", {"b": IDLE, "a/x": TRACED})
        for given in (folder, self.folder):
            trace, problem, stage = open_trace(given, "--data_path")
            self.assertEqual((trace.folder, problem.name, stage.stage), (folder, "regalloc_eviction", "trace/default"))
            self.assertEqual(list(trace.records.items()), [("a/x", TRACED), ("b", IDLE)])

    def test_refusals(self):
        unfinished = self.trace("unfinished", {"a": TRACED})
        (unfinished / manifest.FILE_NAME).unlink()
        for folder, said in (
            (self.folder / "absent", "is no finished trace"),
            (unfinished, "is no finished trace"),
            (self.trace("other", {"a": TRACED}, "absent"), "cannot load PROBLEM from mlgo/problems/absent"),
        ):
            with self.assertRaisesRegex(RunError, f"--data_path=.*: {said}"):
                open_trace(folder, "--data_path")
        with self.assertRaisesRegex(RunError, "has no module with a decision") as caught:
            open_trace(self.trace("idle", {"a": IDLE}), "--data_path")
        self.assertEqual(caught.exception.exit_code, ExitCode.NOTHING_PRODUCED)


class CountDecisionsTest(TracesTestCase):
    def test_counts(self):
        traced = ModuleRecord(Outcome.TRACED, functions={"f": FunctionScore(3, 1.0), "g": FunctionScore(4, 2.0)})
        self.trace("trace/train", {"a/x": traced, "b": IDLE})
        self.trace("trace/held_out", {"c": ModuleRecord(Outcome.FAILED, "crash"), "other": traced})
        self.trace("inlining", {"b": traced}, "inlining_for_size")
        folders = [*stage_folders(self.folder), *stage_folders(self.folder / "inlining")]
        outcomes = ("traced", "no decisions", "failed", "not in the trace")
        expected = {"inlining_for_size": (1, 0, 0, 3), "regalloc_eviction": (1, 1, 1, 1)}
        self.assertEqual(
            count_decisions(folders, ["a/x", "b", "c", "d"]),
            {problem: DecisionCounts(7, 2, 0, dict(zip(outcomes, modules))) for problem, modules in expected.items()},
        )

    def test_records_of_code_sizes_hold_functions_without_decisions(self):
        code = ObjectCode(tuple(FunctionCode(name, 8, None) for name in "fgh"), code_bytes=24, text_bytes=40)
        log = log_of(("f", "g", 1), ("f", "h", 0), ("gone", "h", 1))
        record = ModuleRecord(Outcome.TRACED, functions=code_scores(code, log))
        folder = self.trace("inlining", {"a": record}, "inlining_for_size")
        counts = count_decisions([folder], ["a"])["inlining_for_size"]
        self.assertEqual((counts.decisions, counts.functions, counts.elsewhere), (3, 1, 1))
        self.assertEqual(count_outcomes([record])["functions"], 1)
        greedy = ModuleRecord(Outcome.TRACED, functions=code_scores(code, None))
        folder = self.trace("without_log", {"a": greedy}, "inlining_for_size")
        self.assertEqual(count_decisions([folder], ["a"])["inlining_for_size"].functions, 0)

    def test_refusals(self):
        with self.assertRaisesRegex(RunError, "--trace=.*: holds no trace"):
            stage_folders(self.folder)
        folder = self.trace("trace/train", {"a": IDLE}, "p")
        (folder / manifest.FILE_NAME).unlink()
        with self.assertRaisesRegex(RunError, "is not finished"):
            count_decisions([folder], ["a"])
