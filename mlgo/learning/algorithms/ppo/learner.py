"""PPO with a clipped objective (Schulman et al., arXiv:1707.06347) on function-level returns.

The objective is that of tf-agents' PPOClipAgent (agent.py). Work that its `train` repeats is done once: levels are
computed when observations are packed, values and advantages once per update, and rows exist for legal candidates only.

The compiler does not log the probabilities of the behaviour policy. They are recomputed with the exact network of the
weights the data was collected with, which is bit for bit the policy that was sampled from, so the first importance
ratios are near 1 but not exactly 1: they account for the rounding of the shipped policy.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import tensorflow as tf

from mlgo.learning.algorithms.ppo.agent import clip_agent
from mlgo.learning.checkpoint import pop_prefixed, with_prefix
from mlgo.learning.distribution import decision_distribution
from mlgo.learning.divergence import Divergence, DivergenceError, failed_step
from mlgo.learning.exact_network import ExactLayer, ExactNetwork, exact_network
from mlgo.learning.learner import Learner, Sample, Variant
from mlgo.learning.network import PolicyNetwork, exploring_network, row_logits, values
from mlgo.learning.observations import Observations, minibatches
from mlgo.learning.optimizer import Adam, StepSpecs, traced, weight_decay
from mlgo.learning.returns import MovingAverage, figures_of_returns, returns_of

#: Returns that differ by less are equal.
_SMALLEST_UNIT = 1e-9

#: What one gradient step returns, in this order.
_STEP_FIGURES = ("loss", "policy_loss", "value_loss", "entropy", "kl", "clip_fraction", "gradient_norm")

#: Before the names of the moving averages in the learner's state.
_BASELINE = "baseline/"


class PpoLearner(Learner):
    """PPO. Equal (network, seed, batches) give equal weights after determinism.configure_tensorflow()."""

    def prepare(self, network: PolicyNetwork, state: dict[str, np.ndarray]) -> None:
        config, problem = self.config, self.problem
        self.updates = int(state.pop("updates", 0))
        self._baseline = None
        if config.baseline == "moving_average":
            self._baseline = MovingAverage(config.moving_average_decay, pop_prefixed(_BASELINE, state))
        self._adam = Adam(network.weights, config.adam_epsilon, state)
        kind = problem.decision_kind
        positions = (problem.action_count or 1) if kind == "categorical" else 1
        self._agent = clip_agent(self._adam.variables, positions, config, binary=kind == "binary")
        specs = StepSpecs(network.normalizer.width, kind)
        batch = [*specs.decisions, *[specs.values] * 3, specs.summaries]
        self._step = traced(self._step_once, [*batch, *[specs.number] * 3])
        exact = [tf.TensorSpec(array.shape, tf.float32) for array in _flat(exact_network(network.weights))]
        self._evaluate = traced(self._evaluate_batch, [*specs.decisions, exact])

    @property
    def network(self) -> PolicyNetwork:
        return PolicyNetwork(self.normalizer, self._adam.weights())

    @property
    def _exploring(self) -> PolicyNetwork:
        deviation = self.config.deviation if self.problem.decision_kind == "continuous" else None
        return exploring_network(self.network, self.config.temperature, deviation)

    def state(self) -> dict[str, np.ndarray]:
        baseline = self._baseline.state() if self._baseline is not None else {}
        updates = np.array(self.updates, np.int64)
        return {**self._adam.state(), **with_prefix(_BASELINE, baseline), "updates": updates}

    def variants(self, iteration: int) -> list[Variant]:
        return [Variant(self._exploring, exploring=True)] * self.config.samples_per_module

    def update(self, iteration: int, samples: Sequence[Sample]) -> dict[str, float]:
        leave_one_out = self.config.baseline == "samples" and self.config.samples_per_module > 1
        metrics = self.learn(*returns_of(samples, leave_one_out, self._baseline))
        if self.problem.decision_kind == "continuous":
            del metrics["entropy"]  # That of the noise, a constant of the configuration.
        return metrics

    def learn(self, observations: Observations, returns: np.ndarray) -> dict[str, float]:
        """Improves the policy on one iteration's data, collected with the current weights.

        Args: returns: float32 [N], of the decisions in `observations`.
        Returns: figures of the update: the first five from before it, then how many minibatches there were and whether
          the KL limit ended it after them (`stopped_early`), then means over the minibatches. `explained_variance` is
          1 - var(return - value) / var(return): 0 for a constant value network.
        Raises: DivergenceError: a loss is not finite or has exploded; the learner must not be used after that.
        """
        config, update = self.config, f"PPO update {self.updates}"
        if not np.isfinite(returns).all():
            wrong, remedy = "returns hold NaN or infinity", "Check the scores in the training logs"
            raise DivergenceError(Divergence.NOT_FINITE, update, wrong, remedy)
        behaviour, summaries, predicted = self._evaluate_behaviour(observations)
        # The value network learns returns of mean square 1, so that its loss says the same of bytes and of ratios.
        unit = max(float(np.sqrt(np.mean(np.square(returns, dtype=np.float64)))), _SMALLEST_UNIT)
        targets = (returns / np.float32(unit)).astype(np.float32)
        advantages = targets - predicted
        # As tf-agents' ppo_agent._normalize_advantages, over the iteration instead of a minibatch.
        normalized = ((advantages - advantages.mean()) / np.sqrt(advantages.var() + 1e-8)).astype(np.float32)

        rate = np.float32(config.learning_rate)
        totals: list[np.ndarray] = []
        stopped = False
        for which in self._minibatches(len(observations)):
            batch = (*observations.select(which).tensors(), behaviour[which], normalized[which], targets[which])
            step = self._step(*batch, summaries[which], *self._adam.next_powers(), rate).numpy()
            if not np.isfinite(step).all() or abs(step[0]) > config.divergence_loss:
                wrong = f"minibatch {len(totals)} has loss {step[0]:.4g} and gradient norm {step[6]:.4g}"
                raise failed_step(update, step, wrong, config)
            totals.append(step)
            stopped = bool(step[4] > config.highest_kl)
            if stopped:
                break
        self.updates += 1
        mean = np.mean(totals, axis=0, dtype=np.float64)
        return {
            "decisions": float(len(observations)),
            **figures_of_returns(returns),
            "explained_variance": float(1.0 - advantages.var() / max(float(targets.var()), 1e-12)),
            "advantage_deviation": unit * float(advantages.std()),
            "minibatches": float(len(totals)),
            "stopped_early": float(stopped),
            **dict(zip(_STEP_FIGURES, mean.tolist(), strict=True)),
        }

    def _minibatches(self, count: int) -> Iterator[np.ndarray]:
        for epoch in range(self.config.epochs):
            yield from minibatches(count, self.config.minibatch, self.seed, "ppo minibatches", self.updates, epoch)

    def _evaluate_behaviour(self, observations: Observations) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(log probabilities of the decisions, summaries, value estimates) under the current weights."""
        exact = _flat(exact_network(self._exploring.weights))
        pieces = [self._evaluate(*part.tensors(), exact) for part in observations.parts(self.config.minibatch)]
        return tuple(np.concatenate([piece[i].numpy() for piece in pieces]) for i in range(3))

    def _distribution(self, logits, observation, batch):
        problem, deviation = self.problem, self.config.deviation
        return decision_distribution(problem.decision_kind, logits, observation, batch, deviation, problem.max_output)

    def _evaluate_batch(self, levels, observation, taken, exact):
        hidden = tuple(map(ExactLayer, exact[:-1:2], exact[1:-1:2]))
        logits = ExactNetwork(hidden, exact[-1]).row_logits_tensor(levels)
        batch = tf.shape(taken)[0]
        behaviour = self._distribution(logits, observation, batch).log_prob(taken)
        # The sums are of whole numbers below 2^24: exact, whatever their order.
        summaries = tf.math.unsorted_segment_mean(tf.cast(levels, tf.float32), observation, batch)
        return behaviour, summaries, values(self._adam.variables, summaries)

    def _step_once(self, levels, observation, taken, behaviour, advantages, returns, summaries, power1, power2, rate):
        """One gradient step. Returns _STEP_FIGURES."""
        variables, agent, config = self._adam.variables, self._agent, self.config
        batch = tf.shape(taken)[0]
        with tf.GradientTape() as tape:
            logits = row_logits(variables, levels) * np.float32(1.0 / config.temperature)
            policy = self._distribution(logits, observation, batch)
            # Only the structure of the time steps is looked at by both losses.
            steps = agent.time_step_spec
            policy_loss = agent.policy_gradient_loss(steps, taken, behaviour, advantages, policy, weights=1.0)
            entropy = policy.entropy()
            entropy_loss = agent.entropy_regularization_loss(steps, entropy, weights=1.0)
            squares = tf.math.squared_difference(returns, values(variables, summaries))
            value_loss = config.value_loss * tf.reduce_mean(squares)
            loss = policy_loss + entropy_loss + value_loss + weight_decay(variables, config.l2)
        norm = self._adam.minimize(tape, loss, rate, power1, power2, config.gradient_clipping)
        log_ratio = policy.log_prob(taken) - behaviour
        # Schulman's low-variance estimate of KL(behaviour || policy): E[(r - 1) - log r] >= 0.
        kl = tf.reduce_mean(tf.exp(log_ratio) - 1.0 - log_ratio)
        clipped = tf.reduce_mean(tf.cast(tf.abs(tf.exp(log_ratio) - 1.0) > config.clip, tf.float32))
        return tf.stack([loss, policy_loss, value_loss, tf.reduce_mean(entropy), kl, clipped, norm])


def _flat(network: ExactNetwork) -> list[np.ndarray]:
    """[kernel, bias, kernel, bias, ..., logits]: what a tf.function takes."""
    return [array for layer in network.hidden for array in layer[:2]] + [network.logits]
