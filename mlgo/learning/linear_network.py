"""Linear policies in the form of every other network, so that the same code evaluates them."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mlgo.learning.exact_network import exact_network
from mlgo.learning.network import PolicyNetwork
from mlgo.learning.normalization import LEVEL_SCALE, RELU_TOP, TOP_LEVEL, Normalizer
from mlgo.learning.observations import Observations
from mlgo.run.exit_codes import RunError

#: Hidden units that a linear policy is spread over; together they resolve its z to 1 / 3,072 of its range.
_UNITS = 8
#: Linear policies answer with z in [-TOP_LOGIT, TOP_LOGIT]: at 8 one decision in 3,000 is explored.
TOP_LOGIT = 8.0
_STEP = 2 * TOP_LOGIT / (RELU_TOP * _UNITS)
#: What a whole piece of a feature adds to z is this times its effect on (levels * LEVEL_SCALE).
WHOLE_PIECE = TOP_LEVEL * LEVEL_SCALE
#: Logits of a network count as at most this when a linear policy is fitted to it.
_FITTED_TOP = 3.0


def linear_network(template: PolicyNetwork, effect: np.ndarray) -> PolicyNetwork:
    """The policy z = effect . (levels, 1), cut off at TOP_LOGIT, as a network; normaliser and value part are those of
    `template`.

    z is spread over hidden units of which each takes over where the one before is full; one more is always 1.

    Args: effect: float [D + 1], of levels times LEVEL_SCALE.
    """
    kernel = np.zeros((len(effect) - 1, _UNITS + 1))
    kernel[:, :_UNITS] = (effect[:-1] / _STEP)[:, None]
    bias = np.append((effect[-1] + TOP_LOGIT) / _STEP - RELU_TOP * np.arange(_UNITS), 1.0)
    logits = np.append(np.full(_UNITS, _STEP), -TOP_LOGIT)[:, None]
    value = {name: array for name, array in template.weights.items() if name.startswith("value/")}
    policy = {"policy/0/kernel": kernel, "policy/0/bias": bias, "policy/logits/kernel": logits}
    return template.with_weights({**{name: array.astype(np.float32) for name, array in policy.items()}, **value})


def linear_effect(network: PolicyNetwork) -> np.ndarray | None:
    """float64 [D + 1]: the effect of which `linear_network` made `network`, in float32; None: it did not."""
    kernel = np.asarray(network.weights["policy/0/kernel"], np.float64)
    bias = np.asarray(network.weights["policy/0/bias"], np.float64)
    effect = np.append(kernel[:, 0] * _STEP, bias[0] * _STEP - TOP_LOGIT)
    again, weights = (
        {name: array for name, array in each.weights.items() if name.startswith("policy/")}
        for each in (linear_network(network, effect), network)
    )
    if {name: array.shape for name, array in again.items()} != {n: np.shape(w) for n, w in weights.items()}:
        return None
    return effect if all(np.allclose(array, weights[name], atol=1e-4) for name, array in again.items()) else None


def linear_rows(observations: Observations) -> np.ndarray:
    """float64 [M, D + 1]: what a linear policy's effect is multiplied with."""
    return np.column_stack([observations.levels * LEVEL_SCALE, np.ones(observations.row_count)])


def linear_fit(network: PolicyNetwork, seen: Sequence[Observations]) -> np.ndarray:
    """float64 [D + 1]: the linear policy nearest to `network` on the rows `seen`, in least squares."""
    exact = exact_network(network.weights)
    width = network.normalizer.width + 1
    information, moment = np.zeros((width, width)), np.zeros(width)
    for each in seen:
        z = np.clip(exact.row_logits(each.levels).astype(np.float64), -_FITTED_TOP, _FITTED_TOP)
        rows = linear_rows(each)
        if each.kind == "categorical":
            # A term that all candidates of an observation share changes no decision.
            starts, counts = each.offsets[:-1], np.diff(each.offsets)
            z = z - np.repeat(np.add.reduceat(z, starts) / counts, counts)
            rows = rows - np.repeat(np.add.reduceat(rows, starts, axis=0) / counts[:, None], counts, axis=0)
        information, moment = information + rows.T @ rows, moment + rows.T @ z
    ridge = 1e-6 * np.trace(information) / len(information)
    return np.linalg.solve(information + ridge * np.eye(len(information)), moment)


def fit_weights(network: PolicyNetwork, seen: Sequence[Observations]) -> np.ndarray:
    """float64 [D + 1]: the effect of `network`, or of the linear policy nearest to it on the rows `seen`."""
    exact = linear_effect(network)
    # A fit knows nothing of decisions that were not seen.
    return linear_fit(network, seen) if exact is None else exact


def configured_weights(normalizer: Normalizer, config: Any) -> np.ndarray:
    """float64 [D + 1]: the effect of the linear policy that a learner's `config` states.

    Args: config: with `start`, feature -> what each of its pieces adds to z, others add 0; and `start_bias`, z where
      all features have their smallest values.
    Raises: RunError: a feature is not among those that the policy looks at.
    """
    if unknown := sorted(set(config.start) - set(normalizer.features)):
        wrong = f"names {', '.join(unknown)}, and the policy looks at {', '.join(normalizer.features)}"
        remedy = "Correct the name, or leave out a feature that is constant"
        raise RunError(f"{type(config).__name__}.start", wrong, remedy)
    effect = np.zeros(normalizer.width + 1)
    effect[: len(normalizer.columns)] = [config.start.get(c.feature, 0.0) / WHOLE_PIECE for c in normalizer.columns]
    effect[-1] = config.start_bias
    return effect


def bias_below_threshold(
    normalizer: Normalizer, preferred: Mapping[str, tuple[float, float]], setting: str
) -> np.ndarray:
    """float64 [D + 1]: the effect of preferring 1 where features are small, whatever else is known.

    Args:
      preferred: feature -> (limit, preference): from the largest knot below `limit` downwards, z is larger by
        `preference`; from there to `limit` the preference falls to 0. `limit` is a knot of the feature.
      setting: where `preferred` stands, for messages.

    Raises: RunError: no piece of the feature ends at the limit.
    """
    effect = np.zeros(normalizer.width + 1)
    for feature, (limit, preference) in preferred.items():
        ends = {column.end: index for index, column in enumerate(normalizer.columns) if column.feature == feature}
        if limit not in ends:
            known = ", ".join(f"{end:g}" for end in ends)
            raise RunError(
                setting,
                f"has the limit {limit:g} for {feature}, where no piece of it ends"
                + (f" (they end at {known})" if ends else ": the policy does not look at it"),
                "Take a knot of the feature, see NetworkConfig.knots",
            )
        effect[ends[limit]] -= preference / WHOLE_PIECE
        effect[-1] += preference
    return effect
