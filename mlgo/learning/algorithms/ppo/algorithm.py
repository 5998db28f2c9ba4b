"""PPO: settings and description, without TensorFlow."""

import dataclasses
from typing import Literal

import gin

from mlgo.learning.algorithm import Algorithm, check_fields
from mlgo.learning.network import DEFAULT_DEVIATION


@gin.configurable
@dataclasses.dataclass(frozen=True)
class PpoConfig:
    """PPO's settings. "mlco" below is ml-compiler-opt, compiler_opt/rl/regalloc/gin_configs/ppo_nn_agent.gin."""

    #: how often each module of an iteration is compiled, each time with other random decisions. From 2 on, a decision's
    #: return is the improvement of its function over the other samples, so that the difficulty of the function cancels
    #: (Kool et al., "Buy 4 REINFORCE samples, get a baseline for free!", 2019). At 1 it is the improvement over the
    #: default.
    samples_per_module: int = 4
    #: what a function's improvement is compared with. "samples": the other samples; "default": nothing further;
    #: "moving_average": the function's average so far, as mlco does.
    baseline: Literal["samples", "default", "moving_average"] = "samples"
    #: weight of the old average at each sample. mlco (compilation_runner.py, moving_average_decay_rate).
    moving_average_decay: float = 0.8
    #: decisions per gradient step. Ours, for iterations of some thousand decisions; mlco: 4096, batch_size 256 x
    #: train_sequence_length 16 (papers_eviction.gin).
    minibatch: int = 512
    #: passes over the decisions of one iteration. Ours, between the 3 and 10 of arXiv:1707.06347; mlco instead takes
    #: 200 minibatches from the collected decisions.
    epochs: int = 4
    #: ours, for tens of iterations; mlco: 3e-4 for thousands. Measured from a warm start on the built-in corpus, 12
    #: modules in 4 samples: with 512, 3 and 1e-3 the policy moves by a KL divergence of 0.004 per iteration (at first;
    #: mlco's values: 0.00001) and the validation score falls to -1.5 % in 40 iterations, still falling. 2e-3 with 5
    #: epochs is faster for 15 iterations and then slower.
    learning_rate: float = 1e-3
    adam_epsilon: float = 3.125e-4  #: mlco (tf.train.AdamOptimizer).
    clip: float = 0.2  #: importance ratio clipping. mlco.
    #: weight of the entropy bonus. Ours, for tens of iterations, in which exploration hardly fades; mlco: 0.005.
    entropy: float = 0.001
    #: weight decay of the policy's kernels, added to the loss as l2 * sum(w^2)/2. mlco (policy_l2_reg).
    l2: float = 1e-5
    #: weight of the value network's squared error. tf-agents' default; mlco has no value network.
    value_loss: float = 0.5
    #: largest global norm of the gradients. mlco's distributed agent (rl/agent_config.py); None: none.
    gradient_clipping: float | None = 1.0
    #: an update ends after the first minibatch whose mean KL divergence from the behaviour policy is above this. Ours,
    #: 3 x the adaptive_kl_target of mlco, where PPOAgent adds a penalty instead.
    highest_kl: float = 0.03
    #: a loss whose magnitude is above this counts as exploded. Ours: the losses are of normalised advantages and
    #: returns, whatever the score's unit is, so a healthy loss is below 10. Where one minibatch holds all that differs,
    #: its value loss is `value_loss` x the number of minibatches in a pass.
    divergence_loss: float = 1e3
    #: exploring decisions are drawn from softmax(z / temperature), or sigmoid(z / temperature); the objective is that
    #: of this policy, so its gradients are right at any temperature. 1, as mlco. Use more than 1 for a policy with
    #: large logits that explores too little. There is no setting to mix in uniform decisions, because logits that are
    #: large would keep no gradient (behavioural_cloning.py).
    temperature: float = 1.0
    #: standard deviation of the noise on continuous decisions, in units of the network's output; see network.py.
    deviation: float = DEFAULT_DEVIATION

    def __post_init__(self):
        positive = ["learning_rate", "adam_epsilon", "clip", "highest_kl", "divergence_loss", "temperature"]
        counts = ("samples_per_module", "minibatch", "epochs")
        check_fields(self, counts, [*positive, "deviation"], ["moving_average_decay"])
        if self.baseline not in ("samples", "default", "moving_average"):
            raise ValueError(f"PpoConfig.baseline={self.baseline!r} is none of samples, default, moving_average")


ALGORITHM = Algorithm(
    name="ppo",
    title="PPO",
    config=PpoConfig,
    learner="PpoLearner",
    figures={
        "kl": "KL divergence to the policy before the update",
        "entropy": "Entropy of the policy, nats",
        "explained_variance": "Explained variance",
        "clip_fraction": "Share of clipped updates",
        "loss": "Loss",
        "value_loss": "Loss of the value function",
        "gradient_norm": "Norm of the gradient",
    },
    shown=("entropy", "kl"),
)
