"""The contract that every registered problem keeps, and what `Problem` refuses."""

import dataclasses
import math
import unittest
from typing import Any

from mlgo.problems.problem import load_problem
from mlgo.problems.tensor import TensorSpec

REGISTERED = ("inlining_for_size", "regalloc_eviction", "regalloc_priority")


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
                channel = problem.interactive_flags("some.channel")
                self.assertEqual(channel[0::2], ["-mllvm"] * (len(channel) // 2))
                self.assertTrue(channel[-1].endswith("=some.channel"))
                known = [spec for spec in problem.observation_specs if spec.name not in problem.features_of_ours]
                self.assertEqual(list(problem.interactive_specs()), known)
                assert problem.action_bounds is not None
                low, high = problem.action_bounds
                self.assertLess(low, high)
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


class InliningTest(unittest.TestCase):
    problem = load_problem("inlining_for_size")

    def test_the_log_ends_with_the_defaults_decision_and_the_decision(self):
        self.assertEqual(len(self.problem.interactive_specs()), 38)
        self.assertEqual(len(self.problem.observation_specs), 42)
        extra = TensorSpec("logit", "float32", (1,))
        names = [spec.name for spec in self.problem.logged_specs([extra])]
        self.assertEqual(names[42:], ["logit", "inlining_default", "inlining_decision"])
        self.assertEqual(self.problem.observation_bytes, 44 * 8)

    def test_a_stock_compiler_has_the_features_of_llvm_and_no_option_of_ours(self):
        stock = load_problem("inlining_for_size+stock")
        self.assertEqual(stock.name, "inlining_for_size+stock")
        self.assertEqual(stock.observation_specs, self.problem.interactive_specs())
        self.assertEqual(stock.interactive_specs(), stock.observation_specs)
        self.assertNotIn("-training-log-callsites", stock.development_flags("some.log", None))
        self.assertIn("-training-log-callsites", self.problem.development_flags("some.log", None))
        with self.assertRaisesRegex(ValueError, r"has LLVM's own features only; leave out \+stock"):
            load_problem("regalloc_eviction+stock")

    def test_folding_changes_the_score_alone(self):
        folded = load_problem("inlining_for_size+folded")
        self.assertEqual(folded.name, "inlining_for_size+folded")
        self.assertEqual(folded.policy_name, "inlining_for_size")
        self.assertEqual(dataclasses.replace(folded, score=self.problem.score), self.problem)
        with self.assertRaisesRegex(ValueError, r"its score is not the size of code; leave out \+folded"):
            load_problem("regalloc_eviction+folded")

    def test_the_channel_carries_the_defaults_decision_on_request(self):
        self.assertEqual(self.problem.interactive_flags("base", True)[-1], "-inliner-interactive-include-default")
        self.assertEqual(self.problem.interactive_specs(True)[-1].name, "inlining_default")
        with self.assertRaisesRegex(ValueError, "regalloc_priority: LLVM does not send the default's decision"):
            load_problem("regalloc_priority").interactive_flags("base", True)
        with self.assertRaisesRegex(ValueError, "has no interactive channel"):
            silent = dataclasses.replace(self.problem, interactive_flag=None, interactive_default_flag=None)
            silent.interactive_flags("base")


_WRONG_BOUNDS = (None, (0, math.inf), (3, 3))


class RefusalTest(unittest.TestCase):
    def test_tensor(self):
        with self.assertRaisesRegex(ValueError, "dtype 'float16' cannot be logged; use one of float32, float64, int8"):
            TensorSpec("x", "float16", (1,))
        with self.assertRaisesRegex(ValueError, "must hold positive integers"):
            TensorSpec("x", "float32", (0,))

    def test_problem(self):
        wide = (TensorSpec("wide", "int64", (1, 7)),)
        two = TensorSpec("index_to_evict", "int64", (2,))
        no_mask = "binary has no mask_feature; give None instead of 'mask'"
        eviction = load_problem("regalloc_eviction")
        cases: tuple[tuple[str, dict[str, Any], str], ...] = (
            ("regalloc_eviction", {"folder": "Eviction!"}, "must be a folder name"),
            ("regalloc_eviction", {"observation_specs": eviction.observation_specs * 2}, "two tensors have the same"),
            ("regalloc_eviction", {"action_count": 5}, "mask mask has 33 elements for 5 decisions"),
            ("regalloc_eviction", {"decision_kind": "maybe"}, "'maybe' is none of categorical, binary, continuous"),
            ("regalloc_eviction", {"mask_feature": None}, "categorical needs mask_feature"),
            ("regalloc_eviction", {"decision_kind": "binary"}, no_mask),
            ("regalloc_eviction", {"action_spec": two}, "must be one value"),
            ("inlining_for_size", {"action_count": 3}, "binary needs action_count=2"),
            ("inlining_for_size", {"observation_specs": wide}, r"decided from single values; \['wide'\] have several"),
            ("inlining_for_size", {"default_decision_spec": None}, "interactive_default_flag needs"),
            ("regalloc_priority", {"action_count": 2}, "needs action_count=None and a float32 decision"),
            *(("regalloc_priority", {"action_bounds": b}, "needs finite action_bounds") for b in _WRONG_BOUNDS),
            *(("regalloc_priority", {"output_unit": unit}, "a power of two") for unit in (None, 3.0, -1.0)),
            ("regalloc_priority", {"max_output": 8192.0}, "must be in"),
        )
        for name, change, message in cases:
            with self.subTest(name, **change), self.assertRaisesRegex(ValueError, message):
                dataclasses.replace(load_problem(name), **change)
        with self.assertRaisesRegex(KeyError, "has no observation 'colour'"):
            eviction.observation_spec("colour")
