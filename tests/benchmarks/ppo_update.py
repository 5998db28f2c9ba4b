"""PPO updates per second beside plain tf-agents, on eviction observations, 256 sequences x 16 decisions per step.

The other side is what ml-compiler-opt does (its regalloc gin files): `PPOAgent.train` over dense observations, every
feature through Bucketize with 1,000 quantiles inside the network, 80 and 40 units for each of 33 positions, no value.
Our side does the same gradient step: PpoLearner.learn, which starts by recomputing the behaviour policy's log
probabilities (the other side is given them), and has a value network to train as well.

Both sides run in a process of their own, in turns, on the same observations; a figure is the median over all turns.
"""

import json
import os
import statistics
import subprocess
import sys
import time

import numpy as np

from tests.benchmarks.row import Row, at_least, at_most

SEQUENCES, LENGTH = 256, 16
DECISIONS = SEQUENCES * LENGTH
#: Mean of the built-in corpus (FACTS 7): 6.7 of 33.
_MEAN_LEGAL = 6.7
_TURNS = 3
_UPDATES_PER_TURN = 8
_QUANTILES = 1000
#: The three kinds of features in ml-compiler-opt's regalloc/config.py.
_IDENTITY = ("is_hint", "is_local", "is_free")
_EMBEDDED = ("max_stage", "min_stage")
_UNUSED = ("mask", "nr_urgent")


def measure() -> list[Row]:
    """The rows of this benchmark; takes about a minute."""
    times: dict[str, list[float]] = {}
    for _ in range(_TURNS):
        for side in ("plain", "ours"):
            for name, seconds in _run_side(side).items():
                times.setdefault(name, []).extend(seconds)
    median = {name: statistics.median(values) for name, values in times.items()}
    plain, whole = median["plain wall"], median["ours pack wall"] + median["ours update wall"]
    cpu = median["plain cpu"] / (median["ours update cpu"] + median["ours pack cpu"])
    return [
        at_least(
            "PPO update 256 x 16, raw observations to new weights, against plain tf-agents", plain / whole, "x", 3.0
        ),
        Row("PPO update 256 x 16, the same in processor time", cpu, "x"),
        at_least(
            "PPO update 256 x 16, further epochs, against plain tf-agents", plain / median["ours step wall"], "x", 3.0
        ),
        at_most("first PPO update 256 x 16, from fresh weights", median["ours first wall"], "s", 3.0),
        Row("first PPO update 256 x 16, plain tf-agents", median["plain first wall"], "s"),
        Row("PPO update 256 x 16, plain tf-agents", 1 / plain, "updates/s"),
        Row("PPO update 256 x 16, ours, raw observations to new weights", 1 / whole, "updates/s"),
        Row("PPO update 256 x 16, ours, further epochs", 1 / median["ours step wall"], "updates/s"),
        Row("normalising and packing eviction observations", DECISIONS / median["ours pack wall"], "observations/s"),
    ]


def seconds_per_decision() -> float:
    """CPU time of learning from a decision once, raw observation to new weights."""
    times = _run_side("ours")
    return (statistics.median(times["ours pack cpu"]) + statistics.median(times["ours update cpu"])) / DECISIONS


def _run_side(side: str) -> dict[str, list[float]]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    environment |= {"TF_USE_LEGACY_KERAS": "1", "TF_CPP_MIN_LOG_LEVEL": "2"}
    command = [sys.executable, os.path.abspath(__file__), side]
    output = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE).stdout
    return json.loads(output.splitlines()[-1])


def _timed(function, count: int, warm_up: int = 3) -> tuple[list[float], list[float]]:
    """(wall, processor) seconds of each of `count` calls."""
    wall, cpu = [], []
    for index in range(warm_up + count):
        wall_start, cpu_start = time.perf_counter(), time.process_time()
        function()
        if index >= warm_up:
            wall.append(time.perf_counter() - wall_start)
            cpu.append(time.process_time() - cpu_start)
    return wall, cpu


