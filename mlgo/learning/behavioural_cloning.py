"""Warm start: the policy learns to repeat the default heuristic's decisions, by cross-entropy on a default trace.

Of continuous decisions it learns the order, by least squares on their ranks (order.py).

Training ends after a fixed number of epochs; the weights returned are those of the epoch with the best accuracy on
functions that were not trained on. Accuracy is that of the exact network, greedy, as it would be shipped. It is
reported beside the accuracy of always answering the most frequent position: for eviction "keep it", 68 % of the
choices.

A rule that can be repeated exactly drives its logits apart without end. A policy cloned from it then explores nothing,
and has no gradient either: of sigmoid(z) it is p (1 - p). `BcConfig.label_smoothing` bounds the logits where they are
made.
"""

import dataclasses
import json
import math
import os
from collections.abc import Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from mlgo.learning.checkpoint import digest_of, load_checkpoint, remove_superseded, save_checkpoint
from mlgo.learning.cloning_config import BcConfig
from mlgo.learning.distribution import RowDistribution
from mlgo.learning.exact_network import exact_network
from mlgo.learning.network import PolicyNetwork, row_logits
from mlgo.learning.observations import DecisionKind, Observations, minibatches
from mlgo.learning.optimizer import Adam, StepSpecs, traced, weight_decay
from mlgo.learning.order import order_agreement, order_scale
from mlgo.run.determinism import derive_seed
from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.run.progress import Progress, Silent

_CHECKPOINT = "behavioural_cloning"


@dataclasses.dataclass(frozen=True)
class BcEpoch:
    """One epoch: mean loss on the training part, and shares of equal decisions in 0 .. 1.

    The loss is the cross-entropy in nats; of numbers half the squared error, and equal decisions are pairs in equal
    order.
    """

    epoch: int
    loss: float
    training_accuracy: float
    validation_accuracy: float


@dataclasses.dataclass(frozen=True)
class BcResult:
    """The cloned policy.

    Attributes: majority_accuracy: on the validation part, always answering the most frequent decision of the training
      part.
    """

    network: PolicyNetwork
    epochs: tuple[BcEpoch, ...]
    best_epoch: int
    training_decisions: int
    validation_decisions: int
    majority_accuracy: float

    @property
    def validation_accuracy(self) -> float:
        return self.epochs[self.best_epoch].validation_accuracy


