"""Policies as ml-compiler-opt makes and saves them: networks of tf-agents, in tf-agents' PolicySaver.

The sizes are ml-compiler-opt's: (40, 40, 20) for inlining, (80, 40) for eviction.
"""

import pathlib

import numpy as np
import tensorflow as tf
from tf_agents.networks import actor_distribution_network, categorical_projection_network, network, q_rnn_network
from tf_agents.policies import actor_policy, greedy_policy, policy_saver, q_policy
from tf_agents.specs import tensor_spec
from tf_agents.trajectories import time_step

from mlgo.problems.problem import Problem

#: Boundaries of a feature's quantiles.
_QUANTILES = [0.0, 1.0, 2.0, 5.0, 10.0, 40.0, 100.0, 1000.0]


def save_peers_policy(folder: pathlib.Path, problem: Problem, seed: int, kind: str = "greedy") -> None:
    """Saves a policy with random weights as SavedModel.

    Args: kind: "greedy": saved_policy of a training; "exploring": its saved_collect_policy; "recurrent": with an LSTM.
    """
    if problem.action_count is None:
        raise ValueError(f"{problem.name} does not choose among actions")
    tf.random.set_seed(seed)
    observations = {
        spec.name: tf.TensorSpec(spec.shape[1:], spec.dtype, name=spec.name) for spec in problem.observation_specs
    }
    action = tensor_spec.BoundedTensorSpec((), tf.int64, 0, problem.action_count - 1, name=problem.action_spec.name)
    steps = time_step.time_step_spec(observations, tf.TensorSpec((), tf.float32, name="reward"))
    layers = {name: tf.keras.layers.Lambda(_normalised) for name in observations}
    if kind == "recurrent":
        net = q_rnn_network.QRnnNetwork(
            observations,
            action,
            preprocessing_layers=layers,
            preprocessing_combiner=tf.keras.layers.Concatenate(),
            lstm_size=(4,),
        )
        policy = q_policy.QPolicy(steps, action, net)
    else:
        if problem.mask_feature is None:
            net = actor_distribution_network.ActorDistributionNetwork(
                observations,
                action,
                preprocessing_layers=layers,
                preprocessing_combiner=tf.keras.layers.Concatenate(),
                fc_layer_params=(40, 40, 20),
                activation_fn=tf.keras.activations.relu,
            )
        else:
            net = _PositionsNetwork(observations, action, problem.mask_feature)
        policy = actor_policy.ActorPolicy(steps, action, net)
    if kind != "exploring":
        policy = greedy_policy.GreedyPolicy(policy)
    saver = policy_saver.PolicySaver(policy, batch_size=1, use_nest_path_signatures=False)
    saver.save(str(folder))


def _normalised(observation: tf.Tensor) -> tf.Tensor:
    column = tf.expand_dims(tf.cast(observation, tf.float32), -1)
    share = tf.cast(tf.raw_ops.Bucketize(input=column, boundaries=_QUANTILES), tf.float32) / len(_QUANTILES)
    return tf.concat([share, share * share], axis=-1)


class _PositionsNetwork(network.DistributionNetwork):
    """One logit per position from the features there and those of the whole observation; masked."""

    def __init__(self, observations, action, mask: str):
        spec = categorical_projection_network.CategoricalProjectionNetwork(action).output_spec
        super().__init__(observations, (), spec, "PositionsNetwork")
        self._mask = mask
        self._dense = [tf.keras.layers.Dense(units, activation="relu") for units in (80, 40)]
        self._logits = tf.keras.layers.Dense(1)
        self._spec = spec
        self._count = int(np.prod(observations[mask].shape))

    def call(self, observations, step_type=None, network_state=(), training=False):
        parts = []
        for name in sorted(observations):
            part = _normalised(observations[name])
            if observations[name].shape.rank == 1:
                part = tf.tile(part[:, None, :], [1, self._count, 1])
            parts.append(part)
        hidden = tf.concat(parts, axis=-1)
        for layer in self._dense:
            hidden = layer(hidden)
        logits = tf.squeeze(self._logits(hidden), -1)
        logits = tf.where(observations[self._mask] > 0, logits, tf.constant(-1e9))
        return self._spec.build_distribution(logits=logits), network_state
