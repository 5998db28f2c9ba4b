"""DQN: settings and description, without TensorFlow."""

import dataclasses

import gin

from mlgo.learning.algorithm import Algorithm, check_fields


@gin.configurable
@dataclasses.dataclass(frozen=True)
class DqnConfig:
    """DQN's settings. "mlco-inl": ml-compiler-opt, compiler_opt/rl/inlining/gin_configs/dqn_nn_agent.gin.

    Those without a comment are as PpoConfig's; learning_rate, adam_epsilon: mlco-inl.
    """

    samples_per_module: int = 4
    minibatch: int = 512
    epochs: int = 4
    learning_rate: float = 1e-3
    adam_epsilon: float = 3.125e-4
    #: a return counts as discount ^ (number of later decisions in its function). mlco-inl (gamma).
    discount: float = 1.0
    #: how many of the last iterations are learned from at a time; the replay memory of DQN. Ours: policies change
    #: slowly between iterations, and a checkpoint holds the memory.
    replay_iterations: int = 4
    #: temperature, final_temperature, temperature_decay: exploration uses temperature * decay ^ iteration, but not less
    #: than the final one; in deviations of the first iteration's returns (learner.py). Ours; mlco-inl explores 10 % of
    #: the decisions.
    temperature: float = 1.0
    final_temperature: float = 0.1
    temperature_decay: float = 0.95
    l2: float = 1e-5
    gradient_clipping: float | None = 1.0
    divergence_loss: float = 1e3

    def __post_init__(self):
        positive = ["learning_rate", "adam_epsilon", "temperature", "final_temperature", "divergence_loss"]
        check_fields(self, ("samples_per_module", "minibatch", "epochs", "replay_iterations"), positive)
        if not (0 < self.discount <= 1 and 0 < self.temperature_decay <= 1):
            raise ValueError(
                f"DqnConfig: discount={self.discount} and temperature_decay={self.temperature_decay} must lie in (0, 1]"
            )


ALGORITHM = Algorithm(
    name="dqn",
    title="DQN",
    config=DqnConfig,
    learner="DqnLearner",
    figures={
        "entropy": "Entropy of the policy, nats",
        "explained_variance": "Explained variance",
        "loss": "Loss",
        "gradient_norm": "Norm of the gradient",
    },
    shown=("loss",),
)
