"""Settings of behavioural cloning, apart from its code so that reading flags needs no TensorFlow."""

import dataclasses

import gin

from mlgo.learning.algorithm import check_fields


@gin.configurable
@dataclasses.dataclass(frozen=True)
class BcConfig:
    """Behavioural cloning's settings. "mlco": ml-compiler-opt, regalloc/gin_configs/behavioral_cloning_nn_agent.gin.

    Attributes:
      epochs: passes over the training decisions. Ours; mlco counts steps (its default takes days on a large corpus).
      minibatch: decisions per gradient step. Ours: 4 x mlco's 64 and the same learning rate, since 64 leaves the
        processor idle half of the time.
      learning_rate, adam_epsilon: mlco.
      final_learning_rate: the rate falls linearly to this at the end. Ours.
      l2: as PpoConfig.l2.
      validation_share: share of functions held back, chosen by a hash of the seed and their number. Ours.
      label_smoothing: share of each label that is spread evenly over all legal decisions (Szegedy et al.,
        arXiv:1512.00567, section 7). Ours: 0. With s, a clone that repeats a rule exactly explores s / 2 of its binary
        decisions, because its logits are at most log(2 / s - 1). With 0 it explores almost none, and PPO has nothing to
        compare.
    """

    epochs: int = 10
    minibatch: int = 256
    learning_rate: float = 1e-3
    final_learning_rate: float = 1e-4
    adam_epsilon: float = 3.125e-4
    l2: float = 1e-5
    validation_share: float = 0.1
    label_smoothing: float = 0.0

    def __post_init__(self):
        check_fields(self, ("epochs", "minibatch"), below_one=("label_smoothing", "validation_share"))
