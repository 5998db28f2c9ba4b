"""The example runs on every problem, learns something where that takes a few steps only, and repeats itself."""

import contextlib
import io
import unittest
from unittest import mock

import gymnasium
import numpy as np

from examples import train_with_gymnasium as example
from mlgo.run import locate
from mlgo.run.exit_codes import ExitCode

CORPUS, CORPUS_OZ = (str(locate.runfile(f"mlgo/environments/test_corpus{level}")) for level in ("", "_oz"))


def run(*arguments: str) -> tuple[str | int | None, str]:
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        try:
            code: str | int | None = example.main(list(arguments))
        except SystemExit as leaving:
            code = leaving.code
    return code, out.getvalue()


class RightArmEnvironment(gymnasium.Env):
    """33 arms, of which a few are legal; the legal one with the largest feature pays 1, all others nothing."""

    observation_space = gymnasium.spaces.Dict(
        {
            "mask": gymnasium.spaces.Box(0, 1, (1, 33), np.int64),
            "worth": gymnasium.spaces.Box(0, 1, (1, 33), np.float32),
        }
    )
    action_space = gymnasium.spaces.Discrete(33)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return self._show()

    def step(self, action):
        legal, worth = self._shown["mask"][0], self._shown["worth"][0]
        if not legal[action]:
            raise AssertionError(f"the agent chose {action}, which is illegal")
        reward = float(action == np.where(legal, worth, -1).argmax())
        observation, info = self._show()
        return observation, reward, True, False, info

    def _show(self):
        mask = np.zeros((1, 33), np.int64)
        mask[0, self.np_random.choice(33, 4, replace=False)] = 1
        self._shown = {"mask": mask, "worth": self.np_random.random((1, 33)).astype(np.float32)}
        return self._shown, {"action_mask": mask[0].astype(np.int8)}


class OneStepEnvironment(RightArmEnvironment):
    """Every step pays 1 and ends the episode."""

    def __init__(self, truncated: bool):
        self._truncated = truncated

    def step(self, action):
        observation, _, _, _, info = super().step(action)
        return observation, 1.0, not self._truncated, self._truncated, info


class ExampleTest(unittest.TestCase):
    def test_a_few_steps_of_every_problem(self):
        for problem in ("regalloc_eviction", "inlining_for_size", "regalloc_priority"):
            corpus = CORPUS_OZ if problem == "inlining_for_size" else CORPUS
            code, said = run(f"--problem={problem}", f"--corpus={corpus}", "--steps=60", "--rollout_steps=40")
            self.assertEqual(code, ExitCode.DONE, said)
            self.assertRegex(said, r"^40 steps, \d+ episodes, mean reward .*\n60 steps, .* value loss \d", problem)

    def test_it_repeats_itself(self):
        arguments = ("--problem=inlining_for_size", f"--corpus={CORPUS_OZ}", "--steps=60", "--rollout_steps=40")
        first = run(*arguments)
        self.assertEqual(first, run(*arguments))
        self.assertNotEqual(first, run(*arguments, "--seed=2"))

    def test_it_learns(self):
        lines: list[str] = []
        settings = example.Settings(learning_rate=3e-3, entropy_coefficient=0.0)
        example.train(RightArmEnvironment(), 3072, 1, settings, lines.append)
        first, last = (float(line.split("mean reward ")[1].split(",")[0]) for line in (lines[0], lines[-1]))
        # One of four legal arms is right; drawing blindly gives 0.25.
        self.assertLess(first, 0.45)
        self.assertGreater(last, 0.7)

    def test_advantages(self):
        settings = example.Settings(gamma=0.5, gae_lambda=1.0)
        got = example.advantages(
            np.array([0.0, 1.0, 0.0], np.float32), np.zeros(3, np.float32), np.array([0.0, 1.0, 0.0]), 8.0, settings
        )
        np.testing.assert_allclose(got, [0.5, 1.0, 4.0])

    def test_an_episode_that_is_cut_off_is_worth_what_was_expected_of_it(self):
        for truncated, expected in ((False, 1.0), (True, 1.0 + 0.5 * 4.0)):
            with (
                mock.patch.object(example, "value_of", return_value=4.0),
                mock.patch.object(example, "update", return_value=(0.0, 0.0)) as update,
            ):
                settings = example.Settings(gamma=0.5, rollout_steps=8)
                example.train(OneStepEnvironment(truncated), 8, 1, settings, lambda line: None)
            np.testing.assert_allclose(update.call_args.args[2]["returns"], expected, rtol=1e-6)

    def test_misuse(self):
        code, said = run("--corpus=/srv/absent", "--steps=1")
        self.assertEqual(code, ExitCode.USER_ERROR)
        self.assertIn("corpus_description.json", said)
        self.assertEqual(run(f"--corpus={CORPUS}", "--steps=0")[0], 2)
        self.assertIn("--problem", run("--help")[1])


if __name__ == "__main__":
    unittest.main()
