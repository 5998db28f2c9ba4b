"""The contract of every learner (learner.py), as one check for the tests of learners."""

import unittest
from collections.abc import Callable, Sequence

from mlgo.learning.checkpoint import decode_arrays, digest_of, encode_arrays
from mlgo.learning.learner import Learner
from mlgo.learning.testing import synthetic_environments as synthetic


def check_repeatable(
    test: unittest.TestCase,
    make: Callable[..., Learner],
    environment: synthetic.Environment,
    iterations: int,
    later_modules: Sequence[int] = range(50, 52),
) -> Learner:
    """Equal seeds give equal bytes, other seeds do not, and a resumed learner equals one that was not stopped.

    Args:
      make: a fresh learner of `seed=`, or with `network=` and `state=` one that resumes.
      iterations: of two modules each, before the state is taken.
      later_modules: modules that are learned from afterwards.

    Returns: the learner that was not stopped.
    """
    one, again, other = (make(seed=seed) for seed in (1, 1, 2))
    for learner in (one, again, other):
        synthetic.train(environment, learner, iterations, 2)
    test.assertEqual(digest_of(one.network.weights), digest_of(again.network.weights))
    test.assertNotEqual(digest_of(one.network.weights), digest_of(other.network.weights))
    # As a checkpoint holds it, which refuses everything but numbers.
    state = decode_arrays(encode_arrays(one.state()), "state")
    resumed = make(network=one.network, state=state)
    for learner in (one, resumed):
        variants = learner.variants(iterations)
        learner.update(
            iterations, synthetic.samples_of(environment, later_modules, variants, 0, decisions=learner.needs_decisions)
        )
    test.assertEqual(digest_of(one.network.weights), digest_of(resumed.network.weights))
    test.assertEqual(digest_of(one.state()), digest_of(resumed.state()))
    return one
