"""Warm start: the policy learns to repeat the default heuristic's decisions, by cross-entropy on a default trace.

Of continuous decisions it learns the order, by least squares on their ranks, which is all that the allocator sees of
them. LLVM's default priorities are bit fields (stage, hint, class, size) over 32 bits: regressing on them would learn
the highest bit and nothing else.

The weights returned are those of the epoch with the best accuracy on functions that were not trained on, of the exact
network, greedy, as it would be shipped. For eviction, always answering "keep it" repeats 68 % of the choices.

A rule that can be repeated exactly drives its logits apart without end. A policy cloned from it then explores nothing,
and has no gradient either: of sigmoid(z) it is p (1 - p). `BcConfig.label_smoothing` bounds the logits.
"""

import dataclasses
import json
import math
import os
from collections.abc import Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from mlgo.learning.checkpoint import (
    digest_of,
    load_checkpoint,
    pop_prefixed,
    remove_superseded,
    save_checkpoint,
    with_prefix,
)
from mlgo.learning.cloning_config import BcConfig
from mlgo.learning.distribution import RowDistribution
from mlgo.learning.exact_network import exact_network
from mlgo.learning.network import PolicyNetwork, row_logits
from mlgo.learning.observations import DecisionKind, Observations, minibatches
from mlgo.learning.optimizer import Adam, StepSpecs, traced, weight_decay
from mlgo.run.determinism import derive_seed
from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.run.progress import Progress, Silent

_CHECKPOINT = "behavioural_cloning"

#: What the lowest and the highest number become, in units of the network's output: inside the range from 0 that a
#: policy can answer, with room for noise below, and few units wide, so that weights stay small.
LOWEST, HIGHEST = 1.0, 7.0


@dataclasses.dataclass(frozen=True)
class BcEpoch:
    """One epoch. Of numbers, the loss is half the squared error, and accuracy the share of pairs in equal order."""

    epoch: int
    loss: float  #: mean cross-entropy on the training part, in nats.
    #: training_accuracy, validation_accuracy: shares of equal decisions, in 0 .. 1.
    training_accuracy: float
    validation_accuracy: float


