"""The gradient step: Adam with its whole state in plain arrays, for checkpoints, and what steps share.

The update is TensorFlow's kernel behind tf.train.AdamOptimizer, which ml-compiler-opt uses (ResourceApplyAdam).
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import tensorflow as tf

from mlgo.learning.observations import DecisionKind

# tf.train.AdamOptimizer's defaults, which ml-compiler-opt keeps.
BETA1, BETA2 = 0.9, 0.999

#: Operations that TensorFlow starts from the processor's estimate of 1 / x or 1 / sqrt(x) (rcpps, rsqrtps; Eigen,
#: Core/arch/AVX/MathFunctions.h). Intel and AMD estimate differently, and the refined float32 keeps a part of that.
APPROXIMATE = frozenset(
    {"Inv", "InvGrad", "Reciprocal", "ReciprocalGrad", "Rsqrt", "RsqrtGrad", "Softmax", "SoftmaxCrossEntropyWithLogits"}
    | {"SparseSoftmaxCrossEntropyWithLogits"}
)


class Adam:
    """Adam over named variables; `step` counts the updates made so far."""

    def __init__(
        self, weights: Mapping[str, np.ndarray], epsilon: float, state: Mapping[str, np.ndarray] | None = None
    ):
        """Continues from `state`, if any, which `state()` returned. Raises: ValueError: it is of other weights."""
        self.variables = {name: tf.Variable(value, name=name) for name, value in weights.items()}
        self._epsilon = epsilon
        state = state or {"step": np.int64(0)}
        expected = {"step"} | {f"{slot}/{name}" for name in weights for slot in "mv"} if len(state) > 1 else {"step"}
        if set(state) != expected:
            raise ValueError(f"optimiser state has {sorted(state)}, expected {sorted(expected)}")
        self.step = int(state["step"])
        self._first = {n: tf.Variable(state.get(f"m/{n}", np.zeros_like(w))) for n, w in weights.items()}
        self._second = {n: tf.Variable(state.get(f"v/{n}", np.zeros_like(w))) for n, w in weights.items()}

    def next_powers(self) -> tuple[np.float32, np.float32]:
        """(beta1^t, beta2^t) of the coming update t; counts it."""
        self.step += 1
        return np.float32(BETA1**self.step), np.float32(BETA2**self.step)

    def minimize(
        self, tape: tf.GradientTape, loss, learning_rate, beta1_power, beta2_power, clipping: float | None = None
    ) -> tf.Tensor:
        """One update of all variables along the gradient of `loss`, inside a tf.function; returns its global norm.
        Args: clipping: largest global norm of the gradients; None: no limit.
        """
        names = sorted(self.variables)
        gradients = tape.gradient(loss, [self.variables[name] for name in names])
        norm = tf.linalg.global_norm(gradients)
        if clipping is not None:
            gradients, _ = tf.clip_by_global_norm(gradients, clipping, use_norm=norm)
        for name, gradient in zip(names, gradients):
            tf.raw_ops.ResourceApplyAdam(
                var=self.variables[name].handle,
                m=self._first[name].handle,
                v=self._second[name].handle,
                beta1_power=beta1_power,
                beta2_power=beta2_power,
                lr=learning_rate,
                beta1=BETA1,
                beta2=BETA2,
                epsilon=self._epsilon,
                grad=gradient,
            )
        return norm

    def weights(self) -> dict[str, np.ndarray]:
        return {name: variable.numpy() for name, variable in self.variables.items()}

    def state(self) -> dict[str, np.ndarray]:
        arrays: dict[str, np.ndarray] = {"step": np.array(self.step, np.int64)}
        for name in self.variables:
            arrays[f"m/{name}"] = self._first[name].numpy()
            arrays[f"v/{name}"] = self._second[name].numpy()
        return arrays


class StepSpecs:
    """Signatures of the tensors that a step on one minibatch takes: N observations, M rows, D levels.

    They are fixed because the number of rows differs from minibatch to minibatch and must not cause a new trace.
    """

    def __init__(self, width: int, kind: DecisionKind):
        #: of `Observations.tensors`.
        self.decisions = [
            tf.TensorSpec([None, width], tf.uint8),
            tf.TensorSpec([None], tf.int32),
            tf.TensorSpec([None], tf.int32 if kind == "categorical" else tf.float32),
        ]
        self.values = tf.TensorSpec([None], tf.float32)
        self.summaries = tf.TensorSpec([None, width], tf.float32)
        self.number = tf.TensorSpec([], tf.float32)


def traced(step: Callable, signature: Sequence[tf.TensorSpec]) -> Callable:
    """`step` as a tf.function. Autograph has nothing to convert and would take half of the first update. Raises:
    ValueError: the step or its gradient uses an operation of APPROXIMATE.
    """
    function = tf.function(step, input_signature=signature, autograph=False)
    operations = function.get_concrete_function().graph.get_operations()
    float32 = [each for each in operations if any(output.dtype == tf.float32 for output in each.outputs)]
    approximate = sorted({each.type for each in float32} & APPROXIMATE)
    if approximate:
        raise ValueError(
            f"{step.__qualname__} uses {', '.join(approximate)} of float32, which differ between processors; "
            "divide instead, or compute in float64"
        )
    return function


def weight_decay(variables: Mapping[str, tf.Variable], l2: float) -> tf.Tensor:
    """l2 * sum(w^2) / 2 over the kernels of the policy."""
    kernels = [v for name, v in variables.items() if name.startswith("policy/") and name.endswith("kernel")]
    return l2 * tf.add_n([tf.nn.l2_loss(kernel) for kernel in kernels])
