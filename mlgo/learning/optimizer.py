"""Adam with its whole state in plain arrays, so that a checkpoint holds all of it.

The update is TensorFlow's own kernel (ResourceApplyAdam), the one behind tf.train.AdamOptimizer, which ml-compiler-opt uses.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import tensorflow as tf

# tf.train.AdamOptimizer's defaults, which ml-compiler-opt keeps.
BETA1, BETA2 = 0.9, 0.999


class Adam:
    """Adam over named variables.

    Attributes:
      variables: name -> tf.Variable, the weights being trained.
      step: updates made so far.
    """

    def __init__(
        self, weights: Mapping[str, np.ndarray], epsilon: float, state: Mapping[str, np.ndarray] | None = None
    ):
        """`state` is what `state()` returned; None starts afresh.

        Raises: ValueError: `state` is of other weights.
        """
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

    def apply(self, names: Sequence[str], gradients: Sequence, learning_rate, beta1_power, beta2_power) -> None:
        """One update of the named variables; to be called inside a tf.function, with powers and learning rate as numbers or tensors."""
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

    def weights(self) -> dict[str, np.ndarray]:
        return {name: variable.numpy() for name, variable in self.variables.items()}

    def state(self) -> dict[str, np.ndarray]:
        """Everything but the weights."""
        arrays: dict[str, np.ndarray] = {"step": np.array(self.step, np.int64)}
        for name in self.variables:
            arrays[f"m/{name}"] = self._first[name].numpy()
            arrays[f"v/{name}"] = self._second[name].numpy()
        return arrays
