"""Warm start: random weights depend on the seed only; a damaged or absent start is an error."""

from unittest import mock

import numpy as np

from mlgo.learning.checkpoint import digest_of
from mlgo.learning.observations import concatenate
from mlgo.learning.testing import synthetic
from mlgo.problems.problem import Problem
from mlgo.run.exit_codes import RunError
from mlgo.run.testing.folder_case import FolderCase
from mlgo.score.function_scores import FunctionScore
from mlgo.trace.outcomes import ModuleRecord, Outcome
from mlgo.trace.trace import Decisions, Trace
from mlgo.training import warm_start
from mlgo.training.settings import configure


class WarmStartTest(FolderCase):
    def setUp(self):
        super().setUp()
        for name in ("cost", "kind", "constant", "progress"):
            values = np.linspace(0, 1, 101) if name != "constant" else np.zeros(101)
            self.file(f"vocabulary/{name}.buckets", "".join(f"{value}\n" for value in values))

    def start(self, name: str, seed: int) -> str:
        configurations = configure({"problem": "regalloc_eviction", "seed": seed}, [], [])
        folder, vocabulary = self.folder / name, self.folder / "vocabulary"
        figures = warm_start.start_randomly(folder, vocabulary, synthetic.PROBLEM, configurations)
        self.assertEqual(figures, {"from": "none"})
        return digest_of(warm_start.load_start(self.folder / name).weights)

    def test_random_weights_depend_on_the_seed_only(self):
        self.assertEqual(self.start("one", 1), self.start("again", 1))
        self.assertNotEqual(self.start("one", 1), self.start("other", 2))

    def test_of_too_many_decisions_a_part_is_cloned(self):
        log = synthetic.features(np.random.default_rng(1), 100)
        actions = synthetic.best(log)

        class Repeated(Trace):
            """A trace whose modules all have the same 100 decisions."""

            def decisions(self, name: str, problem: Problem) -> Decisions:
                return Decisions(name, log, actions, np.zeros(100, np.int32))

        record = ModuleRecord(Outcome.TRACED, None, {"f": FunctionScore(100, 1.0)})
        trace = Repeated(self.folder, {f"m{number}": record for number in range(40)})

        def packed():
            parts = warm_start.packed(trace, list(trace.records), synthetic.normalizer(), synthetic.PROBLEM, 1)
            return concatenate(parts).arrays()

        self.assertEqual(len(packed()["chosen"]), 4000)
        with mock.patch.object(warm_start, "MOST_DECISIONS", 1000):
            part = packed()
            self.assertEqual(digest_of(part), digest_of(packed()))
        self.assertLess(abs(len(part["chosen"]) - 1000), 150)

    def test_an_absent_or_damaged_start(self):
        with self.assertRaisesRegex(RunError, "warm start in .*: is absent"):
            warm_start.load_start(self.folder)
        self.start("one", 1)
        (self.folder / "one" / "normalizer.json").write_text("{}", encoding="utf-8")
        with self.assertRaisesRegex(RunError, "normaliser"):
            warm_start.load_start(self.folder / "one")
