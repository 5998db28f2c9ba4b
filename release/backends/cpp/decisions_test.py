"""Compiled C++ policies decide as the NumPy reference: all kinds of decisions, odd sizes, extreme observations."""

import ctypes
import unittest

import numpy as np

from mlgo.learning.exact_network import exact_network
from mlgo.policy.reference import decide_many
from mlgo.problems.problem import Problem
from mlgo.run.locate import runfile
from release.backends.cpp.testing.made_up import CASES, observations
from release.backends.cpp.testing.write_unit import SEED
from release.backends.cpp.whole_numbers import whole_layers

#: tests/compilers feeds more, to all backends; here it is the shapes of networks that differ.
_OBSERVATIONS = 4_000


def compiled_decisions(case_name: str, problem: Problem, features: dict[str, np.ndarray]) -> tuple[np.ndarray, int]:
    """(decisions [N], number of features that the policy looks at) of the library lib<case_name>.so."""
    library = ctypes.CDLL(str(runfile(f"release/backends/cpp/lib{case_name}.so")))
    names = list(features)
    arrays = [np.ascontiguousarray(features[name]) for name in names]
    count = len(arrays[0])
    decisions = np.zeros(count, problem.action_spec.dtype)
    known = library.decide_many(
        ctypes.c_size_t(count),
        len(names),
        (ctypes.c_char_p * len(names))(*(f"feed_{name}".encode() for name in names)),
        (ctypes.c_void_p * len(names))(*(array.ctypes.data for array in arrays)),
        (ctypes.c_size_t * len(names))(*(problem.observation_spec(name).byte_count for name in names)),
        f"fetch_{problem.action_spec.name}".encode(),
        ctypes.c_void_p(decisions.ctypes.data),
        ctypes.c_size_t(decisions.itemsize),
    )
    return decisions, known


class DecisionsTest(unittest.TestCase):
    def test_equal_to_the_reference(self):
        for name, case in CASES.items():
            with self.subTest(name):
                network = case.network(SEED)
                features = observations(case.problem, network.normalizer, _OBSERVATIONS, seed=2)
                expected = decide_many(network, case.problem, features).reshape(-1)
                found, known = compiled_decisions(name, case.problem, features)
                # Bytes, so that -0 is not 0.
                self.assertEqual(found.tobytes(), expected.tobytes(), f"{(found != expected).sum()} decisions differ")
                self.assertEqual(known, len(network.normalizer.tensors) + (case.problem.mask_feature is not None))
                self.assertGreater(len(np.unique(found)), 1, "all decisions are the same: nothing is tested")

    def test_weights_at_and_beyond_16_bits(self):
        def layers(name):
            return whole_layers(exact_network(CASES[name].network(SEED).weights))[:-1]

        self.assertEqual([layer.weight_bits for layer in layers("eviction")], [16, 16])
        self.assertEqual(
            (layers("eviction_edge")[0].largest_weight, layers("eviction_edge")[0].weight_bits), (2**15 - 1, 16)
        )
        self.assertEqual([layer.weight_bits for layer in layers("eviction_wide")], [32, 32])
        self.assertEqual([layer.weight_bits for layer in layers("priority_wide")], [32])

    def test_numbers_reach_both_ends(self):
        case = CASES["priority_wide"]
        features = observations(case.problem, case.network(SEED).normalizer, 1000, seed=3)
        priorities, _ = compiled_decisions("priority_wide", case.problem, features)
        most, unit = case.problem.max_output, case.problem.output_unit
        assert most is not None and unit is not None
        top = most * unit
        for what, found in (
            ("0", priorities == 0),
            ("between", (priorities > 0) & (priorities < top)),
            ("top", priorities == top),
        ):
            self.assertTrue(found.any(), f"no number is {what}")

    def test_a_tensor_it_does_not_look_at(self):
        case = CASES["inlining_few_features"]
        features = observations(case.problem, case.network(SEED).normalizer, 10, seed=4)
        _, known = compiled_decisions("inlining_few_features", case.problem, features)
        self.assertEqual(known, 3)


if __name__ == "__main__":
    unittest.main()
