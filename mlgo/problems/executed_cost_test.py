import unittest

from mlgo.problems.executed_cost import ExecutedCost
from mlgo.problems.problem import load_problem


class ExecutedCostTest(unittest.TestCase):
    def test_only_the_score_and_the_name_differ(self):
        for name in ("regalloc_eviction", "regalloc_priority"):
            with self.subTest(name):
                plain, costly = load_problem(name), load_problem(f"{name}+executed_cost")
                self.assertEqual(costly.name, f"{name}+executed_cost.1,1,4")
                self.assertEqual(costly.policy_name, name)
                self.assertEqual(costly.folder, name)
                self.assertEqual(costly.logged_specs(), plain.logged_specs())
                self.assertEqual(costly.logged_score_spec, plain.logged_score_spec)
                logged, decided = plain.development_flags("x.log", None), plain.development_flags(None, "model")
                costs = ["-mllvm", "-mlgo-executed-cost=1,1,4"]
                self.assertEqual(costly.development_flags("x.log", "model"), [*logged, *costs, *decided[2:]])
                # Without a log there is no reward.
                self.assertEqual(costly.development_flags(None, "model"), plain.development_flags(None, "model"))
                self.assertEqual(costly.release_flags(), plain.release_flags())

    def test_the_name_of_a_problem_loads_the_same_problem(self):
        for name in ("executed_cost", "executed_cost.0.5,0,2", "executed_cost.1,1e-07,4"):
            problem = load_problem(f"regalloc_eviction+{name}")
            self.assertEqual(load_problem(problem.name), problem)
        self.assertEqual(problem.cost, ExecutedCost(1, 1e-7, 4))

    def test_another_spelling_is_the_same_cost(self):
        problem = load_problem("regalloc_eviction+executed_cost.1.0,01,4e0")
        self.assertEqual(problem.name, "regalloc_eviction+executed_cost.1,1,4")

    def test_refused_weights(self):
        for weights in ("", "1,1", "1,1,4,1", "1,-1,4", "1,inf,4", "nan,1,4", "0,0,0", "one,1,4"):
            with self.subTest(weights):
                wrong = "is not three numbers that are finite and at least 0, as in 1,1,4"
                with self.assertRaisesRegex(ValueError, wrong):
                    load_problem(f"regalloc_eviction+executed_cost.{weights}")
        with self.assertRaisesRegex(ValueError, "must be finite and at least 0"):
            ExecutedCost(instruction=-1.0)

    def test_a_score_of_the_code_has_no_such_cost(self):
        with self.assertRaisesRegex(ValueError, r"inlining_for_size: its score .*; leave out \+executed_cost"):
            load_problem("inlining_for_size+executed_cost")
