"""Made-up calls with known margins, for learners that learn from moves."""

from collections.abc import Callable

import numpy as np

from mlgo.learning.learner import MeasuredMove, Sample
from mlgo.learning.normalization import build_normalizer
from mlgo.learning.observations import pack
from mlgo.problems.problem import CodeSize, Problem, TensorSpec

PROBLEM = Problem(
    name="calls",
    observation_specs=(TensorSpec("cost", "int64", (1,)), TensorSpec("uses", "int64", (1,))),
    action_spec=TensorSpec("decision", "int64", (1,)),
    action_count=2,
    mask_feature=None,
    score=CodeSize(),
    advisor_flag="a",
    log_flag="b",
    model_flag="c",
    decision_kind="binary",
    decisions_flag="d",
)
COSTS, USES = np.arange(0.0, 101.0, 10.0), np.array([1.0, 2.0, 3.0])
NORMALIZER = build_normalizer({"cost": COSTS, "uses": USES}, PROBLEM)
#: By default calls of cost below about 50 are inlined. Cost has four pieces.
START = {"start": {"cost": -2.5}, "start_bias": 5.0}


def sample(
    random: np.random.Generator,
    module: str,
    per_move: int,
    margins: Callable[[np.ndarray, np.ndarray], np.ndarray],
    highest_cost: int = 100,
) -> Sample:
    """Sixty decisions, which are turned `per_move` at a time; the bytes that this saves are those of
    `margins`(cost, uses).
    """
    cost, uses = random.integers(0, highest_cost + 1, 60), random.integers(1, 4, 60)
    actions = random.integers(0, 2, 60)
    observations = pack({"cost": cost[:, None], "uses": uses[:, None]}, actions, NORMALIZER, PROBLEM, np.arange(60))
    worth = np.where(actions > 0, -1.0, 1.0) * margins(cost, uses)
    moves = [
        MeasuredMove(which, float(worth[which].sum()))
        for which in np.split(random.permutation(60), range(per_move, 60, per_move))
    ]
    return Sample(module, 0, 0.01, 1.0, observations, tuple(map(str, range(60))), moves=tuple(moves))


def iterations(count: int, per_move: int, margins: Callable, **given) -> list[list[Sample]]:
    """`count` iterations of ten modules each; see `sample`."""
    random = np.random.default_rng(1)
    return [
        [sample(random, f"p/{number}/{index}", per_move, margins, **given) for index in range(10)]
        for number in range(count)
    ]
