"""BC-Max: imitates the best of several policies' decisions (Marinov et al., arXiv:2403.19462).

Each module is compiled under every policy to imitate, under the current policy, and several times under the current
policy while it explores. The decisions of the best compile are remembered, and the current policy is trained to repeat
them by the cross-entropy of behavioural cloning. The paper's section 5 does three to five rounds over a whole corpus;
here a round is an iteration with some modules, and the memory spans iterations.
"""

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np

from mlgo.learning.behavioural_cloning import Cloner
from mlgo.learning.checkpoint import numbered, pop_numbered
from mlgo.learning.divergence import failed_step
from mlgo.learning.learner import Learner, Sample, Variant
from mlgo.learning.network import PolicyNetwork, exploring_network
from mlgo.learning.observations import Observations, concatenate, minibatches
from mlgo.learning.returns import nothing_learned
from mlgo.problems.problem import Problem


@dataclasses.dataclass(frozen=True)
class Remembered:
    """Decisions of one module worth repeating."""

    improvement: float  #: of the module, by the compile they are from; with granularity "context" the best seen.
    observations: Observations  #: `group` is an index into `contexts`.
    contexts: tuple[str, ...]  #: names; each comes once.
    credits: np.ndarray  #: float64 [contexts], of each by the compile its decisions are from.


class BcMaxLearner(Learner):
    """BC-Max. Observations are packed with the normaliser of the trained network, so `policies` may have others.

    Continuous decisions are imitated as they are, so all policies must answer on one scale.

    Raises: ValueError: there are neither policies nor exploring samples.
    """

    def prepare(self, network: PolicyNetwork, state: dict[str, np.ndarray]) -> None:
        if not self.policies and not self.config.exploring_samples:
            raise ValueError("BcMaxLearner: without policies and exploring_samples there is nothing better to imitate")
        self.updates = int(state.pop("updates", 0))
        self._memory = memory_from(state, self.problem)
        self._cloner = Cloner(network, self.config, self.problem.decision_kind, state or None)

    @property
    def network(self) -> PolicyNetwork:
        return PolicyNetwork(self.normalizer, self._cloner.weights())

    def variants(self, iteration: int) -> list[Variant]:
        """The policies to imitate and the current one, greedy; then the current one, exploring."""
        network, config = self.network, self.config
        deviation = config.deviation if self.problem.decision_kind == "continuous" else None
        exploring = Variant(exploring_network(network, config.temperature, deviation), exploring=True)
        greedy = [Variant(policy, exploring=False) for policy in (*self.policies, network)]
        return greedy + [exploring] * config.exploring_samples

    def state(self) -> dict[str, np.ndarray]:
        """Adam's, the number of updates, and the memory."""
        return {**self._cloner.state(), "updates": np.array(self.updates, np.int64), **arrays_of(self._memory)}

    def update(self, iteration: int, samples: Sequence[Sample]) -> dict[str, float]:
        config = self.config
        found: dict[str, list[tuple[int, Remembered]]] = {}
        for sample in samples:
            if (entry := entry_of(sample)) is not None:
                found.setdefault(sample.module, []).append((sample.variant, entry))
        if not found:
            raise nothing_learned(samples, "decision with a score that could be imitated")
        best_variants, gains = [], []
        for module, entries in found.items():
            # What is remembered comes first: it stays when nothing is better. The module moves to the memory's young
            # end.
            former = [self._memory.pop(module)] if module in self._memory else []
            self._memory[module] = best_of([*former, *(entry for _, entry in entries)], config.granularity)
            best_variant, best = max(entries, key=lambda item: (item[1].improvement, -item[0]))
            best_variants.append(best_variant)
            gains.append(best.improvement)
        for module in list(self._memory)[: -config.memory_modules]:
            del self._memory[module]
        loss, accuracy, minibatches = self._clone()
        self.updates += 1
        deviations = [np.std([entry.improvement for _, entry in entries]) for entries in found.values()]
        fixed = len(self.policies)
        return {
            "modules": float(len(found)),
            "remembered_modules": float(len(self._memory)),
            "mean_best_improvement": float(np.mean(gains)),
            "improvement_deviation": float(np.mean(deviations)),
            "best_is_another_policy": float(np.mean([variant < fixed for variant in best_variants])),
            "best_is_exploring": float(np.mean([variant > fixed for variant in best_variants])),
            "minibatches": float(minibatches),
            "loss": loss,
            "accuracy": accuracy,
        }

    def _clone(self) -> tuple[float, float, int]:
        """(mean loss, mean accuracy, gradient steps) of the passes over the memory."""
        config = self.config
        memory = concatenate([entry.observations for entry in self._memory.values()])
        sums, steps = np.zeros(2), 0
        for epoch in range(config.epochs):
            stream = (self.seed, "bc-max minibatches", self.updates, epoch)
            for which in minibatches(len(memory), config.minibatch, *stream):
                step = self._cloner.step(memory.select(which), config.learning_rate)
                if not np.isfinite(step).all():
                    wrong = f"minibatch {steps} has loss {step[0]}"
                    raise failed_step(f"BC-Max update {self.updates}", step, wrong, config)
                sums += step * len(which)
                steps += 1
        loss, accuracy = sums / (len(memory) * config.epochs)
        return float(loss), float(accuracy), steps


