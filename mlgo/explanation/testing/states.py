"""Made-up states, and policies whose reasons are known."""

from collections.abc import Mapping, Sequence

import numpy as np

from mlgo.explanation.queried_policy import queried_policy
from mlgo.explanation.recorded import RecordedDecisions
from mlgo.explanation.replay import Replay, replay
from mlgo.learning.linear_network import WHOLE_PIECE, linear_network
from mlgo.learning.network import AnyPolicy, NetworkConfig, PolicyNetwork, initial_network
from mlgo.learning.normalization import chosen_normalizer
from mlgo.problems.inlining_for_size.problem import PROBLEM as INLINING
from mlgo.problems.problem import Problem
from mlgo.problems.regalloc_eviction.problem import CANDIDATE_POSITION, POSITIONS
from mlgo.problems.regalloc_eviction.problem import PROBLEM as EVICTION
from mlgo.problems.regalloc_priority.problem import PROBLEM as PRIORITY


def replayed(policy: AnyPolicy, problem: Problem, recorded: RecordedDecisions) -> Replay:
    return replay(queried_policy(policy, problem), recorded)


def linear(problem: Problem, adds: Mapping[str, tuple[float, float, float]], start: float) -> PolicyNetwork:
    """The policy z = `start` + for each feature (low, high, adds): what it adds from low to high, evenly."""
    normalizer = chosen_normalizer({feature: (low, high) for feature, (low, high, _) in adds.items()}, problem)
    effect = [adds[column.feature][2] / WHOLE_PIECE for column in normalizer.columns]
    like = initial_network(normalizer, 1, NetworkConfig((4,), (4,)))
    return linear_network(like, np.array([*effect, *([0.0] if normalizer.mark_last_position else []), start]))


def inlining(module: str, count: int, seed: int, threshold: int = 5) -> RecordedDecisions:
    """Call sites f<i> with costs around `threshold`, below which the heuristic inlines; other features are small.

    Args: threshold: odd.
    """
    random = np.random.default_rng(seed)
    features = {spec.name: random.integers(0, 2, (count, 1)) for spec in INLINING.observation_specs}
    # Even, so that no cost is the threshold.
    features["cost_estimate"] = 2 * random.integers(-20, 25, (count, 1))
    decisions = (features["cost_estimate"][:, 0] < threshold).astype(np.int64)
    contexts = tuple(f"f{n // 3}\ng{n % 3}" for n in range(count))
    return RecordedDecisions(module, contexts, np.arange(count, dtype=np.int32), features, decisions, decisions)


def stock_inliner(threshold: int = 5) -> PolicyNetwork:
    """Decides as the heuristic of `inlining` does: z falls from 8 to -8 within 16 of cost around the threshold."""
    return linear(INLINING, {"cost_estimate": (threshold - 8, threshold + 8, -16.0), "callee_users": (0, 1, 0.0)}, 8.0)


def eviction(module: str, count: int, seed: int) -> RecordedDecisions:
    """States with 2 to 6 candidates; the heuristic evicts the smallest live range. Functions have 4 decisions each."""
    random = np.random.default_rng(seed)
    features = {}
    for spec in EVICTION.observation_specs:
        features[spec.name] = random.random((count, *spec.shape)).astype(spec.dtype)
    mask = np.zeros((count, 1, POSITIONS), np.int64)
    for n in range(count):
        mask[n, 0, random.permutation(POSITIONS - 1)[: random.integers(1, 6)]] = 1
        mask[n, 0, CANDIDATE_POSITION] = 1
    features["mask"] = mask
    # Whole levels apart, so that every network sees which is smaller.
    sizes = np.stack([random.permutation(POSITIONS) for _ in range(count)]).reshape(count, 1, POSITIONS)
    features["liverange_size"] = (sizes / POSITIONS).astype(np.float32)
    decisions = np.where(mask > 0, features["liverange_size"], 2.0).reshape(count, -1).argmin(axis=1)
    contexts = tuple(f"f{n}" for n in range((count + 3) // 4))
    context = (np.arange(count) // 4).astype(np.int32)
    return RecordedDecisions(module, contexts, context, features, decisions, decisions)


def smallest_evictor() -> PolicyNetwork:
    """Decides as the heuristic of `eviction` does."""
    unused = dict.fromkeys(("nr_urgent", "progress"), (0.0, 1.0, 0.0))
    return linear(EVICTION, {"liverange_size": (0.0, 1.0, -8.0), **unused}, 4.0)


def largest_evictor() -> PolicyNetwork:
    return linear(EVICTION, {"liverange_size": (0.0, 1.0, 8.0)}, -4.0)


def prioritizer() -> PolicyNetwork:
    """Its z grows with the size up to 100 and is level from there."""
    return linear(PRIORITY, {"li_size": (0, 100, 4.0)}, 0.0)


def priority(module: str, sizes: Sequence[float] = (10, 50, 20, 200, 300, 5)) -> RecordedDecisions:
    """One function; the heuristic's priority is the size."""
    features = {spec.name: np.zeros((len(sizes), 1), spec.dtype) for spec in PRIORITY.observation_specs}
    features["li_size"] = np.asarray(sizes, np.int64).reshape(-1, 1)
    decisions = np.asarray(sizes, np.float32)
    return RecordedDecisions(module, ("f",), np.zeros(len(sizes), np.int32), features, decisions, decisions)
