import collections
import contextlib
import io
import unittest
from collections.abc import Mapping

from mlgo.compiler.testing import fake_clang
from mlgo.corpus.corpus import Corpus
from mlgo.problems.regalloc_eviction.problem import PROBLEM
from mlgo.run.exit_codes import RunError
from mlgo.run.testing.folder_case import FolderCase
from mlgo.training.corpora import (
    RunCorpora,
    modules_of_iteration,
    open_corpora,
    split_modules,
    unseen_by,
    validation_split,
)
from mlgo.training.run_inputs import RunInputs
from mlgo.training.settings import RunSettings


class CorporaTest(FolderCase):
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
            names = {part: [module.name for module in corpus.modules] for part, corpus in corpora.by_part.items()}
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
        names = [module.name for corpus in corpora.by_part.values() for module in corpus.modules]
        self.assertEqual(sorted(names), ["m0", "m1", "m2", "m3"])
        self.assertEqual(corpora.equal, {f"x{index}": "m0" for index in range(5)})

    def two(self, **parts: dict[str, int]) -> RunInputs:
        """Args: train, held_out: module -> a number; modules with one number are equal."""
        for part, modules in parts.items():
            bitcode = {name: fake_clang.FakeModule.bitcode({f"f{key}": 3}) for name, key in modules.items()}
            fake_clang.write_corpus(self.folder / part, bitcode)
        clang, train, held_out, output = (self.folder / name for name in ("clang", *parts, "out"))
        return RunInputs(clang, train, held_out, None, None, output)

    def test_held_out_modules_that_equal_others_are_left_out_of_a_corpus_of_their_own_too(self):
        inputs, said = self.two(train={"a": 1, "b": 2}, held_out={"c": 1, "d": 3, "e": 3, "f": 4}), io.StringIO()
        with contextlib.redirect_stderr(said):
            corpora = open_corpora(inputs, PROBLEM)
        self.assertEqual([module.name for module in corpora.by_part["train"].modules], ["a", "b"])
        self.assertEqual([module.name for module in corpora.by_part["held_out"].modules], ["d", "f"])
        self.assertIn("2 of 4 held-out modules equal a module of the training corpus or an earlier", said.getvalue())
        self.assertIn("left out (c equals a)", said.getvalue())
        found = split_modules(["a", "b"], corpora, RunSettings(), inputs).to_json()
        self.assertEqual(found["left_out_as_equal"], {"c": "a", "e": "d"})
        self.assertEqual(found["held_out"]["modules"], 2)

    def test_held_out_modules_that_differ_stay(self):
        inputs = self.two(train={"a": 1}, held_out={"b": 2, "c": 3})
        corpora = open_corpora(inputs, PROBLEM)
        assert inputs.held_out_corpus is not None
        self.assertEqual(corpora.by_part["held_out"].digest, Corpus.load(inputs.held_out_corpus).digest)
        self.assertEqual(corpora.equal, {})

    def test_a_held_out_corpus_of_equal_modules_alone_is_refused(self):
        inputs = self.two(train={"a": 1}, held_out={"b": 1})
        with self.assertRaisesRegex(RunError, r"--held_out_corpus=.*: has no module that differs .*\(b equals a\)"):
            open_corpora(inputs, PROBLEM)

    def eight(self) -> tuple[RunInputs, RunCorpora, list[str]]:
        """Inputs and corpora of eight modules, and the names of more."""
        inputs = self.inputs(8)
        return inputs, open_corpora(inputs, PROBLEM), [f"m{index}" for index in range(32)]

    def test_the_split_is_said_and_recorded(self):
        inputs, corpora, names = self.eight()
        found = split_modules(names, corpora, RunSettings(), inputs)
        count = len(corpora.by_part["held_out"].modules)
        said = f"modules to learn from: {8 - count}, of which 32 have decisions: 24 train, 8 validate"
        said += " (drawn with seed 1, at most 16 and fewer of a small corpus);"
        self.assertEqual(found.describe(), f"{said} {count} held out (a hash of the names, about one in 4)")
        parts = {part: found.to_json()[part]["modules"] for part in ("train", "validation", "held_out")}
        self.assertEqual(parts, {"train": 24, "validation": 8, "held_out": count})
        alone = split_modules(["m"], RunCorpora({"train": corpora.by_part["train"]}, {}), RunSettings(), inputs)
        self.assertIn("1 train, 1 validate (the only one does both", alone.describe())
        self.assertIn("; none held out", alone.describe())
        self.assertNotIn("held_out", alone.to_json())

    def test_what_a_start_has_learned_from_does_not_validate(self):
        inputs, corpora, names = self.eight()
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
        inputs, corpora, names = self.eight()
        plain = split_modules(names, corpora, RunSettings(), inputs)
        without_names = {"training": {"inputs": {"train_corpus": "c"}, "split": {"validation": {"modules": 4}}}}
        records: tuple[Mapping[str, object], ...] = ({}, {"training": []}, without_names)
        for record in records:
            found = split_modules(names, corpora, RunSettings(), inputs, unseen_by(record, "c"))
            self.assertEqual(found.validation, plain.validation)
            self.assertIn("the policy to start from may have learned from them", found.describe())
        other = {"training": {"inputs": {"train_corpus": "other"}, "split": plain.to_json()}}
        self.assertEqual(unseen_by(other, "c"), frozenset())


