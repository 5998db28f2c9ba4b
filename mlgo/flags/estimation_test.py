"""Flags and rewards that go together, and the digests of an estimation."""

import pathlib
import tempfile
import unittest

from absl import flags
from absl.testing import flagsaver

from mlgo.flags import training
from mlgo.problems.inlining_for_size.problem import PROBLEM as INLINING
from mlgo.problems.regalloc_eviction.problem import PROBLEM as EVICTION
from mlgo.run.exit_codes import RunError
from mlgo.score.code_size import ESTIMATED_CODE
from mlgo.training.run_inputs import ESTIMATION_INPUTS

training.define_estimation_flags()
flags.FLAGS(["test"])


class EstimationGivenTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        for name in ("opt", "estimator.json"):
            (self.folder / name).write_text(name, encoding="utf-8")

    def given(self, problem, reward, **values):
        with flagsaver.flagsaver(**{name: str(self.folder / value) for name, value in values.items()}):
            return training.estimation_from_flags(problem, reward)

    def test_other_rewards_need_none(self):
        self.assertIsNone(self.given(INLINING, ""))
        self.assertIsNone(self.given(INLINING, "object_text"))
        self.assertIsNone(self.given(EVICTION, ""))

    def test_what_is_given_is_part_of_the_run(self):
        found = self.given(INLINING, ESTIMATED_CODE, size_estimator="estimator.json", opt="opt")
        before = found.digests()
        self.assertEqual(tuple(before), ESTIMATION_INPUTS)
        (self.folder / "estimator.json").write_text("another", encoding="utf-8")
        after = found.digests()
        self.assertNotEqual(before["size_estimator"], after["size_estimator"])
        self.assertEqual(before["opt"], after["opt"])

    def test_what_does_not_fit(self):
        for problem, reward, values, message in (
            (
                INLINING,
                "",
                {"size_estimator": "estimator.json"},
                "--size_estimator: is not supported for the default reward. Add --gin_bindings",
            ),
            (INLINING, "object_text", {"opt": "opt"}, "--opt: is not supported for reward object_text"),
            (INLINING, ESTIMATED_CODE, {}, "reward estimated_code: needs an estimator, .* Train one with"),
            (
                INLINING,
                ESTIMATED_CODE,
                {"size_estimator": "estimator.json", "opt": "none"},
                "--opt=.*/none: is not a file",
            ),
            (
                EVICTION,
                "",
                {"size_estimator": "estimator.json"},
                "--size_estimator: is not supported for regalloc_eviction",
            ),
            (
                EVICTION,
                ESTIMATED_CODE,
                {},
                "RunSettings.reward='estimated_code'.*: is not supported for regalloc_eviction",
            ),
        ):
            with self.subTest(message), self.assertRaisesRegex(RunError, message):
                self.given(problem, reward, **values)

    def test_a_damaged_estimator(self):
        with self.assertRaisesRegex(RunError, "estimator.json"):
            self.given(INLINING, ESTIMATED_CODE, size_estimator="estimator.json", opt="opt").load()


if __name__ == "__main__":
    unittest.main()
