"""Settings of behavioural cloning, apart from its code so that reading flags needs no TensorFlow."""

import dataclasses

import gin

from mlgo.learning.algorithm import check_fields


@gin.configurable
@dataclasses.dataclass(frozen=True)
class BcConfig:
    """Behavioural cloning's settings. "mlco": ml-compiler-opt, regalloc/gin_configs/behavioral_cloning_nn_agent.gin."""

    epochs: int = 10  #: passes over the training decisions. Ours; mlco counts steps.
    #: decisions per gradient step. Ours: 4 x mlco's 64, which leaves the processor idle half of the time.
    minibatch: int = 256
    learning_rate: float = 1e-3  #: mlco.
    final_learning_rate: float = 1e-4  #: the rate falls linearly to this at the end. Ours.
    adam_epsilon: float = 3.125e-4  #: mlco.
    l2: float = 1e-5  #: as PpoConfig.l2.
    validation_share: float = 0.1  #: of functions held back, chosen by a hash of the seed and their number. Ours.
    #: share of each label that is spread evenly over all legal decisions (Szegedy et al., arXiv:1512.00567, section 7).
    #: Ours: 0. With s, a clone that repeats a rule exactly explores s / 2 of its binary decisions, because its logits
    #: are at most log(2 / s - 1). With 0 it explores almost none, and PPO has nothing to compare.
    label_smoothing: float = 0.0

    def __post_init__(self):
        check_fields(self, ("epochs", "minibatch"), below_one=("label_smoothing", "validation_share"))
