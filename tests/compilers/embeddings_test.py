"""A policy that is told IR2Vec embeddings decides equally embedded (both backends) and as TFLite, and needs its
vocabulary: without it, or with another one, the compile ends with one sentence."""

import pathlib
import shutil
import subprocess
import tempfile
import unittest

from mlgo.problems.ir2vec import built_in_file, vocabulary_in
from mlgo.problems.problem import load_problem
from mlgo.run.locate import runfile
from tests.compilers.modules import SIZE_CORPUS, compile_to_object, held_out_modules

PROBLEM = load_problem("inlining_for_size+ir2vec")
BACKENDS = ("cpp", "aot")
_EVERY = 4
_MALFORMED = '{"Opcodes": {}, "Types": {}, "Arguments": {}}'
_OTHER_DIMENSION = '{"Opcodes": {"Add": [1, 2]}, "Types": {"IntegerTy": [1, 2]}, "Arguments": {"Pointer": [1, 2]}}'
_SOURCE = "static int f(int a) { return a * 3; }\nint g(int a) { return f(a) + f(a + 1); }\n"


class EmbeddingsTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.folder / "x.c").write_text(_SOURCE, "utf-8")
        model = runfile("tests/policies/embeddings_inlining_tflite/model.tflite").parent
        self.development = PROBLEM.development_flags(None, str(model))

    def objects(self, program, flags=()):
        modules = held_out_modules(SIZE_CORPUS)[::_EVERY]
        return [compile_to_object(runfile(program), module, "-Oz", self.folder, flags) for module in modules]

    def test_every_form_decides_alike(self):
        wanted = self.objects("development/clang", self.development)
        for backend in BACKENDS:
            found = self.objects(f"tests/compilers/{backend}_embeddings_clang", PROBLEM.release_flags())
            self.assertEqual(found, wanted, backend)
        self.assertNotEqual(wanted, self.objects("development/clang"), "no object changed: was the policy asked?")

    def test_the_policy_looks_at_the_embeddings(self):
        model = runfile("tests/policies/random_inlining_tflite/model.tflite").parent
        plain = load_problem("inlining_for_size")
        # A policy that does not know them decides equally with and without them.
        without = self.objects("development/clang", plain.development_flags(None, str(model)))
        self.assertEqual(without, self.objects("development/clang", PROBLEM.development_flags(None, str(model))))

    def failure(self, program, flags):
        command = [program, "-Oz", "-c", "x.c", *flags]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=120, check=False)
        self.assertGreater(done.returncode, 0, done.stderr)
        [line] = done.stderr.strip().splitlines()
        return line

    def test_without_its_vocabulary(self):
        for program, flags in (
            ("development/clang", self.development),
            ("tests/compilers/cpp_embeddings_clang", PROBLEM.release_flags()),
        ):
            built = runfile(program).resolve()
            tree = self.folder / "tree"
            shutil.rmtree(tree, ignore_errors=True)
            (tree / "bin").mkdir(parents=True)
            shutil.copy(built, tree / "bin" / "clang")
            clang = tree / "bin" / "clang"
            vocabulary = tree / "share" / "mlgo" / "ir2vec_vocabulary.json"
            self.assertIn("ir2vec_vocabulary.json cannot be read (No such file", self.failure(clang, flags))
            vocabulary.parent.mkdir(parents=True)
            digest = vocabulary_in(built_in_file()).digest
            for content, wrong in (
                (_MALFORMED, "ir2vec_vocabulary.json is malformed"),
                ("[" * 1_000_000, "ir2vec_vocabulary.json is malformed"),
                (_OTHER_DIMENSION, "embeddings of 75 numbers, and the IR2Vec vocabulary"),
                (built_in_file().read_text("utf-8") + " ", f"wants the IR2Vec vocabulary {digest}, and"),
            ):
                vocabulary.write_text(content, "utf-8")
                with self.subTest(program=program, wrong=wrong):
                    self.assertIn(wrong, self.failure(clang, flags))
            shutil.copy(built_in_file(), vocabulary)
            done = subprocess.run(
                [clang, "-Oz", "-c", "x.c", *flags], cwd=self.folder, capture_output=True, check=False
            )
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_what_is_no_name_of_a_vocabulary(self):
        flags = [*load_problem("inlining_for_size").development_flags("x.log", None), "-mllvm", "-mlgo-ir2vec=75"]
        self.assertIn("does not name an IR2Vec vocabulary", self.failure(runfile("development/clang"), flags))


if __name__ == "__main__":
    unittest.main()
