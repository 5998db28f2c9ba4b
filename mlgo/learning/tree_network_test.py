"""A network of trees answers what the trees do."""

import unittest

import numpy as np

from mlgo.learning.boosted_trees import Trees
from mlgo.learning.exact_network import exact_network
from mlgo.learning.linear_network import linear_network
from mlgo.learning.network import NetworkConfig, initial_network
from mlgo.learning.normalization import LEVEL_SCALE
from mlgo.learning.testing import synthetic
from mlgo.learning.tree_network import tree_network


class TreeNetworkTest(unittest.TestCase):
    def setUp(self):
        self.random = np.random.default_rng(1)
        self.like = initial_network(synthetic.normalizer(), 1, NetworkConfig((8,), (4,)))
        self.width = self.like.normalizer.width
        self.levels = self.random.integers(0, 193, (500, self.width)).astype(np.uint8)

    def trees(self, count: int, depth: int) -> Trees:
        shape = (count, depth)
        columns = self.random.integers(0, self.width, shape)
        return Trees(columns, self.random.integers(1, 193, shape), self.random.normal(size=(count, 2**depth)))

    def test_it_answers_the_sum_of_the_linear_policy_and_the_trees(self):
        effect = 0.2 * self.random.normal(size=self.width + 1)
        linear = np.column_stack([self.levels * LEVEL_SCALE, np.ones(len(self.levels))]) @ effect
        for count, depth in ((1, 1), (40, 2), (10, 4)):
            with self.subTest(count=count, depth=depth):
                trees = self.trees(count, depth)
                exact = exact_network(tree_network(self.like, effect, trees).weights)
                wanted = linear + trees.margins(self.levels)
                np.testing.assert_allclose(exact.row_logits(self.levels), wanted, atol=0.06)

    def test_the_trees_alone_are_exact_at_every_threshold(self):
        trees = Trees(np.array([[0]]), np.array([[100]]), np.array([[-1.0, 2.0]]))
        exact = exact_network(tree_network(self.like, np.zeros(self.width + 1), trees).weights)
        levels = np.zeros((3, self.width), np.uint8)
        levels[:, 0] = (99, 100, 192)
        np.testing.assert_allclose(exact.row_logits(levels), [-1.0, 2.0, 2.0], atol=0.01)

    def test_the_value_part_is_kept(self):
        effect = np.zeros(self.width + 1)
        found = tree_network(self.like, effect, self.trees(2, 2)).weights
        for name, array in linear_network(self.like, effect).weights.items():
            if name.startswith("value/"):
                np.testing.assert_array_equal(found[name], array)


if __name__ == "__main__":
    unittest.main()