def entry_of(sample: Sample) -> Remembered | None:
    """The decisions of `sample` in contexts that have a score; None if there are none."""
    if sample.observations is None:
        return None
    names = tuple(sorted(set(sample.contexts) & set(sample.credits)))
    place = {name: index for index, name in enumerate(names)}
    by_context = np.array([place.get(name, -1) for name in sample.contexts], np.int64)
    observations = _regrouped(sample.observations, by_context)
    credits = np.array([sample.credits[name] for name in names])
    return Remembered(sample.improvement, observations, names, credits) if len(observations) else None


def _regrouped(observations: Observations, groups: np.ndarray) -> Observations:
    """`observations` in other groups. Args: groups: int64, by the former group; -1: its observations are left out."""
    group = groups[observations.group]
    kept = np.flatnonzero(group >= 0)
    return dataclasses.replace(observations.select(kept), group=group[kept])


def best_of(entries: Sequence[Remembered], granularity: str) -> Remembered:
    """The best of one module's entries, whole or context by context; the first of equals."""
    best = max(entries, key=lambda entry: entry.improvement)  # max takes the first of equals.
    if granularity == "module":
        return best
    chosen: dict[str, tuple[float, int, int]] = {}
    for index, entry in enumerate(entries):
        for place, name in enumerate(entry.contexts):
            if name not in chosen or entry.credits[place] > chosen[name][0]:
                chosen[name] = (float(entry.credits[place]), index, place)
    names = tuple(sorted(chosen))
    parts = []
    for index, entry in enumerate(entries):
        target = np.full(len(entry.contexts), -1, np.int64)
        for rank, name in enumerate(names):
            if chosen[name][1] == index:
                target[chosen[name][2]] = rank
        parts.append(_regrouped(entry.observations, target))
    observations = dataclasses.replace(concatenate(parts), group=np.concatenate([part.group for part in parts]))
    return Remembered(best.improvement, observations, names, np.array([chosen[name][0] for name in names]))


def arrays_of(memory: Mapping[str, Remembered]) -> dict[str, np.ndarray]:
    records = [
        {
            **entry.observations.arrays(),
            "module": _numbers_of([module]),
            "contexts": _numbers_of(entry.contexts),
            "credits": entry.credits,
            "improvement": np.array(entry.improvement),
        }
        for module, entry in memory.items()
    ]
    return numbered("memory", records)


def memory_from(arrays: dict[str, np.ndarray], problem: Problem) -> dict[str, Remembered]:
    """The inverse of `arrays_of`; removes its arrays."""
    memory: dict[str, Remembered] = {}
    for record in pop_numbered("memory", arrays):
        [module], contexts = _texts_of(record["module"]), tuple(_texts_of(record["contexts"]))
        observations = Observations.from_arrays(record, problem)
        memory[module] = Remembered(float(record["improvement"]), observations, contexts, record["credits"])
    return memory


def _numbers_of(texts: Sequence[str]) -> np.ndarray:
    """Names, which hold no NUL, as uint8 [bytes]: checkpoints hold numbers only."""
    return np.frombuffer("\0".join(texts).encode("utf-8", "surrogateescape"), np.uint8)


def _texts_of(numbers: np.ndarray) -> list[str]:
    return numbers.tobytes().decode("utf-8", "surrogateescape").split("\0")
