from absl import flags
from absl.testing import flagsaver

from mlgo.flags import training
from mlgo.problems.inlining_for_size.problem import PROBLEM as INLINING
from mlgo.problems.regalloc_eviction.problem import PROBLEM as EVICTION
from mlgo.run.exit_codes import RunError
from mlgo.run.testing.folder_case import FolderCase
from mlgo.score.code_size import ESTIMATED_CODE
from mlgo.training.run_inputs import ESTIMATION_INPUTS

training.define_estimation_flags()
flags.FLAGS(["test"])


class EstimationGivenTest(FolderCase):
    def setUp(self):
        super().setUp()
        for name in ("opt", "estimator.json"):
            self.file(name, name)

    def given(self, problem, reward, **values):
        with flagsaver.flagsaver(**{name: str(self.folder / value) for name, value in values.items()}):
            return training.estimation_from_flags(problem, reward)

    def test_other_rewards_need_none(self):
        for problem, reward in ((INLINING, ""), (INLINING, "object_text"), (EVICTION, "")):
            self.assertIsNone(self.given(problem, reward))

    def test_what_is_given_is_part_of_the_run(self):
        found = self.given(INLINING, ESTIMATED_CODE, size_estimator="estimator.json", opt="opt")
        before = found.digests()
        self.assertEqual(tuple(before), ESTIMATION_INPUTS)
        self.file("estimator.json", "another")
        after = found.digests()
        self.assertEqual([name for name in before if before[name] != after[name]], ["size_estimator"])

    def test_what_does_not_fit(self):
        estimator, unsupported = {"size_estimator": "estimator.json"}, "is not supported for"
        for problem, reward, values, message in (
            (INLINING, "", estimator, f"--size_estimator: {unsupported} the default reward. Add --gin_bindings"),
            (INLINING, "object_text", {"opt": "opt"}, f"--opt: {unsupported} reward object_text"),
            (INLINING, ESTIMATED_CODE, {}, "reward estimated_code: needs an estimator, .* Train one with"),
            (INLINING, ESTIMATED_CODE, {**estimator, "opt": "none"}, "--opt=.*/none: is not a file"),
            (EVICTION, "", estimator, f"--size_estimator: {unsupported} regalloc_eviction"),
            (EVICTION, ESTIMATED_CODE, {}, f"reward='estimated_code'.*: {unsupported} regalloc_eviction"),
        ):
            with self.subTest(message), self.assertRaisesRegex(RunError, message):
                self.given(problem, reward, **values)

    def test_a_damaged_estimator(self):
        with self.assertRaisesRegex(RunError, "estimator.json"):
            self.given(INLINING, ESTIMATED_CODE, size_estimator="estimator.json", opt="opt").load()
