"""A linear policy and trees in the form of every other network, so that the same code evaluates them.

The first layer has the units of `linear_network`, and one for each split, which is RELU_TOP where the level reaches the
threshold and 0 elsewhere. The second layer passes the former on, and has one unit for each leaf, which is RELU_TOP if
all splits on its way have the right answer and 0 otherwise. Levels are whole numbers, so no value lies between.
"""

import numpy as np

from mlgo.learning.boosted_trees import Trees
from mlgo.learning.linear_network import linear_network
from mlgo.learning.network import PolicyNetwork
from mlgo.learning.normalization import LEVEL_SCALE, RELU_TOP


def tree_network(like: PolicyNetwork, effect: np.ndarray, trees: Trees) -> PolicyNetwork:
    """The policy z = effect . (levels, 1), cut off as by `linear_network`, plus the trees.

    Normaliser and value part are those of `like`.

    Args: effect: float [D + 1], of levels times LEVEL_SCALE.
    """
    linear = linear_network(like, effect).weights
    passed = len(linear["policy/0/bias"])
    count, depth = trees.columns.shape
    splits, leaves = count * depth, 2**depth
    steps = np.zeros((len(linear["policy/0/kernel"]), splits))
    steps[trees.columns.ravel(), np.arange(splits)] = RELU_TOP / LEVEL_SCALE
    kernel = np.zeros((passed + splits, passed + count * leaves))
    kernel[:passed, :passed] = np.eye(passed)
    bias = np.zeros(passed + count * leaves)
    for leaf in range(leaves):
        answers = [leaf >> (depth - 1 - level) & 1 for level in range(depth)]
        units = passed + np.arange(count) * leaves + leaf
        bias[units] = -RELU_TOP * (sum(answers) - 1)
        for level, answer in enumerate(answers):
            kernel[passed + np.arange(count) * depth + level, units] = 1 if answer else -1
    policy = {
        "policy/0/kernel": np.hstack([linear["policy/0/kernel"], steps]),
        "policy/0/bias": np.append(linear["policy/0/bias"], -RELU_TOP * (trees.thresholds.ravel() - 1)),
        "policy/1/kernel": kernel,
        "policy/1/bias": bias,
        "policy/logits/kernel": np.append(linear["policy/logits/kernel"], trees.values.ravel() / RELU_TOP)[:, None],
    }
    value = {name: array for name, array in like.weights.items() if name.startswith("value/")}
    return like.with_weights({**{name: array.astype(np.float32) for name, array in policy.items()}, **value})
