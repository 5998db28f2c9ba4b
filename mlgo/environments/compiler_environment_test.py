"""The environments: Gymnasium's own check on a stock clang, the rules of an episode, and that no process remains."""

import gc
import warnings
from unittest import mock

import gymnasium
import numpy as np
from gymnasium.utils.env_checker import check_env

import mlgo.environments
from mlgo.compiler.request import CompileFailure, FailureKind
from mlgo.compiler.testing import fake_clang
from mlgo.compiler.testing.scratch_case import ScratchTestCase
from mlgo.environments.compiler_environment import LOWEST_REWARD, CompilerEnvironment
from mlgo.environments.scores import ChannelScore
from mlgo.problems.regalloc_eviction.problem import PROBLEM as EVICTION
from mlgo.run import locate
from mlgo.run.exit_codes import RunError

CORPUS, CORPUS_OZ = (locate.runfile(f"mlgo/environments/test_corpus{level}") for level in ("", "_oz"))
INLINING_NAME = "mlgo/InliningForSize-v0"
EVICTION_NAME = "mlgo/RegallocEviction-v0"


class EnvironmentTestCase(ScratchTestCase):
    def make(self, name: str = EVICTION_NAME, **settings) -> gymnasium.Env:
        corpus = CORPUS_OZ if name == INLINING_NAME else CORPUS
        environment = gymnasium.make(name, **{"corpus": corpus, "workdir": self.work, **settings})
        self.addCleanup(environment.close)
        return environment

    def fake(self, **modules) -> dict:
        """Settings of an eviction environment with the fake clang; `modules`: name -> (functions, behaviour)."""
        contents = {name: fake_clang.FakeModule.bitcode(*module) for name, module in modules.items()}
        corpus = fake_clang.write_corpus(self.root / "corpus", contents)
        return {"corpus": corpus, "clang": fake_clang.install(self.root, EVICTION), "workdir": self.work}

    def make_fake(self, **modules) -> gymnasium.Env:
        return self.make(**self.fake(**modules))


def legal_action(environment: gymnasium.Env, info: dict):
    if "action_mask" in info:
        return int(info["action_mask"].argmax())
    return info.get("default_action", getattr(environment.action_space, "low", None))


def play(environment: gymnasium.Env, **reset):
    """One episode of legal actions; returns its observations, its last step and the module's name."""
    observation, info = environment.reset(**reset)
    observations = [observation]
    module = info["module"]
    while True:
        observation, reward, terminated, truncated, info = environment.step(legal_action(environment, info))
        if terminated or truncated:
            return observations, (observation, reward, terminated, truncated, info), module
        observations.append(observation)