@dataclasses.dataclass(frozen=True)
class BcResult:
    """The cloned policy."""

    network: PolicyNetwork
    epochs: tuple[BcEpoch, ...]
    best_epoch: int
    training_decisions: int
    validation_decisions: int
    majority_accuracy: float  #: on the validation part, of always answering the training part's most frequent decision.

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
    the last one, to the same bytes as without the interruption.

    Raises: RunError: the checkpoint is damaged or of other arguments, or the loss is not finite.
    """
    config, progress = config or BcConfig(), progress or Silent()
    training, validation = split_by_function(observations, config.validation_share, seed)
    if observations.kind == "continuous":
        numbers = observations.numbers
        observations = dataclasses.replace(observations, outputs=ranks(numbers, numbers[training]))
    state = _State(network)
    identity = _identity(network, observations, seed, config)
    if resume_dir is not None and (saved := load_checkpoint(resume_dir, _CHECKPOINT)) is not None:
        remove_superseded(resume_dir, _CHECKPOINT)
        if saved[1].get("identity") != identity:
            wrong = "was made from other data, another configuration or another seed"
            remedy = "Delete it to clone afresh, or run with the former arguments"
            raise RunError(f"the behavioural cloning checkpoint in {resume_dir}", wrong, remedy)
        state.restore(*saved)
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
            wrong = f"the loss is {loss}"
            remedy = f"Lower BcConfig.learning_rate (now {config.learning_rate})"
            raise RunError(f"behavioural cloning, epoch {epoch}", wrong, remedy, ExitCode.INTERNAL_ERROR)
        weights = learner.weights()
        held_accuracy = accuracy_of(network.with_weights(weights), held_back) if len(validation) else accuracy
        state.finish_epoch(BcEpoch(epoch, float(loss), float(accuracy), float(held_accuracy)), weights, learner.state())
        if resume_dir is not None:
            rows = [dataclasses.asdict(each) for each in state.epochs]
            save_checkpoint(resume_dir, _CHECKPOINT, state.arrays(), {"identity": identity, "epochs": rows})
        progress.advance(1, f"accuracy {held_accuracy:.1%}")
    return BcResult(
        network.with_weights(state.best_weights),
        tuple(state.epochs),
        state.best_epoch,
        len(training),
        len(validation),
        _majority_accuracy(observations, training, validation if len(validation) else training),
    )


def accuracy_of(network: PolicyNetwork, observations: Observations) -> float:
    """Share of decisions that the shipped form of `network` repeats; of numbers, see `order_agreement`."""
    decisions = exact_network(network.weights).decisions(observations)
    if observations.kind == "continuous":
        return order_agreement(observations, decisions)
    return float(np.mean(decisions == observations.actions))


def ranks(answers: np.ndarray, known: np.ndarray) -> np.ndarray:
    """float32 [N]: `answers` on a scale on which `known`, float [K], lie evenly between LOWEST and HIGHEST.

    The place of a known value is its mean rank; others are interpolated linearly, the ends go on beyond them.
    """
    values, counts = np.unique(np.asarray(known, np.float32), return_counts=True)
    middle = np.cumsum(counts) - counts / 2.0
    targets = (LOWEST + (HIGHEST - LOWEST) * middle / counts.sum()).astype(np.float32)
    return np.interp(answers, values, targets).astype(np.float32)


def order_agreement(observations: Observations, answers: np.ndarray) -> float:
    """Share of neighbouring decisions of one function that `answers` [N] put in the same order as the decisions taken.

    Neighbours that were decided alike do not count; answered alike they count half, as with any constant answer.
    """
    pairs = np.flatnonzero(observations.group[1:] == observations.group[:-1])
    wanted = np.sign(observations.numbers[pairs + 1] - observations.numbers[pairs])
    got = np.sign(np.asarray(answers)[pairs + 1] - np.asarray(answers)[pairs])
    differ = wanted != 0
    return float(np.mean((1.0 + wanted[differ] * got[differ]) / 2.0)) if differ.any() else 0.5


def _majority_accuracy(observations: Observations, training: np.ndarray, held_back: np.ndarray) -> float:
    """As `BcResult.majority_accuracy`; the lowest among equally frequent decisions."""
    if observations.kind == "continuous":
        return order_agreement(observations.select(held_back), np.zeros(len(held_back)))
    actions = observations.actions
    return float(np.mean(actions[held_back] == np.argmax(np.bincount(actions[training]))))


def _identity(network: PolicyNetwork, observations: Observations, seed: int, config: BcConfig) -> str:
    data = {"levels": observations.levels, "chosen": observations.chosen, "group": observations.group}
    if observations.outputs is not None:
        data["outputs"] = observations.outputs
    return json.dumps([digest_of(network.weights), digest_of(data), seed, dataclasses.asdict(config)], sort_keys=True)


class _State:
    """What a checkpoint holds: current and best weights, optimiser, finished epochs."""

    def __init__(self, network: PolicyNetwork):
        self.weights: dict[str, np.ndarray] = dict(network.weights)
        self.best_weights = self.weights
        self.optimizer: dict[str, np.ndarray] = {}
        self.epochs: list[BcEpoch] = []
        self.best_epoch = 0

    def finish_epoch(
        self, epoch: BcEpoch, weights: Mapping[str, np.ndarray], optimizer: Mapping[str, np.ndarray]
    ) -> None:
        self.epochs.append(epoch)
        self.weights, self.optimizer = dict(weights), dict(optimizer)
        if len(self.epochs) == 1 or epoch.validation_accuracy > self.epochs[self.best_epoch].validation_accuracy:
            self.best_epoch, self.best_weights = epoch.epoch, self.weights

    def arrays(self) -> dict[str, np.ndarray]:
        current = {**with_prefix("weights:", self.weights), **with_prefix("optimizer:", self.optimizer)}
        return {**current, **with_prefix("best:", self.best_weights)}

    def restore(self, arrays: dict[str, np.ndarray], facts: Mapping[str, Any]) -> None:
        self.weights, self.best_weights = pop_prefixed("weights:", arrays), pop_prefixed("best:", arrays)
        self.optimizer = pop_prefixed("optimizer:", arrays)
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
        losses = {"categorical": self._of_categorical, "binary": self._of_binary, "continuous": self._of_continuous}
        self._loss = losses[kind]
        specs = StepSpecs(network.normalizer.width, kind)
        self._step = traced(self._step_once, [*specs.decisions, *[specs.number] * 3])

    def step(self, part: Observations, learning_rate: float) -> np.ndarray:
        """[mean cross-entropy, accuracy before the step], float32."""
        return self._step(*part.tensors(), np.float32(learning_rate), *self._adam.next_powers()).numpy()

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
        targets = (1 - self._smoothing) * outputs + self._smoothing / 2
        # Not sigmoid_cross_entropy_with_logits: its gradient is a Reciprocal (optimizer.py, APPROXIMATE).
        loss = tf.reduce_mean(tf.nn.softplus(logits) - targets * logits)
        return loss, tf.reduce_mean(tf.cast((logits > 0) == (outputs > 0), tf.float32))

    def _of_continuous(self, logits, observation, outputs):
        # Neighbours in a minibatch are pairs as good as any.
        alike = tf.sign(logits[1:] - logits[:-1]) == tf.sign(outputs[1:] - outputs[:-1])
        return tf.reduce_mean(tf.square(logits - outputs)) / 2, tf.reduce_mean(tf.cast(alike, tf.float32))
