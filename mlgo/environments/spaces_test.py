"""Observations and decisions as Gymnasium spaces."""

import dataclasses
import unittest

import gymnasium
import numpy as np

from mlgo.environments import spaces
from mlgo.problems.problem import load_problem
from mlgo.problems.tensor import ITEM_BYTES, TensorSpec

EVICTION, INLINING, PRIORITY = map(load_problem, ("regalloc_eviction", "inlining_for_size", "regalloc_priority"))


class SpacesTest(unittest.TestCase):
    def test_action_spaces(self):
        self.assertEqual(spaces.action_space(EVICTION), gymnasium.spaces.Discrete(33))
        self.assertEqual(spaces.action_space(INLINING), gymnasium.spaces.Discrete(2))
        self.assertEqual(spaces.action_space(PRIORITY), gymnasium.spaces.Box(0.0, 1.0, (1,), np.float32))

    def test_an_observation_lies_in_its_space(self):
        for problem in (EVICTION, INLINING, PRIORITY):
            space, final = spaces.observation_space(problem), spaces.final_observation(problem)
            self.assertTrue(space.contains(final), problem.name)

    def test_a_feature_of_any_type_has_a_box(self):
        for dtype in ITEM_BYTES:
            spec = TensorSpec("x", dtype, (1,))
            space = spaces.observation_space(dataclasses.replace(INLINING, observation_specs=(spec,)))
            is_float = dtype.startswith("float")
            for value in [np.nan, -np.inf, np.inf] if is_float else [np.iinfo(dtype).min, np.iinfo(dtype).max]:
                found = spaces.observation({"x": np.array([value], dtype)})
                self.assertTrue(space.contains(found), f"{dtype} {found}")

    def test_nan_becomes_infinity_and_the_rest_stays(self):
        features = {"weight": np.array([np.nan, -np.inf, 2], np.float32), "stage": np.array([3])}
        found = spaces.observation(features)
        np.testing.assert_array_equal(found["weight"], np.array([np.inf, -np.inf, 2], np.float32))
        found["stage"][0] = 4
        self.assertEqual(features["stage"][0], 3)

    def test_a_continuous_action_is_scaled_without_rounding(self):
        assert PRIORITY.action_bounds is not None
        _, largest = PRIORITY.action_bounds
        self.assertEqual(spaces.number_scale(PRIORITY), 2.0**32)
        for decision in (0.0, 2.0**20, 2047 * 2.0**20, largest):
            self.assertEqual(spaces.decision(PRIORITY, [np.float32(decision / 2.0**32)])[0], decision)
        self.assertEqual(spaces.decision(PRIORITY, [1.0])[0], largest)
        self.assertEqual(spaces.decision(EVICTION, 7), 7)