class StockClangTest(EnvironmentTestCase):
    def test_gymnasium_accepts_them(self):
        for name in mlgo.environments.ENVIRONMENTS:
            environment = self.make(name)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                check_env(environment.unwrapped)
            said = [str(warning.message) for warning in caught if "-infinity" not in str(warning.message)]
            self.assertEqual([text for text in said if "is infinity" not in text], [], name)
            environment.close()
            self.assert_nothing_left()

    def test_the_default_inlines_as_the_default(self):
        environment = self.make(INLINING_NAME)
        for module in ("mlgo/environments/testdata/convolve.cc", "mlgo/environments/testdata/pressure.c"):
            observations, (_, *ended, info), played = play(environment, options={"module": module})
            self.assertEqual([played, info["module"], *ended], [module, module, 0.0, True, False])
            self.assertGreater(len(observations), 1)
            self.assertGreater(info["default_score"], 100)
            self.assertEqual(info["score"], info["default_score"])

    def test_never_inlining_changes_the_size(self):
        environment = self.make(INLINING_NAME)
        environment.reset(options={"module": "mlgo/environments/testdata/convolve.cc"})
        ended = False
        while not ended:
            _, reward, ended, _, info = environment.step(0)
        self.assertNotEqual(info["score"], info["default_score"])
        self.assertAlmostEqual(reward, 1 - (info["score"] + 1) / (info["default_score"] + 1))

    def test_allocation_decisions_change_the_score(self):
        for name in (EVICTION_NAME, "mlgo/RegallocPriority-v0"):
            environment = self.make(name)
            _, (last, reward, terminated, _, info), _ = play(environment, seed=1)
            self.assertTrue(terminated)
            self.assertIn(last, environment.observation_space)
            self.assertNotEqual(info["score"], info["default_score"], name)
            self.assertAlmostEqual(reward, 1 - (info["score"] + 1) / (info["default_score"] + 1))
            scores = environment.unwrapped.function_scores
            self.assertAlmostEqual(sum(score for score, _ in scores.values()), info["score"])
            self.assertAlmostEqual(sum(default for _, default in scores.values()), info["default_score"])

    def test_equal_seeds_equal_episodes(self):
        first, second = (play(self.make(), seed=7) for _ in range(2))
        self.assertEqual(first[2], second[2])
        self.assertEqual(len(first[0]), len(second[0]))
        for one, other in zip(first[0], second[0]):
            self.assertEqual({n: a.tobytes() for n, a in one.items()}, {n: a.tobytes() for n, a in other.items()})
        self.assertEqual(first[1][1:], second[1][1:])

    def test_the_highest_priority_is_sent(self):
        environment = self.make("mlgo/RegallocPriority-v0")
        environment.reset(seed=0)
        self.assertNotIn("illegal_action", environment.step(np.ones(1, np.float32))[4])

    def test_several_at_once(self):
        settings = {"vectorization_mode": "sync", "corpus": CORPUS, "workdir": self.work}
        several = gymnasium.make_vec(EVICTION_NAME, num_envs=2, **settings)
        observations, info = several.reset(seed=[1, 2])
        self.assertEqual(observations["mask"].shape, (2, 1, 33))
        several.step(info["action_mask"].argmax(axis=1))
        several.close()
        self.assert_nothing_left()


class EpisodeTest(EnvironmentTestCase):
    def test_observations_are_kept(self):
        environment = self.make_fake(m=({"f": 3}, "good"))
        observations, (last, *_), _ = play(environment)
        self.assertEqual(len(observations), 3)
        self.assertNotEqual(observations[0]["nr_urgent"].tobytes(), observations[1]["nr_urgent"].tobytes())
        self.assertFalse(any(array.any() for array in last.values()))

    def test_info(self):
        environment = self.make_fake(m=({"f": 1, "g": 1}, "good"))
        observation, info = environment.reset()
        self.assertEqual((info["module"], info["function"]), ("m", "f"))
        np.testing.assert_array_equal(info["action_mask"], observation["mask"][0])
        self.assertIn(environment.action_space.sample(mask=info["action_mask"]), np.flatnonzero(info["action_mask"]))
        self.assertEqual(environment.step(legal_action(environment, info))[4]["function"], "g")

    def test_an_illegal_action_ends_the_episode(self):
        environment = self.make_fake(m=({"f": 3}, "good"))
        _, info = environment.reset()
        illegal = int(info["action_mask"].argmin())
        _, reward, terminated, truncated, info = environment.step(illegal)
        self.assertEqual((reward, terminated, truncated), (LOWEST_REWARD, True, False))
        self.assertIn("which the mask allows", info["illegal_action"])
        self.assert_nothing_left()
        with self.assertRaisesRegex(gymnasium.error.ResetNeeded, "call reset"):
            environment.unwrapped.step(0)

    def test_every_module_once_before_any_again(self):
        names = [f"m{index}" for index in range(5)]
        environment = self.make_fake(**{name: ({"f": 1}, "good") for name in names})
        order = [environment.reset(seed=4 if index == 0 else None)[1]["module"] for index in range(10)]
        self.assertEqual((sorted(order[:5]), sorted(order[5:])), (names, names))
        again = [environment.reset(seed=4 if index == 0 else None)[1]["module"] for index in range(10)]
        self.assertEqual(order, again)
        self.assertNotEqual(order[:5], [environment.reset(seed=s)[1]["module"] for s in (5, None, None, None, None)])

    def test_modules_without_decisions_are_passed_over(self):
        environment = self.make_fake(empty=({"f": 0}, "good"), silent=({"f": 1}, "silent"), m=({"f": 1}, "good"))
        self.assertEqual({environment.reset()[1]["module"] for _ in range(4)}, {"m"})
        with self.assertRaisesRegex(RunError, "module silent: has nothing to decide for regalloc_eviction"):
            environment.reset(options={"module": "silent"})

    def test_a_corpus_without_decisions(self):
        environment = self.make_fake(a=({"f": 0}, "good"), b=({}, "good"))
        with self.assertRaisesRegex(RunError, "has nothing to decide for regalloc_eviction, or cannot be compiled"):
            environment.reset()


