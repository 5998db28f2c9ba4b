"""Training by estimated sizes, with the real compiler and the real opt on a few real modules."""

import collections
import json
import pathlib
import tempfile
import unittest

import numpy as np

from mlgo.compiler.request import CompileLimits, CompileResult
from mlgo.corpus.corpus import Corpus
from mlgo.problems.inlining_for_size.problem import PROBLEM
from mlgo.run import locate
from mlgo.run.exit_codes import ExitCode
from mlgo.score.problem_score import score_of
from mlgo.size_estimator.estimator import SizeEstimator
from mlgo.size_estimator.properties import properties_of
from mlgo.trace.optimised_corpus import optimise_corpus
from mlgo.trace.setup import CompileSetup
from mlgo.trace.trace import Trace, compile_modules
from tests.end_to_end import command, real_modules

_BYTES = 5


def _estimator(path: pathlib.Path, bytes_per_instruction: float) -> None:
    """Writes an estimator of which everything is known."""
    none = (np.zeros((1, 1)), np.zeros(1), np.zeros(1), np.zeros(1))
    weights = np.array([bytes_per_instruction, 0.0])
    SizeEstimator(("TotalInstructionCount",), weights, np.zeros(1), np.ones(1), none, 0.5).save(path)


class EstimatedRewardTest(unittest.TestCase):
    folder: pathlib.Path
    clang: pathlib.Path
    opt: pathlib.Path
    train: Corpus
    code: int
    said: str

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.clang, cls.opt = real_modules.development_clang(), locate.runfile("development/opt")
        cls.train = real_modules.smallest("oz_train", 4, cls.folder / "train")
        real_modules.smallest("oz_held_out", 2, cls.folder / "held_out")
        _estimator(cls.folder / "estimator.json", _BYTES)
        cls.code, cls.said = cls.trained("run", "estimator.json")

    @classmethod
    def trained(cls, output: str, estimator: str) -> tuple[int, str]:
        return command.run(
            f"--clang={cls.clang}",
            f"--train_corpus={cls.folder / 'train'}",
            f"--held_out_corpus={cls.folder / 'held_out'}",
            f"--output_dir={cls.folder / output}",
            "--gin_bindings=RunSettings.reward='estimated_code'",
            f"--size_estimator={cls.folder / estimator}",
            "--algorithm=es",
            "--warm_start=none",
            "--iterations=1",
            "--modules_per_iteration=2",
            "--validation_modules=1",
            program="train_inlining",
        )

    def test_it_ends_with_a_policy_and_says_what_its_score_is(self):
        self.assertEqual(self.code, ExitCode.DONE, self.said)
        self.assertTrue((self.folder / "run" / "policy" / "tflite" / "model.tflite").is_file())
        self.assertRegex(
            self.said,
            r"These scores are estimates of code size from optimised IR.*\n"
            r".*//mlgo:evaluate -- --problem=inlining_for_size",
        )
        inputs = json.loads((self.folder / "run" / "policy" / "policy.json").read_text())["training"]["inputs"]
        self.assertEqual((len(inputs["size_estimator"]), len(inputs["opt"])), (64, 64))

    def test_scores_are_the_estimates_of_the_optimised_modules(self):
        setup = CompileSetup(self.clang, PROBLEM, CompileLimits(), 2, 0.0)
        optimise_corpus(self.folder / "optimised", self.train, setup, "optimising")
        records = Trace.load(self.folder / "run" / "trace" / "train", self.train).records
        for module in Corpus.load(self.folder / "optimised").modules:
            properties = properties_of(module.bitcode_file(), self.opt)
            expected = {name: float(_BYTES * values["TotalInstructionCount"]) for name, values in properties.items()}
            found = {name: score.score for name, score in records[module.name].functions.items() if name}
            self.assertEqual(found, expected)
            self.assertGreater(len(found), 1)

    def test_comdats_are_those_of_the_objects(self):
        setup = CompileSetup(self.clang, PROBLEM, CompileLimits(), 2, 0.0)
        records = Trace.load(self.folder / "run" / "trace" / "train", self.train).records
        seen: collections.Counter[str | None] = collections.Counter()
        for module, outcome in compile_modules(self.train.modules, setup, [None] * len(self.train.modules)):
            assert isinstance(outcome, CompileResult), outcome
            comdats, found = (
                collections.Counter(score.comdat for name, score in scores.items() if name)
                for scores in (score_of(PROBLEM).read(outcome), records[module.name].functions)
            )
            self.assertEqual(found, comdats)
            seen += comdats
        self.assertGreater(len(seen), 1, "no module has a COMDAT")

    def test_another_estimator_is_another_run(self):
        _estimator(self.folder / "other.json", 2 * _BYTES)
        code, said = self.trained("run", "other.json")
        self.assertEqual(code, ExitCode.USER_ERROR, said)
        self.assertIn("size_estimator", said)

    def test_evaluation_refuses_it(self):
        code, said = command.run(
            f"--clang={self.clang}",
            "--problem=inlining_for_size",
            "--reward=estimated_code",
            f"--policy={self.folder / 'run' / 'policy'}",
            f"--corpus={self.folder / 'held_out'}",
            f"--output_dir={self.folder / 'evaluation'}",
            program="evaluate",
        )
        self.assertEqual(code, ExitCode.USER_ERROR, said)
        self.assertRegex(
            said,
            "--reward=estimated_code: is an estimate for training; an evaluation measures the sizes of the code itself",
        )


if __name__ == "__main__":
    unittest.main()
