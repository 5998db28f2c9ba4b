"""Which modules of small corpora are for what, and that it is said."""

import pathlib
import tempfile
import unittest

from mlgo.compiler.testing import fake_clang
from mlgo.problems.regalloc_eviction.problem import PROBLEM
from mlgo.run.exit_codes import RunError
from mlgo.training.corpora import open_corpora, split_modules, unseen_by
from mlgo.training.run_inputs import RunInputs
from mlgo.training.settings import RunSettings


class CorporaTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def inputs(self, count: int, equal: int = 0) -> RunInputs:
        """Args: count: modules that differ; equal: more, all equal to the first."""
        corpus = self.folder / f"{count} {equal}"
        modules = {f"m{index}": fake_clang.FakeModule.bitcode({f"f{index}": 3}) for index in range(count)}
        modules |= {f"x{index}": modules["m0"] for index in range(equal)}
        fake_clang.write_corpus(corpus, modules)
        return RunInputs(self.folder / "clang", None, None, None, None, self.folder / "out", split_corpus=corpus)

    def test_small_corpora_are_split(self):
        for count, held_out in ((2, 1), (3, 1), (5, 1), (8, 2)):
            inputs = self.inputs(count)
            corpora = open_corpora(inputs, PROBLEM)
            names = {part: [module.name for module in corpus.modules] for part, corpus in corpora.items()}
            self.assertEqual(sorted(names["train"] + names["held_out"]), [f"m{index}" for index in range(count)])
            self.assertGreaterEqual(len(names["held_out"]), 1)
            self.assertLessEqual(len(names["held_out"]), held_out)
            self.assertEqual([path.name for path in self.folder.glob("out*")], [])  # Parts are not written.

    def test_one_module_cannot_be_split(self):
        for inputs in (self.inputs(1), self.inputs(1, equal=3)):
            with self.assertRaisesRegex(RunError, "--corpus=.*: has 1 module to split, and at least two .* are needed"):
                open_corpora(inputs, PROBLEM)

    def test_of_equal_modules_the_first_stays(self):
        corpora = open_corpora(self.inputs(4, equal=5), PROBLEM)
        names = [module.name for corpus in corpora.values() for module in corpus.modules]
        self.assertEqual(sorted(names), ["m0", "m1", "m2", "m3"])

    def test_the_split_is_said_and_recorded(self):
        inputs = self.inputs(8)
        corpora = open_corpora(inputs, PROBLEM)
        names = [f"m{index}" for index in range(32)]
        found = split_modules(names, corpora, RunSettings(), inputs)
        count = len(corpora["held_out"].modules)
        self.assertEqual(
            found.describe(),
            f"modules to learn from: {8 - count}, of which 32 have decisions: 24 train, 8 validate"
            " (drawn with seed 1, at most 16 and fewer of a small corpus);"
            f" {count} held out (a hash of the names, about one in 4)",
        )
        parts = {part: record["modules"] for part, record in found.to_json().items()}
        self.assertEqual(parts, {"train": 24, "validation": 8, "held_out": count})
        alone = split_modules(["m"], {"train": corpora["train"]}, RunSettings(), inputs)
        self.assertIn("1 train, 1 validate (the only one does both", alone.describe())
        self.assertIn("; none held out", alone.describe())
        self.assertNotIn("held_out", alone.to_json())

    def test_what_a_start_has_learned_from_does_not_validate(self):
        inputs = self.inputs(8)
        corpora = open_corpora(inputs, PROBLEM)
        names = [f"m{index}" for index in range(32)]
        first = split_modules(names, corpora, RunSettings(seed=1, validation_modules=4), inputs)
        record = {"training": {"inputs": {"train_corpus": "c"}, "split": first.to_json()}}
        # A second run with more validation modules, whatever its seed.
        for seed in (1, 2):
            settings = RunSettings(seed=seed, validation_modules=8, warm_start="policy")
            second = split_modules(names, corpora, settings, inputs, unseen_by(record, "c"))
            self.assertEqual(set(second.validation), set(first.validation))
            self.assertEqual(sorted([*second.train, *second.validation]), sorted(names))
            self.assertIn("at most 8, of the 4 that validated the policy to start from)", second.describe())

    def test_a_start_that_does_not_say_what_it_learned_from_is_named(self):
        inputs = self.inputs(8)
        corpora = open_corpora(inputs, PROBLEM)
        names = [f"m{index}" for index in range(32)]
        plain = split_modules(names, corpora, RunSettings(), inputs)
        without_names = {"training": {"inputs": {"train_corpus": "c"}, "split": {"validation": {"modules": 4}}}}
        for record in ({}, {"training": []}, without_names):
            found = split_modules(names, corpora, RunSettings(), inputs, unseen_by(record, "c"))
            self.assertEqual(found.validation, plain.validation)
            self.assertIn("the policy to start from may have learned from them", found.describe())
        other = {"training": {"inputs": {"train_corpus": "other"}, "split": plain.to_json()}}
        self.assertEqual(unseen_by(other, "c"), frozenset())


if __name__ == "__main__":
    unittest.main()