def _observations(problem) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]:
    """(features [4096, ...], decisions, returns), made up with the number of legal candidates of real ones."""
    random = np.random.default_rng(0)
    legal = random.random((DECISIONS, 33)) < _MEAN_LEGAL / 33
    legal[np.arange(DECISIONS), random.integers(0, 33, DECISIONS)] = True
    features = {}
    for spec in problem.observation_specs:
        shape = (DECISIONS, *spec.shape)
        if spec.name == "mask":
            features[spec.name] = legal.astype(np.int64).reshape(shape)
        elif spec.dtype == "int64":
            features[spec.name] = random.integers(0, 5 if spec.name in _EMBEDDED else 2, shape)
        else:
            features[spec.name] = (random.random(shape) ** 4).astype(np.float32)
    decisions = np.where(legal, random.random(legal.shape), -1).argmax(axis=1)
    return features, decisions, random.normal(0, 0.05, DECISIONS).astype(np.float32)


def _quantiles(problem, features) -> dict[str, np.ndarray]:
    legal = features["mask"] > 0
    found = {}
    for spec in problem.observation_specs:
        values = features[spec.name]
        values = values[legal] if values.shape == legal.shape else values
        found[spec.name] = np.quantile(values, np.linspace(0, 1, _QUANTILES))
    return found


def _ours() -> dict[str, list[float]]:
    from mlgo.learning.algorithms.ppo.algorithm import PpoConfig  # pylint: disable=import-outside-toplevel
    from mlgo.learning.algorithms.ppo.learner import PpoLearner  # pylint: disable=import-outside-toplevel
    from mlgo.learning.network import initial_network  # pylint: disable=import-outside-toplevel
    from mlgo.learning.normalization import build_normalizer  # pylint: disable=import-outside-toplevel
    from mlgo.learning.observations import pack  # pylint: disable=import-outside-toplevel
    from mlgo.problems.regalloc_eviction.problem import PROBLEM  # pylint: disable=import-outside-toplevel
    from mlgo.run import determinism  # pylint: disable=import-outside-toplevel

    determinism.configure_tensorflow()
    features, decisions, returns = _observations(PROBLEM)
    normalizer = build_normalizer(_quantiles(PROBLEM, features), PROBLEM)
    observations = pack(features, decisions, normalizer, PROBLEM)
    epochs = 4
    start = time.perf_counter()
    fresh = PpoLearner(
        initial_network(normalizer, 1), PROBLEM, 1, PpoConfig(minibatch=DECISIONS, epochs=1, highest_kl=1e9)
    )
    fresh.learn(observations, returns)
    result = {"ours first wall": [time.perf_counter() - start]}
    one, more = (
        PpoLearner(
            initial_network(normalizer, 1), PROBLEM, 1, PpoConfig(minibatch=DECISIONS, epochs=count, highest_kl=1e9)
        )
        for count in (1, 1 + epochs)
    )
    result["ours pack wall"], result["ours pack cpu"] = _timed(
        lambda: pack(features, decisions, normalizer, PROBLEM), _UPDATES_PER_TURN
    )
    result["ours update wall"], result["ours update cpu"] = _timed(
        lambda: one.learn(observations, returns), _UPDATES_PER_TURN
    )
    whole, _ = _timed(lambda: more.learn(observations, returns), _UPDATES_PER_TURN)
    first = statistics.median(result["ours update wall"])
    result["ours step wall"] = [(seconds - first) / epochs for seconds in whole]
    return result