def split_by_function(observations: Observations, share: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """(training, validation): indices of observations; all of one group lie on one side. Both are never empty
    together; with one group only, validation is empty."""
    groups = np.unique(observations.group)
    held = np.array([derive_seed(seed, "validation", int(group)) / 2.0**63 < share for group in groups])
    if held.all():
        held[0] = False
    is_held = held[np.searchsorted(groups, observations.group)]
    return np.flatnonzero(~is_held), np.flatnonzero(is_held)


def train_bc(
    network: PolicyNetwork,
    observations: Observations,
    seed: int,
    config: BcConfig | None = None,
    resume_dir: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> BcResult:
    """Clones the decisions in `observations`, starting from `network`.

    With `resume_dir` every finished epoch is kept there, and an interrupted call with equal arguments continues after
    the last one, to the same bytes as without the interruption. A checkpoint of other arguments is an error.

    Raises: RunError: the checkpoint is damaged or of other arguments, or the loss is not finite.
    """
    config, progress = config or BcConfig(), progress or Silent()
    training, validation = split_by_function(observations, config.validation_share, seed)
    if observations.kind == "continuous":
        scale = order_scale(observations.numbers[training])
        observations = dataclasses.replace(observations, outputs=scale.apply(observations.numbers))
    state = _State(network, config)
    identity = _identity(network, observations, seed, config)
    if resume_dir is not None:
        if (saved := load_checkpoint(resume_dir, _CHECKPOINT)) is not None:
            remove_superseded(resume_dir, _CHECKPOINT)
        state.restore(saved, identity, str(resume_dir))
    learner = Cloner(network.with_weights(state.weights), config, observations.kind, state.optimizer)
    held_back = observations.select(validation)
    per_epoch = math.ceil(len(training) / config.minibatch)
    for epoch in range(len(state.epochs), config.epochs):
        sums = np.zeros(2)
        for index, part in enumerate(minibatches(len(training), config.minibatch, seed, "cloning minibatches", epoch)):
            done = (epoch * per_epoch + index) / (config.epochs * per_epoch)
            rate = config.learning_rate + done * (config.final_learning_rate - config.learning_rate)
            sums += learner.step(observations.select(training[part]), rate) * len(part)
        loss, accuracy = sums / len(training)
        if not math.isfinite(loss):
            raise RunError(
                f"behavioural cloning, epoch {epoch}",
                f"the loss is {loss}",
                f"Lower BcConfig.learning_rate (now {config.learning_rate})",
                ExitCode.INTERNAL_ERROR,
            )
        weights = learner.weights()
        held_accuracy = accuracy_of(network.with_weights(weights), held_back) if len(validation) else accuracy
        state.finish_epoch(BcEpoch(epoch, float(loss), float(accuracy), float(held_accuracy)), weights, learner.state())
        if resume_dir is not None:
            save_checkpoint(resume_dir, _CHECKPOINT, state.arrays(), {"identity": identity, "epochs": state.rows()})
        progress.advance(1, f"accuracy {held_accuracy:.1%}")
    return BcResult(
        network.with_weights(state.best_weights),
        tuple(state.epochs),
        state.best_epoch,
        len(training),
        len(validation),
        _majority(observations, training, validation if len(validation) else training),
    )


def accuracy_of(network: PolicyNetwork, observations: Observations) -> float:
    """Share of decisions that the shipped form of `network` repeats; of numbers, see `order_agreement`."""
    decisions = exact_network(network.weights).decisions(observations)
    if observations.kind == "continuous":
        return order_agreement(observations, decisions)
    return float(np.mean(decisions == observations.actions))


def _majority(observations: Observations, training: np.ndarray, held_back: np.ndarray) -> float:
    if observations.kind == "continuous":
        return order_agreement(observations.select(held_back), np.zeros(len(held_back)))
    actions = observations.actions
    return majority_accuracy(actions[training], actions[held_back])


def majority_accuracy(training_actions: np.ndarray, actions: np.ndarray) -> float:
    """Share of `actions` equal to the most frequent one of `training_actions` (the lowest among equally frequent)."""
    return float(np.mean(actions == np.argmax(np.bincount(training_actions))))


def _identity(network: PolicyNetwork, observations: Observations, seed: int, config: BcConfig) -> str:
    data = {"levels": observations.levels, "chosen": observations.chosen, "group": observations.group}
    if observations.outputs is not None:
        data["outputs"] = observations.outputs
    return json.dumps([digest_of(network.weights), digest_of(data), seed, dataclasses.asdict(config)], sort_keys=True)


class _State:
    """What a checkpoint holds: current and best weights, optimiser, finished epochs."""

    def __init__(self, network: PolicyNetwork, config: BcConfig):
        self.weights: dict[str, np.ndarray] = dict(network.weights)
        self.best_weights = self.weights
        self.optimizer: dict[str, np.ndarray] | None = None
        self.epochs: list[BcEpoch] = []
        self.best_epoch = 0
        self._total = config.epochs

    def finish_epoch(
        self, epoch: BcEpoch, weights: Mapping[str, np.ndarray], optimizer: Mapping[str, np.ndarray]
    ) -> None:
        self.epochs.append(epoch)
        self.weights, self.optimizer = dict(weights), dict(optimizer)
        if len(self.epochs) == 1 or epoch.validation_accuracy > self.epochs[self.best_epoch].validation_accuracy:
            self.best_epoch, self.best_weights = epoch.epoch, self.weights

    def rows(self) -> list[dict]:
        return [dataclasses.asdict(epoch) for epoch in self.epochs]

    def arrays(self) -> dict[str, np.ndarray]:
        return {
            **{f"weights:{name}": value for name, value in self.weights.items()},
            **{f"best:{name}": value for name, value in self.best_weights.items()},
            **{f"optimizer:{name}": value for name, value in (self.optimizer or {}).items()},
        }

    def restore(self, checkpoint, identity: str, where: str) -> None:
        if checkpoint is None:
            return
        arrays, facts = checkpoint
        if facts.get("identity") != identity:
            raise RunError(
                f"the behavioural cloning checkpoint in {where}",
                "was made from other data, another configuration or another seed",
                "Delete it to clone afresh, or run with the former arguments",
            )
        parts: dict[str, dict[str, np.ndarray]] = {"weights": {}, "best": {}, "optimizer": {}}
        for key, value in arrays.items():
            part, name = key.split(":", 1)
            parts[part][name] = value
        self.weights, self.best_weights, self.optimizer = parts["weights"], parts["best"], parts["optimizer"]
        self.epochs = [BcEpoch(**row) for row in facts["epochs"]]
        self.best_epoch = int(np.argmax([epoch.validation_accuracy for epoch in self.epochs]))


class Cloner:
    """The gradient step; only the policy's weights take part."""

    def __init__(
        self, network: PolicyNetwork, config: Any, kind: DecisionKind, optimizer: Mapping[str, np.ndarray] | None
    ):
        """Args: config: as BcConfig; optimizer: what `state()` returned with these weights; None: a fresh start."""
        self._rest = {n: w for n, w in network.weights.items() if not n.startswith("policy/")}
        trained = {n: w for n, w in network.weights.items() if n.startswith("policy/")}
        self._adam = Adam(trained, config.adam_epsilon, optimizer)
        self._l2, self._smoothing = config.l2, config.label_smoothing
        self._loss = {
            "categorical": self._of_categorical,
            "binary": self._of_binary,
            "continuous": self._of_continuous,
        }[kind]
        specs = StepSpecs(network.normalizer.width, kind)
        self._step = traced(
            self._step_once, [specs.levels, specs.observation, specs.chosen_values, *[specs.number] * 3]
        )

    def step(self, part: Observations, learning_rate: float) -> np.ndarray:
        """[mean cross-entropy, accuracy before the step], float32."""
        return self._step(
            part.levels,
            part.row_observation(),
            part.chosen_values,
            np.float32(learning_rate),
            *self._adam.next_powers(),
        ).numpy()

    def weights(self) -> dict[str, np.ndarray]:
        return {**self._rest, **self._adam.weights()}

    def state(self) -> dict[str, np.ndarray]:
        return self._adam.state()

    def _step_once(self, levels, observation, taken, learning_rate, power1, power2):
        variables = self._adam.variables
        with tf.GradientTape() as tape:
            loss, accuracy = self._loss(row_logits(variables, levels), observation, taken)
            total = loss + weight_decay(variables, self._l2)
        self._adam.minimize(tape, total, learning_rate, power1, power2)
        return tf.stack([loss, accuracy])

    def _of_categorical(self, logits, observation, chosen):
        batch = tf.shape(chosen)[0]
        distribution = RowDistribution(logits, observation, batch)
        loss = -tf.reduce_mean(distribution.log_prob(chosen))
        if self._smoothing:
            loss = (1 - self._smoothing) * loss - self._smoothing * tf.reduce_mean(distribution.mean_log_prob())
        best = tf.math.unsorted_segment_max(logits, observation, batch)
        return loss, tf.reduce_mean(tf.cast(tf.gather(logits, chosen) >= best, tf.float32))

    def _of_binary(self, logits, observation, outputs):
        del observation
        targets = (1 - self._smoothing) * outputs + self._smoothing / 2
        # Not sigmoid_cross_entropy_with_logits: its gradient is a Reciprocal (optimizer.py, APPROXIMATE).
        loss = tf.reduce_mean(tf.nn.softplus(logits) - targets * logits)
        return loss, tf.reduce_mean(tf.cast((logits > 0) == (outputs > 0), tf.float32))

    def _of_continuous(self, logits, observation, outputs):
        del observation
        # Neighbours in a minibatch are pairs as good as any.
        alike = tf.sign(logits[1:] - logits[:-1]) == tf.sign(outputs[1:] - outputs[:-1])
        return tf.reduce_mean(tf.square(logits - outputs)) / 2, tf.reduce_mean(tf.cast(alike, tf.float32))
