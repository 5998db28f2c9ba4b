"""Settings of behavioural cloning, PPO, DQN and BC-Max, apart from the code so that reading flags needs no TensorFlow.

"mlco" below is ml-compiler-opt, compiler_opt/rl/regalloc/gin_configs/.
"""

import dataclasses
import math
from collections.abc import Mapping
from typing import Literal

import gin

from mlgo.learning.exploration import DEFAULT_DEVIATION


@gin.configurable
@dataclasses.dataclass(frozen=True)
class BcConfig:
    """Behavioural cloning's settings. "mlco": ml-compiler-opt, regalloc/gin_configs/behavioral_cloning_nn_agent.gin.

    Attributes:
      epochs: passes over the training decisions. Ours; mlco counts steps (its default is days on a large corpus).
      minibatch: decisions per gradient step. Ours: 4 x mlco's 64 and the same learning rate, since 64 leaves the
        processor idle half of the time.
      learning_rate, adam_epsilon: mlco.
      final_learning_rate: the rate falls in a straight line to this at the end. Ours.
      l2: as PpoConfig.l2.
      validation_share: functions held back, chosen by a hash of the seed and their number. Ours.
      label_smoothing: which part of each decision counts as a draw among all legal ones (Szegedy et al., arXiv:1512.00567,
        section 7). Ours: 0. With s the cloned policy strays from a rule it repeats exactly in s / 2 of yes-or-no decisions,
        its logits being at most log(2 / s - 1) then; without, in almost none, and PPO has nothing to compare.
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
        if not 0 <= self.label_smoothing < 1:
            raise ValueError(f"BcConfig.label_smoothing={self.label_smoothing} must lie in [0, 1)")
        if self.epochs < 1 or self.minibatch < 1:
            raise ValueError(f"BcConfig: epochs={self.epochs} and minibatch={self.minibatch} must be at least 1")
        if not 0 <= self.validation_share < 1:
            raise ValueError(f"BcConfig.validation_share={self.validation_share} must lie in [0, 1)")


@gin.configurable
@dataclasses.dataclass(frozen=True)
class PpoConfig:
    """PPO's settings. "mlco" below is ml-compiler-opt, compiler_opt/rl/regalloc/gin_configs/ppo_nn_agent.gin.

    Attributes:
      samples_per_module: how often each module of an iteration is compiled, every time with other random decisions. From 2
        on a decision's return is how much better its function became than in the other samples, so what is easy or hard
        about the function cancels (Kool et al., "Buy 4 REINFORCE samples, get a baseline for free!", 2019). At 1 it is
        the improvement over the default.
      baseline: what a function's improvement is compared with: "samples", see above; "default": nothing, it is over the default
        already; "moving_average": what is usual of this function, as mlco does.
      moving_average_decay: what is left of what is usual at each sample. mlco (compilation_runner.py, moving_average_decay_rate).
      minibatch: decisions per gradient step. Ours, for iterations of some thousand decisions; mlco: 4096, batch_size 256 x
        train_sequence_length 16 (papers.gin).
      epochs: passes over the decisions of one iteration. Ours, between the 3 and 10 of arXiv:1707.06347; mlco instead
        takes 200 minibatches from whatever was collected.
      learning_rate: ours, for tens of iterations; mlco: 3e-4 for thousands. Measured from a warm start on the built-in
        corpus, 12 modules in 4 samples: with 512, 3 and 1e-3 the policy moves by a KL divergence of 0.004 per iteration (at
        first; mlco's values: 0.00001) and the validation score falls to -1.5 % in 40 iterations, still falling. 2e-3 with 5
        epochs is faster for 15 iterations and then slower.
      learning_rate_decay: update u has learning_rate * learning_rate_decay^u, in (0, 1]. Ours: 1; 0.985 is a tenth after 150.
      adam_epsilon: mlco (tf.train.AdamOptimizer).
      clip: importance ratio clipping. mlco.
      entropy: weight of the entropy bonus. Ours, for tens of iterations, in which exploration hardly fades; mlco: 0.005.
      l2: weight decay of the policy's kernels, added to the loss as l2 * sum(w^2)/2. mlco (policy_l2_reg).
      value_loss: weight of the value network's squared error. tf-agents' default; mlco has no value network.
      gradient_clipping: largest global norm of the gradients. mlco's distributed agent (rl/agent_config.py); None: none.
      lowest_return: returns below are raised to this. Ours: one function made ten times worse (-9) would otherwise
        set the scale of the advantages of all others.
      highest_kl: an update ends early, after the minibatch whose mean KL divergence from the behaviour policy is above
        this. Ours, 3 x the adaptive_kl_target of mlco, where PPOAgent adds a penalty instead.
      temperature: exploring decisions are drawn from softmax(z / temperature), or sigmoid(z / temperature); the objective is
        about that policy, so its gradients are right at any temperature. 1, as mlco. Above 1 a policy with large logits
        strays more, below 1 an untrained one strays less. Mixing in a share of uniform decisions instead would leave
        logits without gradient where they are large (behavioural_cloning.py), so there is no such setting.
      deviation: standard deviation of the noise on decisions that are numbers, in units of the network's output; see
        exploration.py.
      divergence_loss: a loss whose magnitude is above this counts as exploded. Ours: returns lie in [-1, 1] and
        advantages are normalised, so a healthy loss is below 10.
    """

    samples_per_module: int = 4
    baseline: Literal["samples", "default", "moving_average"] = "samples"
    moving_average_decay: float = 0.8
    minibatch: int = 512
    epochs: int = 4
    learning_rate: float = 1e-3
    learning_rate_decay: float = 1.0
    adam_epsilon: float = 3.125e-4
    clip: float = 0.2
    entropy: float = 0.001
    l2: float = 1e-5
    value_loss: float = 0.5
    gradient_clipping: float | None = 1.0
    lowest_return: float = -1.0
    highest_kl: float = 0.03
    divergence_loss: float = 1e3
    temperature: float = 1.0
    deviation: float = DEFAULT_DEVIATION

    def __post_init__(self):
        for name in ("samples_per_module", "minibatch", "epochs"):
            if getattr(self, name) < 1:
                raise ValueError(f"PpoConfig.{name}={getattr(self, name)} must be at least 1")
        for name in (
            "learning_rate",
            "adam_epsilon",
            "clip",
            "highest_kl",
            "divergence_loss",
            "temperature",
            "deviation",
        ):
            if not (math.isfinite(getattr(self, name)) and getattr(self, name) > 0):
                raise ValueError(f"PpoConfig.{name}={getattr(self, name)} must be positive")
        if not 0 < self.learning_rate_decay <= 1:
            raise ValueError(f"PpoConfig.learning_rate_decay={self.learning_rate_decay} must lie in (0, 1]")
        if self.baseline not in ("samples", "default", "moving_average"):
            raise ValueError(f"PpoConfig.baseline={self.baseline!r} is none of samples, default, moving_average")
        if not 0 <= self.moving_average_decay < 1:
            raise ValueError(f"PpoConfig.moving_average_decay={self.moving_average_decay} must lie in [0, 1)")


@gin.configurable
@dataclasses.dataclass(frozen=True)
class DqnConfig:
    """DQN's settings. "mlco-inl": ml-compiler-opt, compiler_opt/rl/inlining/gin_configs/dqn_nn_agent.gin.

    Attributes:
      samples_per_module, minibatch, epochs, lowest_return, gradient_clipping, divergence_loss: as PpoConfig's.
      learning_rate, adam_epsilon: mlco-inl.
      discount: a return counts as discount ^ (decisions of its function that were still to come). mlco-inl (gamma).
      replay_iterations: how many iterations are learned from at a time, the last ones; the memory of DQN. Ours: policies
        change slowly between iterations, and a checkpoint holds the memory.
      temperature, final_temperature, temperature_decay: of exploration, temperature * decay ^ iteration, but not below the
        final one; in deviations of the first iteration's returns (dqn.py). Ours; mlco-inl explores 10 % of decisions.
      l2: as PpoConfig's.
    """

    samples_per_module: int = 4
    minibatch: int = 512
    epochs: int = 4
    learning_rate: float = 1e-3
    adam_epsilon: float = 3.125e-4
    discount: float = 1.0
    replay_iterations: int = 4
    temperature: float = 1.0
    final_temperature: float = 0.1
    temperature_decay: float = 0.95
    l2: float = 1e-5
    gradient_clipping: float | None = 1.0
    lowest_return: float = -1.0
    divergence_loss: float = 1e3

    def __post_init__(self):
        for name in ("samples_per_module", "minibatch", "epochs", "replay_iterations"):
            if getattr(self, name) < 1:
                raise ValueError(f"DqnConfig.{name}={getattr(self, name)} must be at least 1")
        for name in ("learning_rate", "adam_epsilon", "temperature", "final_temperature", "divergence_loss"):
            if not (math.isfinite(getattr(self, name)) and getattr(self, name) > 0):
                raise ValueError(f"DqnConfig.{name}={getattr(self, name)} must be positive")
        if not (0 < self.discount <= 1 and 0 < self.temperature_decay <= 1):
            raise ValueError(
                f"DqnConfig: discount={self.discount} and temperature_decay={self.temperature_decay} must lie in (0, 1]"
            )


@gin.configurable
@dataclasses.dataclass(frozen=True)
class BcMaxConfig:
    """BC-Max's settings (bc_max.py). Where not said otherwise the defaults are ours.

    Attributes:
      granularity: "module": all decisions of the best compile of a module are imitated, as in arXiv:2403.19462, algorithm 1;
        "context": of each function those of the compile which was best for it. Finer, and right as far as functions do
        not depend on each other.
      exploring_samples: compiles of each module under the exploring current policy, beside the greedy ones; there the
        exploration policy of the paper's section 5.
      temperature, deviation: of that exploration, as PpoConfig's.
      memory_modules: of how many modules the best decisions are remembered, those of the last iterations.
      epochs: passes over the memory per iteration.
      minibatch, learning_rate, adam_epsilon, l2, label_smoothing: as BcConfig's.
    """

    granularity: Literal["module", "context"] = "module"
    exploring_samples: int = 3
    temperature: float = 1.0
    deviation: float = DEFAULT_DEVIATION
    memory_modules: int = 256
    epochs: int = 2
    minibatch: int = 256
    learning_rate: float = 1e-3
    adam_epsilon: float = 3.125e-4
    l2: float = 1e-5
    label_smoothing: float = 0.0

    def __post_init__(self):
        if self.granularity not in ("module", "context"):
            raise ValueError(f"BcMaxConfig.granularity={self.granularity!r} is neither module nor context")
        for name in ("memory_modules", "epochs", "minibatch"):
            if getattr(self, name) < 1:
                raise ValueError(f"BcMaxConfig.{name}={getattr(self, name)} must be at least 1")
        if self.exploring_samples < 0 or not 0 <= self.label_smoothing < 1:
            raise ValueError(f"{self}: exploring_samples must not be negative and label_smoothing lie in [0, 1)")
        for name in ("temperature", "deviation", "learning_rate", "adam_epsilon"):
            if not (math.isfinite(getattr(self, name)) and getattr(self, name) > 0):
                raise ValueError(f"BcMaxConfig.{name}={getattr(self, name)} must be positive")


@gin.configurable
@dataclasses.dataclass(frozen=True)
class EffectConfig:
    """Effect regression's settings (effect_regression.py). All defaults are ours.

    Attributes:
      samples_per_module: as PpoConfig's; at least 2.
      exploration: the part of the decisions that stray from the likeliest one. Measured on inlining: from one round of 4 % the next
        policy was better than the default, from one of 15 % it was worse.
      prior: how much of the start's logits stays in the policy, in units of the returns: decisions are changed whose effect is
        larger.
      step: how far the policy goes from where it is to what the regression says, in (0, 1].
      decay: an iteration's equations count decay ^ age.
      effect_deviation: how large the effect of a column is expected to be, as a part of the deviation of a function's return; what
        the data say less clearly is shrunk towards 0 (ridge regression as a posterior mean).
      start: feature -> what each of its pieces adds to z in the policy that is explored first; {}: that is the run's warm start. Large
        enough that about `exploration` of its decisions stray: from a first iteration with 30 % strays the next took several to recover.
      start_bias: z of a decision all of whose features have their smallest values, in that policy.
      outlier: returns further than this many deviations from what is expected of them count linearly (Huber).
    """

    samples_per_module: int = 4
    exploration: float = 0.04
    prior: float = 0.1
    step: float = 0.5
    decay: float = 0.8
    effect_deviation: float = 0.3
    start: Mapping[str, float] = dataclasses.field(default_factory=dict)
    start_bias: float = 0.0
    outlier: float = 3.0

    def __post_init__(self):
        object.__setattr__(self, "start", {str(feature): float(value) for feature, value in self.start.items()})
        if self.samples_per_module < 2:
            raise ValueError(f"EffectConfig.samples_per_module={self.samples_per_module} must be at least 2")
        if not 0 < self.exploration < 0.5:
            raise ValueError(f"EffectConfig.exploration={self.exploration} must lie in (0, 0.5)")
        if not (0 < self.step <= 1 and 0 <= self.decay < 1 and self.prior >= 0):
            raise ValueError(
                f"EffectConfig: step={self.step} in (0, 1], decay={self.decay} in [0, 1), prior={self.prior} >= 0"
            )
        for name in ("effect_deviation", "outlier"):
            if not (math.isfinite(getattr(self, name)) and getattr(self, name) > 0):
                raise ValueError(f"EffectConfig.{name}={getattr(self, name)} must be positive")
