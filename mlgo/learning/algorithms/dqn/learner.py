"""DQN, the algorithm of the original RFC ("An MLGO framework in LLVM", 2020), for returns that come once per function.

A network learns Q(observation, decision) by regression, decisions are drawn by softmax(Q / temperature), and the
shipped policy takes the highest Q. The target of a decision is the discounted return of the rest of its function as it
was played: with one reward at the end of a function, bootstrapping would only carry it back by one step per iteration
(as ml-compiler-opt's dqn_nn_agent.gin does), so there is no target network. What remains of DQN (Mnih et al., 2015) is
the Q-network, the replay memory and exploration by value. The loss is squared and not Huber's: Q is then the mean of
the returns and not nearer to their median, where a decision that saves a little nearly always and loses much now and
then looks good. Q is split into the value of the observation and the advantage of the decision (Wang et al.,
arXiv:1511.06581); the advantage is the policy network's z:

    categorical  Q(row) = V + z(row) - mean of z over the observation's rows, weighted by their probabilities
    binary       Q(yes) = V + z (1 - p),  Q(no) = V - z p

where the probabilities are those the decision was drawn with. Advantages then have mean 0 for every observation, so
they do not depend on how well V fits: an observation with good returns is not mistaken for a good decision. The unit of
Q is the deviation of the first iteration's returns. A clone's logits are a valid start. Epsilon-greedy exploration is
not offered, because compilers take weights and no weights express it.
"""

import dataclasses
from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from mlgo.learning.checkpoint import numbered, pop_numbered
from mlgo.learning.distribution import decision_distribution
from mlgo.learning.divergence import failed_step
from mlgo.learning.exact_network import exact_network
from mlgo.learning.learner import Learner, Sample, Variant
from mlgo.learning.network import PolicyNetwork, exploring_network, row_logits, values
from mlgo.learning.observations import Observations, concatenate, minibatches, rows_of
from mlgo.learning.optimizer import Adam, StepSpecs, traced, weight_decay
from mlgo.learning.returns import figures_of_returns, returns_of


@dataclasses.dataclass(frozen=True)
class _Memory:
    """One iteration's decisions."""

    observations: Observations
    targets: np.ndarray  #: float32 [N].
    probabilities: np.ndarray  #: float32 [M], of each row, or of yes, when the decision was drawn.


