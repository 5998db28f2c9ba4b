"""Modules that fail are counted, named and left out; when too many do, or all, the run ends."""

import json
import pathlib
import tempfile
import unittest

from mlgo.compiler.request import CompileLimits
from mlgo.compiler.testing.fake_clang import FakeModule, install, write_corpus
from mlgo.corpus.corpus import Corpus
from mlgo.problems.regalloc_eviction.problem import PROBLEM
from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.trace.optimised_corpus import optimise_corpus
from mlgo.trace.outcomes import Outcome
from mlgo.trace.setup import CompileSetup
from mlgo.trace.trace import Trace, trace_corpus
from tests.end_to_end import command


class FailingModulesTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.folder / "bin").mkdir()
        self.clang = pathlib.Path(install(self.folder / "bin", PROBLEM))

    def corpus(self, behaviours: dict[str, str]) -> Corpus:
        modules = {name: FakeModule.bitcode({"f": 3}, behaviour) for name, behaviour in behaviours.items()}
        modules["idle.cpp"] = FakeModule.bitcode({"f": 0})
        (self.folder / "corpus").mkdir()
        return Corpus.load(write_corpus(self.folder / "corpus", modules))

    def setup_with(self, max_failure_ratio: float) -> CompileSetup:
        limits = CompileLimits(cpu_seconds=2, wall_factor=1.0, log_bytes=1 << 20)
        return CompileSetup(self.clang, PROBLEM, limits, workers=2, max_failure_ratio=max_failure_ratio)

    def test_each_kind_is_recorded_and_the_rest_traced(self):
        kinds = {
            "crash": "crash",
            "hang": "timeout",
            "garbage_log": "bad_log",
            "truncated_log": "bad_log",
            "no_log": "bad_log",
            "refuse": "compile_error",
        }
        corpus = self.corpus({"good.cpp": "good", **{f"{name}.cpp": name for name in kinds}})
        summary = trace_corpus(self.folder / "trace", corpus, self.setup_with(0.9), "trace")
        self.assertEqual(summary, {"traced": 1, "no decisions": 1, "failed": 6, "functions": 1, "decisions": 3})
        records = Trace.load(self.folder / "trace", corpus).records
        self.assertEqual(
            {f"{name}.cpp": kind for name, kind in kinds.items()},
            {name: record.failure_kind for name, record in records.items() if record.failure_kind},
        )
        self.assertIs(records["idle.cpp"].outcome, Outcome.NO_DECISIONS)

    def test_failing_module_does_not_reach_the_optimised_corpus(self):
        corpus = self.corpus({"good.cpp": "good", "bad.cpp": "crash"})
        summary = optimise_corpus(self.folder / "optimised", corpus, self.setup_with(0.5), "optimised")
        self.assertEqual(summary, {"modules": 2, "failed": {"bad.cpp": "crash"}})
        optimised = Corpus.load(self.folder / "optimised")
        self.assertEqual([module.name for module in optimised.modules], ["good.cpp", "idle.cpp"])
        self.assertEqual(optimised.modules[0].command[-1], "-disable-llvm-passes")

    def test_too_many_failures_end_the_stage_and_are_tried_again(self):
        corpus = self.corpus({"good.cpp": "good", "a.cpp": "crash", "b.cpp": "refuse"})
        for _ in range(2):
            with self.assertRaisesRegex(
                RunError, "more than 1 of 4 modules failed; 2 failed: compile_error 1, crash 1"
            ) as seen:
                trace_corpus(self.folder / "trace", corpus, self.setup_with(0.1), "trace")
            self.assertEqual(seen.exception.exit_code, ExitCode.TOO_MANY_FAILURES)
        summary = trace_corpus(self.folder / "trace", corpus, self.setup_with(0.5), "trace")
        self.assertEqual((summary["traced"], summary["failed"]), (1, 2))

    def test_corpus_without_decisions_is_an_error(self):
        corpus = self.corpus({})
        with self.assertRaisesRegex(RunError, "no function of 1 modules has a decision") as seen:
            trace_corpus(self.folder / "trace", corpus, self.setup_with(0.1), "trace")
        self.assertEqual(seen.exception.exit_code, ExitCode.NOTHING_PRODUCED)


class WholeCommandTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.flags = [
            *command.fake_inputs(self.folder / "inputs"),
            *command.TINY,
            f"--output_dir={self.folder / 'output'}",
        ]

    def break_module(self, name: str, behaviour: str, functions: int = 1) -> None:
        path = self.folder / "inputs" / f"{name}.bc"
        path.write_bytes(FakeModule.bitcode({f"f{number}": 3 for number in range(functions)}, behaviour))

    def test_all_failing_is_an_error(self):
        for index in range(8):
            self.break_module(f"train/train/m{index}.cpp", "crash")
        code, said = command.run(*self.flags, "--max_failure_ratio=1")
        self.assertEqual(code, ExitCode.TOO_MANY_FAILURES, said)
        self.assertRegex(
            said, "error: corpus .*/train: does not compile: its 3 smallest modules fail .first: train/m0.cpp: crash"
        )

    def test_many_failing_is_an_error(self):
        # Preflight compiles the smallest modules, m6 and m7 among them.
        for index in range(6):
            self.break_module(f"train/train/m{index}.cpp", "crash", functions=20)
        code, said = command.run(*self.flags)
        self.assertEqual(code, ExitCode.TOO_MANY_FAILURES, said)
        self.assertRegex(
            said,
            "error: stage optimised/train: more than 1 of 8 modules failed; 2 failed: crash 2 .first: train/m0.cpp",
        )

    def test_failing_modules_are_named_counted_and_left_out(self):
        behaviours = {
            "train/train/m0.cpp": "crash",
            "train/train/m4.cpp": "spin",
            "held_out/held/m0.cpp": "garbage_log",
            "held_out/held/m1.cpp": "out_of_memory",
        }
        for name, behaviour in behaviours.items():
            self.break_module(name, behaviour)
        # Preflight compiles the three smallest modules; one of them must be whole.
        self.break_module("train/train/m2.cpp", "truncated_log", functions=20)
        limits = ("--gin_bindings=RunSettings.compile_cpu_seconds=3", "--max_failure_ratio=0.6")
        code, said = command.run(*self.flags, *limits)
        self.assertEqual(code, ExitCode.DONE, said)
        self.assertRegex(said, "optimised/train: .*2 failed: crash 1, timeout 1 .first: train/m0.cpp: crash")
        self.assertRegex(said, "optimised/held_out: .*1 failed: out_of_memory 1")
        self.assertRegex(said, "trace/train: failed: train/m2.cpp: bad_log")
        self.assertRegex(
            said,
            r"excluded because they failed: held/m0.cpp \(default: bad_log, warm_start: bad_log, policy: bad_log\)",
        )
        record = json.loads((self.folder / "output" / "policy" / "policy.json").read_text(encoding="utf-8"))
        lost = record["training"]["not_optimised"]
        self.assertEqual(lost["train"], {"train/m0.cpp": "crash", "train/m4.cpp": "timeout"})
        self.assertEqual(lost["held_out"], {"held/m1.cpp": "out_of_memory"})

    def failures_under_policies(self, broken: str) -> tuple[list[dict], list[dict]]:
        """Failures by kind, of each iteration and of each validation, of a run in which the fake compiler crashes on
        module `broken` whenever a policy decides.
        """
        self.break_module(f"train/train/{broken}.cpp", "crash_with_model")
        code, said = command.run(*self.flags, "--max_failure_ratio=0.6", "--modules_per_iteration=8")
        self.assertEqual(code, ExitCode.DONE, said)
        metrics = (self.folder / "output" / "metrics.jsonl").read_text(encoding="utf-8")
        lines = [json.loads(line) for line in metrics.splitlines()]
        iterations, validations = (
            [line["failures"] for line in lines if line["kind"] == kind] for kind in ("iteration", "validation")
        )
        return iterations, validations

    def test_a_training_module_that_fails_under_policies_only_is_counted_by_kind(self):
        # Seed 1: m4 and m6 validate.
        self.assertEqual(self.failures_under_policies("m3"), ([{"crash": 4}] * 2, [{}] * 3))

    def test_a_validation_module_that_fails_under_policies_only_chooses_nothing(self):
        self.assertEqual(self.failures_under_policies("m4"), ([{}] * 2, [{"crash": 1}] * 3))
        record = json.loads((self.folder / "output" / "policy" / "policy.json").read_text(encoding="utf-8"))
        self.assertEqual(record["training"]["split"]["validation"]["names"], ["train/m4.cpp", "train/m6.cpp"])
        ratios = record["training"]["learning"]["validations"].values()
        # Were m4 counted, its ratio of 10 would make all of them larger than 3.
        self.assertLess(max(ratios), 2.0)


if __name__ == "__main__":
    unittest.main()