def _plain() -> dict[str, list[float]]:
    # The site forbids oneDNN's matrix products for equal bytes on all processors; ml-compiler-opt uses them.
    os.environ["TENSORFLOW_USE_CUSTOM_CONTRACTION_KERNEL"] = "true"
    import tensorflow as tf  # pylint: disable=import-outside-toplevel
    import tensorflow_probability as tfp  # pylint: disable=import-outside-toplevel
    from tf_agents.agents.ppo import ppo_agent  # pylint: disable=import-outside-toplevel
    from tf_agents.networks import network  # pylint: disable=import-outside-toplevel
    from tf_agents.specs import distribution_spec, tensor_spec  # pylint: disable=import-outside-toplevel
    from tf_agents.trajectories import time_step, trajectory  # pylint: disable=import-outside-toplevel
    from tf_agents.utils import common  # pylint: disable=import-outside-toplevel

    from mlgo.problems.regalloc_eviction.problem import PROBLEM  # pylint: disable=import-outside-toplevel

    features, decisions, returns = _observations(PROBLEM)
    quantiles = _quantiles(PROBLEM, features)
    positions = PROBLEM.action_count
    assert positions is not None
    action_spec = tensor_spec.BoundedTensorSpec((), tf.int64, 0, positions - 1, "index_to_evict")
    observation_spec = {
        spec.name: tensor_spec.BoundedTensorSpec((positions,), tf.int64, 0, 6, spec.name)
        if spec.dtype == "int64"
        else tf.TensorSpec((positions,) if spec.element_count > 1 else (), tf.float32, spec.name)
        for spec in PROBLEM.observation_specs
    }

    class Actor(network.DistributionNetwork):
        """One scorer for all positions; inputs are quantiles, their squares (with_sqrt=False) and embedded stages."""

        def __init__(self):
            spec = distribution_spec.DistributionSpec(
                tfp.distributions.Categorical,
                input_params_spec={"logits": tf.TensorSpec((positions,), tf.float32)},
                sample_spec=action_spec,
                dtype=tf.int64,
            )
            super().__init__(observation_spec, (), spec, "Actor")
            self._embeddings = [tf.keras.layers.Embedding(7, 4) for _ in _EMBEDDED]
            self._hidden = [tf.keras.layers.Dense(units, activation="relu") for units in (80, 40)]
            self._logits = tf.keras.layers.Dense(1)

        def call(self, inputs, step_type=None, network_state=(), training=False):
            columns = []
            for name, value in inputs.items():
                if name in _UNUSED:
                    continue
                if name in _EMBEDDED:
                    columns.append(self._embeddings[_EMBEDDED.index(name)](value))
                elif name in _IDENTITY:
                    columns.append(tf.cast(value, tf.float32)[..., None])
                else:
                    if name == "progress":
                        value = tf.repeat(value[..., None], positions, axis=-1)
                    rank = tf.raw_ops.Bucketize(input=value, boundaries=quantiles[name].tolist())
                    x = tf.cast(rank, tf.float32)[..., None] / len(quantiles[name])
                    columns += [x, x * x]
            hidden = tf.concat(columns, axis=-1)
            for layer in self._hidden:
                hidden = layer(hidden)
            logits = tf.where(inputs["mask"] > 0, self._logits(hidden)[..., 0], tf.float32.min)
            return tfp.distributions.Categorical(logits=logits, dtype=tf.int64), network_state

    class Constant(network.Network):
        """The value 0, as ml-compiler-opt's ConstantValueNetwork."""

        def __init__(self):
            super().__init__(observation_spec, (), "Constant")

        def call(self, inputs, step_type=None, network_state=(), training=False):
            return tf.zeros_like(inputs["progress"]), network_state

    start = time.perf_counter()
    agent = ppo_agent.PPOAgent(
        time_step.time_step_spec(observation_spec),
        action_spec,
        optimizer=tf.compat.v1.train.AdamOptimizer(3e-4, epsilon=3.125e-4),
        actor_net=Actor(),
        value_net=Constant(),
        # As ppo_nn_agent.gin, without its summaries.
        importance_ratio_clipping=0.2,
        lambda_value=0.0,
        discount_factor=0.0,
        entropy_regularization=0.005,
        policy_l2_reg=1e-5,
        value_pred_loss_coef=0.0,
        num_epochs=1,
        use_gae=False,
        use_td_lambda_return=False,
        normalize_rewards=False,
        normalize_observations=False,
        debug_summaries=False,
    )
    agent.initialize()

    def sequences(array: np.ndarray) -> tf.Tensor:
        return tf.constant(array.reshape(SEQUENCES, LENGTH, *array.shape[1:]))

    observation = {
        spec.name: sequences(features[spec.name].reshape(DECISIONS, *observation_spec[spec.name].shape))
        for spec in PROBLEM.observation_specs
    }
    uniform = np.where(features["mask"].reshape(DECISIONS, positions) > 0, 0.0, -1e30).astype(np.float32)
    middle = np.ones(DECISIONS, np.int32)
    experience = trajectory.Trajectory(
        step_type=sequences(middle),
        observation=observation,
        action=sequences(decisions),
        policy_info={"dist_params": {"logits": sequences(uniform)}},
        next_step_type=sequences(middle),
        reward=sequences(returns),
        discount=sequences(np.ones(DECISIONS, np.float32)),
    )
    train = common.function(agent.train)
    train(experience)
    first = time.perf_counter() - start
    wall, cpu = _timed(lambda: train(experience).loss.numpy(), _UPDATES_PER_TURN)
    return {"plain wall": wall, "plain cpu": cpu, "plain first wall": [first]}


if __name__ == "__main__":
    if sys.argv[1:]:
        print(json.dumps({"plain": _plain, "ours": _ours}[sys.argv[1]]()))
    else:
        for row in measure():
            print(row)