class TroubleTest(EnvironmentTestCase):
    def test_a_module_that_cannot_be_compiled_is_left_out_aloud(self):
        environment = self.make_fake(bad=({"f": 1}, "refuse"), m=({"f": 1}, "good"))
        with self.assertWarnsRegex(UserWarning, "bad: compile_error, exit code 1: .*it is left out"):
            modules = {environment.reset(seed=1)[1]["module"] for _ in range(3)} | {environment.reset()[1]["module"]}
        self.assertEqual(modules, {"m"})

    def test_code_however_bad_pays_no_less_than_an_illegal_action(self):
        environment = self.make_fake(m=({"f": 3}, "good"))
        for improvement, expected in ((-50.0, LOWEST_REWARD), (-7.5, -7.5)):
            with mock.patch.object(ChannelScore, "improvement", return_value=improvement):
                _, (_, reward, terminated, _, _), _ = play(environment)
            self.assertEqual((reward, terminated), (expected, True))

    def test_a_compiler_that_fails_pays_no_more_than_an_illegal_action(self):
        failures = {"crash_between": "crash: SIGSEGV", "leaves_inside": "bad_log: ", "no_object": "compile_error"}
        for behaviour, failure in failures.items():
            environment = self.make_fake(m=({"f": 3}, behaviour))
            _, (_, reward, terminated, truncated, info), _ = play(environment)
            self.assertEqual((reward, terminated, truncated), (LOWEST_REWARD, True, False))
            self.assertRegex(info["failure"], f"^{failure}")
            self.assert_nothing_left()

    def test_a_module_that_the_default_cannot_compile_is_left_out(self):
        environment = self.make_fake(m=({"f": 3}, "good"))
        failure = CompileFailure("m", FailureKind.CRASH, "SIGSEGV")
        with mock.patch("mlgo.environments.compiler_environment.certain_outcome", return_value=failure):
            with self.assertWarnsRegex(UserWarning, "m: the default's compile, crash: SIGSEGV; it is left out"):
                _, (_, reward, terminated, truncated, info), _ = play(environment)
        self.assertEqual((reward, terminated, truncated), (0.0, False, True))
        self.assertIn("the default's compile", info["failure"])
        with self.assertRaisesRegex(RunError, "has nothing to decide .* or cannot be compiled"):
            environment.reset()

    def test_leaving_in_the_middle(self):
        environment = self.make_fake(m=({"f": 3}, "good"))
        environment.reset()
        self.assertEqual(len(list(self.work.iterdir())), 1)
        environment.close()
        environment.close()
        self.assert_nothing_left()
        environment.reset()
        environment.reset()
        self.assertEqual(len(list(self.work.iterdir())), 1)

    def test_forgotten(self):
        environment = CompilerEnvironment("regalloc_eviction", **self.fake(m=({"f": 3}, "good")))
        environment.reset()
        self.assertEqual(len(list(self.work.iterdir())), 1)
        del environment
        gc.collect()
        self.assert_nothing_left()

    def test_what_is_not_there(self):
        with self.assertRaisesRegex(RunError, "corpus_description.json"):
            self.make(corpus=self.root / "absent")
        with self.assertRaisesRegex(RunError, "has 2 of 2 modules at -O2 .* inlining_for_size needs -Os or -Oz"):
            self.make(INLINING_NAME, corpus=CORPUS)
        with self.assertRaisesRegex(RunError, "cannot be started"):
            self.make(clang=self.root / "absent").reset()
        with self.assertRaisesRegex(ValueError, "the environments render nothing"):
            self.make(render_mode="human")
