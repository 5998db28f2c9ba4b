"""Checks of a policy before anything is built from it.

Each `..._fault` is a pure function that returns a clause for an error message, or None when nothing is wrong; it names
the tensor or feature. `load_policy` puts the file and the remedy around it.
"""

from collections.abc import Mapping

import numpy as np

from mlgo.learning.normalization import Normalizer
from mlgo.problems.ir2vec import split_element
from mlgo.problems.problem import Problem

#: What to do about a feature that the compiler lacks.
FEATURE_REMEDY = "Train the policy for this compiler, or build the compiler that it was trained for"
_OUTPUT_KERNEL = "policy/logits/kernel"


def known_features(normalizer: Normalizer, problem: Problem) -> tuple[str, ...]:
    """The features of a policy in the problem's order: the mask, the features it uses and those it ignores.

    A compiler may have more features than its policy knows: it was made before they came, or without them.
    """
    known = {*normalizer.tensors, *(split_element(name)[0] for name in normalizer.dropped), problem.mask_feature}
    return tuple(spec.name for spec in problem.observation_specs if spec.name in known)


def normalizer_fault(normalizer: Normalizer, problem: Problem) -> str | None:
    """The reason why `normalizer` cannot read observations of `problem`; None: it can."""
    if normalizer.problem_name != problem.policy_name:
        return f"its normaliser is for {normalizer.problem_name!r}, not for {problem.policy_name!r}"
    if clause := features_fault((*normalizer.features, *normalizer.dropped), problem):
        return clause
    if not normalizer.columns:
        return "its normaliser looks at no feature"
    if normalizer.mark_last_position and problem.mask_feature is None:
        return f"its normaliser marks the last of several positions, and {problem.name} has only one"
    return None


def features_fault(names: tuple[str, ...], problem: Problem) -> str | None:
    """The first of `names` that is not a feature of `problem`. An embedding is one, and so is each of its numbers."""
    has = [spec.name for spec in problem.observation_specs]
    known = {*has, *(name for spec in problem.observation_specs for name in problem.elements(spec))}
    for name in names:
        if name not in known:
            return f"it wants the feature {name!r}, which the compiler lacks (it has {', '.join(has)})"
    return None


def weights_fault(weights: Mapping[str, np.ndarray], width: int) -> str | None:
    """The reason why `weights` are not the policy part of a network over rows of `width` columns; None: they are.

    Expected: policy/0/kernel [width, units], policy/0/bias [units], ..., policy/logits/kernel [units, 1]; float32.
    """
    layers = 0
    while f"policy/{layers}/kernel" in weights:
        layers += 1
    expected = [name for index in range(max(layers, 1)) for name in (f"policy/{index}/kernel", f"policy/{index}/bias")]
    expected.append(_OUTPUT_KERNEL)
    for name in expected:
        if name not in weights:
            return f"the tensor {name!r} is missing"
    for name in weights:
        if name.startswith("policy/") and name not in expected:
            return f"the tensor {name!r} belongs to no layer; layers are numbered 0, 1, ... without gap"
    inputs = width
    for name in expected:
        array = np.asarray(weights[name])
        if array.dtype != np.float32:
            return f"the tensor {name!r} is {array.dtype} instead of float32"
        is_kernel = name.endswith("/kernel")
        # A kernel's second size is its own to choose, except the last one's.
        units = array.shape[-1] if is_kernel and name != _OUTPUT_KERNEL and array.ndim else 1 if is_kernel else inputs
        wanted = (inputs, units) if is_kernel else (units,)
        if array.shape != wanted or not units:
            layer = "the normaliser" if name == expected[0] else "the layer before it"
            return (
                f"the tensor {name!r} has the shape {list(array.shape)} instead of {list(wanted)}, as {layer} requires"
            )
        if not np.isfinite(array).all():
            return f"the tensor {name!r} holds {int((~np.isfinite(array)).sum())} values that are NaN or infinite"
        inputs = units
    return None
