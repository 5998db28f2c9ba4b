"""The contract that every registered problem keeps, and what `Problem` refuses."""

import dataclasses
import unittest

from mlgo.problems.problem import Problem, TensorSpec, load_problem

REGISTERED = ("regalloc_eviction",)


class RegisteredProblemTest(unittest.TestCase):
    def test_contract(self):
        for name in REGISTERED:
            with self.subTest(name):
                problem = load_problem(name)
                self.assertEqual(problem.name, name)
                logged = problem.development_flags("some.log", None)
                self.assertEqual(logged[0::2], ["-mllvm"] * (len(logged) // 2))
                self.assertTrue(any(flag.endswith("=some.log") for flag in logged))
                self.assertTrue(any(flag.endswith("=policy") for flag in problem.development_flags(None, "policy")))
                self.assertTrue(all("=release" in flag for flag in problem.release_flags()[1::2]))
                with self.assertRaisesRegex(ValueError, "needs a training log, a model, or both"):
                    problem.development_flags(None, None)

    def test_unknown_problem(self):
        with self.assertRaisesRegex(ValueError, r"cannot load PROBLEM from mlgo/problems/absent/problem.py"):
            load_problem("absent")
        with self.assertRaisesRegex(ValueError, "is not a folder name"):
            load_problem("../regalloc_eviction")


class EvictionTest(unittest.TestCase):
    def test_sizes_as_measured_from_a_real_log(self):
        problem = load_problem("regalloc_eviction")
        self.assertEqual(len(problem.observation_specs), 21)
        # 3,436 bytes of observation and the decision (FACTS of this project, section 2).
        self.assertEqual(problem.observation_bytes, 3436 + 8)


class RefusalTest(unittest.TestCase):
    def test_tensor(self):
        with self.assertRaisesRegex(ValueError, "dtype 'float64' cannot be logged"):
            TensorSpec("x", "float64", (1,))
        with self.assertRaisesRegex(ValueError, "must hold positive integers"):
            TensorSpec("x", "float32", (0,))

    def test_problem(self):
        problem: Problem = load_problem("regalloc_eviction")
        with self.assertRaisesRegex(ValueError, "must be a folder name"):
            dataclasses.replace(problem, name="Eviction!")
        with self.assertRaisesRegex(ValueError, "two tensors have the same name"):
            dataclasses.replace(problem, observation_specs=problem.observation_specs * 2)
        with self.assertRaisesRegex(ValueError, "mask mask has 33 elements for 5 decisions"):
            dataclasses.replace(problem, action_count=5)
        with self.assertRaisesRegex(KeyError, "has no observation 'colour'"):
            problem.observation_spec("colour")


if __name__ == "__main__":
    unittest.main()