class DqnLearner(Learner):
    """DQN. The logits of the network to start from count as advantages."""

    needs_finite_actions = True

    def prepare(self, network: PolicyNetwork, state: dict[str, np.ndarray]) -> None:
        self.updates = int(state.pop("updates", 0))
        self._unit = float(state.pop("unit", 0.0))
        self._replay = [
            _Memory(Observations.from_arrays(record, self.problem), record["targets"], record["probabilities"])
            for record in pop_numbered("replay", state)
        ]
        self._adam = Adam(network.weights, self.config.adam_epsilon, state)
        specs = StepSpecs(network.normalizer.width, self.problem.decision_kind)
        batch = [*specs.decisions, specs.values, specs.summaries, specs.values]
        self._step = traced(self._step_once, [*batch, specs.number, specs.number])

    @property
    def network(self) -> PolicyNetwork:
        """A copy of the current weights; its greedy decisions have the highest Q."""
        return PolicyNetwork(self.normalizer, self._adam.weights())

    def temperature(self, iteration: int) -> float:
        config = self.config
        return max(config.final_temperature, config.temperature * config.temperature_decay**iteration)

    def variants(self, iteration: int) -> list[Variant]:
        network = exploring_network(self.network, self.temperature(iteration))
        return [Variant(network, exploring=True)] * self.config.samples_per_module

    def state(self) -> dict[str, np.ndarray]:
        """Adam's, the unit of Q, the number of updates, and the replay memory."""
        replay = [
            {**each.observations.arrays(), "targets": each.targets, "probabilities": each.probabilities}
            for each in self._replay
        ]
        counts = {"updates": np.array(self.updates, np.int64), "unit": np.array(self._unit, np.float64)}
        return {**self._adam.state(), **counts, **numbered("replay", replay)}

    def update(self, iteration: int, samples: Sequence[Sample]) -> dict[str, float]:
        config = self.config
        observations, returns = returns_of(samples, leave_one_out=config.samples_per_module > 1)
        if not self._unit:
            self._unit = max(float(returns.std()), 1e-6)
        probabilities, entropy = self._behaviour(iteration, observations)
        discounted = returns * np.float32(config.discount) ** remaining_decisions(observations.group)
        newest = _Memory(observations, (discounted / self._unit).astype(np.float32), probabilities)
        self._replay = [*self._replay, newest][-config.replay_iterations :]
        memory = concatenate([each.observations for each in self._replay])
        targets = np.concatenate([each.targets for each in self._replay])
        probabilities = np.concatenate([each.probabilities for each in self._replay])
        summaries = memory.summaries()
        # In the memory's own unit, whatever the first iteration's was.
        limit = config.divergence_loss * max(1.0, float(np.mean(np.square(targets, dtype=np.float64))))
        totals: list[np.ndarray] = []
        for epoch in range(config.epochs):
            stream = (self.seed, "dqn minibatches", self.updates, epoch)
            for which in minibatches(len(memory), config.minibatch, *stream):
                part = memory.select(which)
                drawn = probabilities[rows_of(memory.offsets, which)]
                batch = (*part.tensors(), drawn, summaries[which], targets[which])
                step = self._step(*batch, *self._adam.next_powers()).numpy()
                if not np.isfinite(step).all() or step[0] > limit:
                    wrong = f"minibatch {len(totals)} has loss {step[0]:.4g}"
                    raise failed_step(f"DQN update {self.updates}", step, wrong, config)
                totals.append(step)
        self.updates += 1
        mean = np.mean(totals, axis=0, dtype=np.float64)
        return {
            "decisions": float(len(observations)),
            "replayed_decisions": float(len(memory)),
            **figures_of_returns(returns),
            "explained_variance": float(1.0 - mean[1] / max(float(targets.var(dtype=np.float64)), 1e-12)),
            "temperature": self.temperature(iteration),
            "entropy": entropy,
            "minibatches": float(len(totals)),
            "loss": float(mean[0]),
            "gradient_norm": float(mean[2]),
        }

    def _behaviour(self, iteration: int, observations: Observations) -> tuple[np.ndarray, float]:
        """(as `_Memory.probabilities`, mean entropy in nats) of the decisions as they were drawn."""
        exact = exact_network(exploring_network(self.network, self.temperature(iteration)).weights)
        logits = exact.row_logits_tensor(observations.levels)
        kind, batch = self.problem.decision_kind, tf.constant(len(observations))
        drawn = decision_distribution(kind, logits, tf.constant(observations.row_observation()), batch, 1.0, None)
        probabilities = tf.sigmoid(logits) if kind == "binary" else drawn.row_probabilities()
        return probabilities.numpy(), float(tf.reduce_mean(drawn.entropy()))

    def _step_once(self, levels, observation, taken, probabilities, summaries, targets, power1, power2):
        """One gradient step. Returns [loss, mean squared error, gradient norm]."""
        variables, config = self._adam.variables, self.config
        with tf.GradientTape() as tape:
            advantage = self._advantages(row_logits(variables, levels), observation, taken, probabilities)
            q = values(variables, summaries) + advantage
            loss = 0.5 * tf.reduce_mean(tf.square(targets - q))
            total = loss + weight_decay(variables, config.l2)
        norm = self._adam.minimize(tape, total, config.learning_rate, power1, power2, config.gradient_clipping)
        return tf.stack([loss, tf.reduce_mean(tf.square(targets - q)), norm])

    def _advantages(self, logits, observation, taken, probabilities):
        """float32 [B], of the decisions taken."""
        if self.problem.decision_kind == "binary":
            return logits * (taken - probabilities)
        mean = tf.math.unsorted_segment_sum(logits * probabilities, observation, tf.shape(taken)[0])
        return tf.gather(logits, taken) - mean


def remaining_decisions(group: np.ndarray) -> np.ndarray:
    """int64 [N]: how many decisions of the same group come after each."""
    order = np.argsort(group, kind="stable")
    _, starts, counts = np.unique(group[order], return_index=True, return_counts=True)
    place = np.arange(len(group)) - np.repeat(starts, counts)
    result = np.empty(len(group), np.int64)
    result[order] = np.repeat(counts, counts) - 1 - place
    return result