NAMES = [f"m{index:02}" for index in range(20)]


class ModulesOfIterationTest(unittest.TestCase):
    def test_every_module_comes_once_before_any_comes_twice(self):
        for walk in range(3):
            seen: collections.Counter[str] = collections.Counter()
            for iteration in range(4 * walk, 4 * walk + 4):
                seen.update(modules_of_iteration(NAMES, iteration, 5, seed=1))
            self.assertEqual(seen, collections.Counter(NAMES))

    def test_walks_and_seeds_differ(self):
        first = [modules_of_iteration(NAMES, iteration, 5, seed=1) for iteration in range(4)]
        self.assertNotEqual(first, [modules_of_iteration(NAMES, iteration, 5, seed=1) for iteration in range(4, 8)])
        self.assertNotEqual(first, [modules_of_iteration(NAMES, iteration, 5, seed=2) for iteration in range(4)])

    def test_piece_over_two_walks_holds_no_module_twice(self):
        for iteration in range(20):
            chosen = modules_of_iteration(NAMES, iteration, 13, seed=1)
            self.assertEqual(len(set(chosen)), len(chosen))
            self.assertLessEqual(len(chosen), 13)

    def test_small_corpus_is_compiled_whole(self):
        self.assertEqual(modules_of_iteration(NAMES[:3], 7, 5, seed=1), NAMES[:3])


class ValidationSplitTest(unittest.TestCase):
    def test_parts_are_disjoint_and_complete(self):
        training, validation = validation_split(NAMES, 4, seed=1)
        self.assertEqual(len(validation), 4)
        self.assertEqual(sorted(training + validation), NAMES)

    def test_one_in_four_of_a_small_corpus_is_for_validation_and_no_more_than_asked_for(self):
        # Before, 16 of 32 were. From 64 on nothing changes: the last ones are the built-in corpus, for eviction and
        # for inlining, and those of the shipped policies.
        small = ((2, 16, 1), (5, 16, 1), (8, 16, 2), (32, 16, 8), (48, 40, 16), (64, 40, 32), (66, 40, 33))
        large = ((86, 16, 16), (86, 40, 40), (212, 40, 40), (282, 40, 40), (351, 40, 40))
        for modules, asked, expected in (*small, *large):
            names = [f"m{index}" for index in range(modules)]
            training, validation = validation_split(names, asked, seed=1)
            self.assertEqual((len(training), len(validation)), (modules - expected, expected))

    def test_known_answer(self):
        # Which modules validate must not change: weights and metrics follow from it.
        names = [f"m{index:02}" for index in range(86)]
        known = "m03 m17 m31 m32 m33 m39 m41 m42 m48 m49 m52 m55 m56 m65 m70 m78"
        self.assertEqual(" ".join(validation_split(names, 16, seed=1)[1]), known)

    def test_single_module_serves_both(self):
        self.assertEqual(validation_split(["m"], 16, seed=1), (["m"], ["m"]))
