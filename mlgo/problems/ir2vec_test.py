"""Vocabularies of IR2Vec: their identity, what is refused, and the problems that observe embeddings."""

import json
import unittest
import unittest.mock

from mlgo.problems import ir2vec
from mlgo.problems.problem import load_problem
from mlgo.problems.tensor import TensorSpec
from mlgo.run.exit_codes import RunError
from mlgo.run.testing.folder_case import FolderCase

SMALL = {
    "Opcodes": {"Add": [1, -0.5], "Sub": [0, 1e-3]},
    "Types": {"IntegerTy": [1, 2]},
    "Arguments": {"Pointer": [3, 4]},
}
FULL_NAME = "inlining_for_size+ir2vec.75.0123456789abcdef"


class VocabularyTest(FolderCase):
    def read(self, content):
        text = content if isinstance(content, str) else json.dumps(content)
        return ir2vec.vocabulary_in(self.file("vocabulary.json", text))

    def test_identity(self):
        found = self.read(SMALL)
        self.assertEqual(found.dimension, 2)
        self.assertEqual(ir2vec.Vocabulary.parse(str(found)), found)
        self.assertNotEqual(found, self.read({**SMALL, "Types": {"IntegerTy": [1, 3]}}))

    def test_absent_and_malformed_files_are_one_sentence(self):
        with self.assertRaisesRegex(RunError, "vocabulary.json"):
            ir2vec.vocabulary_in(self.folder / "vocabulary.json")
        for content, wrong in (
            ("{", "is malformed"),
            ("[" * 100_000, "is malformed"),
            ([], "it has no section 'Opcodes' with vectors"),
            ({**SMALL, "Types": {}}, "it has no section 'Types' with vectors"),
            ({**SMALL, "Types": {"IntegerTy": [1, "2"]}}, "Types.IntegerTy is no vector of numbers"),
            ({**SMALL, "Types": {"IntegerTy": [1, True]}}, "Types.IntegerTy is no vector of numbers"),
            ({**SMALL, "Types": {"IntegerTy": [1, 10**400]}}, "Types.IntegerTy is no vector of numbers"),
            ({**SMALL, "Types": {"IntegerTy": []}}, "have \\[0\\] numbers"),
            ({**SMALL, "Types": {"IntegerTy": [1, 2], "FloatTy": [1]}}, "have \\[1, 2\\] numbers"),
            ({**SMALL, "Types": {"IntegerTy": [1]}}, "different dimensions: Opcodes 2, Types 1, Arguments 2"),
        ):
            with self.subTest(wrong), self.assertRaisesRegex(RunError, wrong) as raised:
                self.read(content)
            self.assertNotIn("\n", str(raised.exception))

    def test_texts_that_are_no_identity(self):
        wrong_digits = ("0.0123456789abcdef", "75.0123456789ABCDEF", "75.0123456789abcdef0", "9999.0123456789abcdef")
        for text in ("", "75", "75.", *wrong_digits):
            with self.subTest(text), self.assertRaisesRegex(ValueError, "IR2Vec vocabulary"):
                ir2vec.Vocabulary.parse(text)

    def test_elements(self):
        self.assertEqual(ir2vec.element_names("e", 2), ("e[0]", "e[1]"))
        self.assertEqual(ir2vec.split_element("e[12]"), ("e", 12))
        self.assertEqual(ir2vec.split_element("cost_estimate"), ("cost_estimate", 0))


class ProblemTest(FolderCase):
    def test_embeddings_stand_between_the_features_of_llvm_and_ours(self):
        problem, plain = load_problem(FULL_NAME), load_problem("inlining_for_size")
        names = [spec.name for spec in problem.observation_specs]
        self.assertEqual(names[38:40], ["callee_embedding", "caller_embedding"])
        self.assertEqual(names[:38] + names[40:], [spec.name for spec in plain.observation_specs])
        self.assertEqual(problem.observation_spec("caller_embedding"), TensorSpec("caller_embedding", "float32", (75,)))
        self.assertEqual(problem.interactive_specs()[-1].name, "caller_embedding")
        self.assertEqual((problem.name, problem.folder), (FULL_NAME, "inlining_for_size"))
        self.assertEqual(load_problem(problem.name), problem)
        self.assertEqual(ir2vec.vocabulary_of(problem.name), problem.vocabulary)
        self.assertIsNone(ir2vec.vocabulary_of(plain.name))
        self.assertEqual(problem.elements(problem.observation_specs[38])[74], "callee_embedding[74]")
        self.assertEqual(problem.elements(problem.observation_specs[0]), ("sroa_savings",))

    def test_flags_name_the_vocabulary_and_no_path(self):
        flags, plain = (load_problem(name).development_flags("x", None) for name in (FULL_NAME, "inlining_for_size"))
        self.assertIn("-mlgo-ir2vec=75.0123456789abcdef", flags)
        self.assertFalse(any("ir2vec" in flag for flag in plain))

    def test_the_short_name_means_the_vocabulary_of_the_compilers(self):
        path = self.file("vocabulary.json", json.dumps(SMALL))
        with unittest.mock.patch.object(ir2vec, "built_in_file", lambda: path):
            problem = load_problem("inlining_for_size+ir2vec")
            self.assertEqual(problem.vocabulary, ir2vec.vocabulary_in(path))
            self.assertIn(f"-ir2vec-vocab-path={path}", problem.interactive_flags("channel"))
            with self.assertRaisesRegex(RunError, "and 75.0123456789abcdef is needed"):
                load_problem(FULL_NAME).interactive_flags("channel")

    def test_refusals(self):
        settings = "the settings are \\+ir2vec, \\+stock, \\+folded, \\+executed_cost"
        for name, wrong in (
            ("inlining_for_size+", settings),
            ("inlining_for_size+ir3vec", settings),
            ("inlining_for_size+ir2vec.", "is no DIMENSION.DIGEST"),
            ("inlining_for_size+ir2vec.75.x", "is no DIMENSION.DIGEST"),
            ("regalloc_eviction+ir2vec.75.0123456789abcdef", "LLVM computes no IR2Vec embeddings for it"),
        ):
            with self.subTest(name), self.assertRaisesRegex(ValueError, wrong):
                load_problem(name)
