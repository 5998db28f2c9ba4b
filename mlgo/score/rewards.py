"""What a decision is rewarded with: the improvement of its function's score over the default heuristic's."""

import numpy as np

#: Added to both scores, in units of the score, so that a function with score 0 has a reward.
#: Source: ml-compiler-opt, compiler_opt/rl/constant.py, DELTA.
DELTA = 0.01


def relative_improvement(policy_score: np.ndarray, default_score: np.ndarray, delta: float = DELTA) -> np.ndarray:
    """1 - (policy + delta) / (default + delta): 0.02 means two percent better than the default, negative is worse.

    Source: ml-compiler-opt, compiler_opt/rl/compilation_runner.py, _calculate_reward. There the baseline is a moving
    average of past policies (moving_average_decay_rate=0.8); here it is the default's score and stays fixed, so that
    rewards of different iterations can be compared; what a policy gained already is the value network's business.

    Args: scores >= 0 of the same functions, smaller is better (for eviction the RegAllocScore of the function).
    Returns: float32, same shape, in (-inf, 1).
    Raises: ValueError: a score is negative or not finite.
    """
    policy = np.asarray(policy_score, np.float64)
    default = np.asarray(default_score, np.float64)
    for name, score in (("policy", policy), ("default", default)):
        if not (np.isfinite(score).all() and (score >= 0).all()):
            raise ValueError(f"{name} scores must be finite and not negative, got {score[~(score >= 0)][:3]}")
    return (1.0 - (policy + delta) / (default + delta)).astype(np.float32)


def decision_returns(function_rewards: np.ndarray, observation_function: np.ndarray) -> np.ndarray:
    """float32 [N]: every decision of a function gets that function's reward (undiscounted, given at its end).

    Args: function_rewards float32 [C]; observation_function int [N], index into it.
    """
    return np.asarray(function_rewards, np.float32)[np.asarray(observation_function)]
