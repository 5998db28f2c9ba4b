"""Our networks as a tf-agents agent.

`clip_agent` builds a complete PPOClipAgent over dense observations ([P, D] levels, [P] legality), and a test compares
our update with its `train`. The fast path (learner.py) takes the objective from it (policy_gradient_loss,
entropy_regularization_loss) and hands it a distribution over rows (distribution.py) instead of a dense one.
"""

from collections.abc import Mapping

import gin
import tensorflow as tf
import tensorflow_probability as tfp

# tf-agents declares its own gin settings when it is loaded, which gin refuses once a command has read its
# configuration.
with gin.unlock_config():
    from tf_agents.agents.ppo import ppo_clip_agent
    from tf_agents.networks import network
    from tf_agents.specs import distribution_spec, tensor_spec
    from tf_agents.trajectories import time_step

from mlgo.learning.algorithms.ppo.algorithm import PpoConfig
from mlgo.learning.network import row_logits, values
from mlgo.learning.normalization import TOP_LEVEL

#: Logit of an illegal position: its probability is exactly 0 in float32, and no NaN can arise from it.
ILLEGAL_LOGIT = -1e30


class CandidateActor(network.DistributionNetwork):
    """The policy network over dense observations {"legal" [.., P], "levels" [.., P, D], "summary" [.., D]}.

    The decision is a position, or for a binary problem 0 or 1, whose logits are (0, z) with z from its one row.
    """

    def __init__(self, observation_spec, weights: Mapping[str, tf.Variable], binary: bool):
        positions = 2 if binary else observation_spec["legal"].shape[0]
        self._binary = binary
        spec = distribution_spec.DistributionSpec(
            tfp.distributions.Categorical,
            input_params_spec={"logits": tf.TensorSpec((positions,), tf.float32)},
            sample_spec=_action_spec(positions),
            dtype=tf.int64,
        )
        super().__init__(observation_spec, state_spec=(), output_spec=spec, name="CandidateActor")
        self._policy_variables = {name: value for name, value in weights.items() if name.startswith("policy/")}

    def call(self, inputs, step_type=None, network_state=(), training=False):
        levels, legal = inputs["levels"], inputs["legal"]
        rows = tf.reshape(levels, [-1, levels.shape[-1]])
        logits = tf.reshape(row_logits(self._policy_variables, rows), tf.shape(legal))
        if self._binary:
            logits = tf.concat([tf.zeros_like(logits), logits], axis=-1)
        else:
            logits = tf.where(legal > 0, logits, ILLEGAL_LOGIT)
        return tfp.distributions.Categorical(logits=logits, dtype=tf.int64), network_state


class SummaryValue(network.Network):
    def __init__(self, observation_spec, weights: Mapping[str, tf.Variable]):
        super().__init__(observation_spec, state_spec=(), name="SummaryValue")
        self._value_variables = {name: value for name, value in weights.items() if name.startswith("value/")}

    def call(self, inputs, step_type=None, network_state=(), training=False):
        summary = inputs["summary"]
        flat = values(self._value_variables, tf.reshape(summary, [-1, summary.shape[-1]]))
        return tf.reshape(flat, tf.shape(summary)[:-1]), network_state


def _action_spec(positions: int) -> tensor_spec.BoundedTensorSpec:
    return tensor_spec.BoundedTensorSpec((), tf.int64, 0, positions - 1, "position")


def clip_agent(
    weights: Mapping[str, tf.Variable], positions: int, config: PpoConfig, binary: bool, optimizer=None
) -> ppo_clip_agent.PPOClipAgent:
    """A PPOClipAgent over `weights` (variables of network.py), without clipping of gradients.

    Rewards are the returns of their own step; the trajectories' policy_info carries return, advantage and
    value_prediction. With `binary` there is one row (`positions` is 1) and the decision is 0 or 1.
    """
    width = weights["policy/0/kernel"].shape[0]
    observation_spec = {
        "legal": tensor_spec.BoundedTensorSpec((positions,), tf.int32, 0, 1, "legal"),
        "levels": tensor_spec.BoundedTensorSpec((positions, width), tf.int32, 0, TOP_LEVEL, "levels"),
        "summary": tf.TensorSpec((width,), tf.float32, "summary"),
    }
    return ppo_clip_agent.PPOClipAgent(
        time_step.time_step_spec(observation_spec),
        _action_spec(2 if binary else positions),
        # Without `train` none is needed, but tf-agents warns when there is none.
        optimizer=optimizer or tf.keras.optimizers.SGD(0.0),
        actor_net=CandidateActor(observation_spec, weights, binary),
        value_net=SummaryValue(observation_spec, weights),
        importance_ratio_clipping=config.clip,
        entropy_regularization=config.entropy,
        value_pred_loss_coef=config.value_loss,
        num_epochs=1,
        # As in ml-compiler-opt's ppo_nn_agent.gin: a step's return is the reward written on it.
        discount_factor=0.0,
        use_gae=False,
        use_td_lambda_return=False,
        normalize_rewards=False,
        normalize_observations=False,
        aggregate_losses_across_replicas=False,
        compute_value_and_advantage_in_train=False,
    )
