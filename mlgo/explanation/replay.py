"""Asks a policy about states that a compile went through, without the compiler: NumPy, bit for bit what every backend computes.

Whether two decisions differ is a matter of their kind. A choice, and yes or no, differ when they are not equal. Numbers (priorities) are
never looked at by themselves, only ordered, so a number differs when it orders its observation against the one before it in the same
function otherwise.
"""

import dataclasses

import numpy as np

from mlgo.explanation.recorded import RecordedDecisions
from mlgo.learning.exact_network import exact_network, greedy_decisions, log_probabilities
from mlgo.learning.network import PolicyNetwork
from mlgo.learning.observations import ObservationError, Observations, pack
from mlgo.problems.problem import Problem
from mlgo.run.exit_codes import RunError


@dataclasses.dataclass(frozen=True)
class Replay:
    """A policy's answers in N states with M rows altogether.

    Attributes:
      observations: the states as the policy sees them; their decisions are the policy's answers.
      logits: float32 [M].
      policy: [N], what it decides, as the compiler would log it.
      heuristic: [N], what the heuristic decides in the same state; None: unknown.
      differs: bool [N]; None where the heuristic is unknown.
    """

    observations: Observations
    logits: np.ndarray
    policy: np.ndarray
    heuristic: np.ndarray | None
    differs: np.ndarray | None

    def row_of(self, decision: int, choice: float) -> int:
        """The row that stands for `choice` in one state: the candidate at that position, or the only one."""
        begin, end = self.observations.offsets[decision : decision + 2]
        if self.observations.kind != "categorical":
            return int(begin)
        return int(begin + np.flatnonzero(self.observations.positions[begin:end] == choice)[0])

    def runner_up(self, decision: int) -> int | None:
        """The row of the policy's second choice; None: there is only one, or it does not choose among rows."""
        begin, end = map(int, self.observations.offsets[decision : decision + 2])
        others = [row for row in range(begin, end) if row != self.row_of(decision, self.policy[decision])]
        return max(others, key=lambda row: (self.logits[row], -row), default=None)

    def probability(self, decision: int, choice: float) -> float | None:
        """Of `choice` when decisions are drawn from the policy; None for numbers."""
        kind = self.observations.kind
        if kind == "continuous":
            return None
        begin, end = self.observations.offsets[decision : decision + 2]
        logits = self.logits[begin:end].astype(np.float64)
        if kind == "binary":
            return float(np.exp(-np.logaddexp(0.0, -logits[0] if choice else logits[0])))
        chances = np.exp(logits - logits.max())
        return float(chances[self.row_of(decision, choice) - begin] / chances.sum())

    def margin(self, decision: int) -> float | None:
        """How much clearer, in logits, the policy prefers its answer to the heuristic's, or where they agree to its second choice.

        Yes or no: |z|. None: there is no alternative, or the answer is a number.
        """
        if self.observations.kind == "continuous":
            return None
        own = self.row_of(decision, self.policy[decision])
        if self.observations.kind == "binary":
            return abs(float(self.logits[own]))
        other = self.alternative(decision)
        return None if other is None else float(self.logits[own]) - float(self.logits[other])

    def alternative(self, decision: int) -> int | None:
        """The row that a choice is measured against: the heuristic's, or where they agree the second choice's."""
        if self.observations.kind != "categorical":
            return None
        if self.differs is not None and self.differs[decision]:
            return self.row_of(decision, self.heuristic[decision])
        return self.runner_up(decision)


def replay(network: PolicyNetwork, problem: Problem, recorded: RecordedDecisions) -> Replay:
    """What `network` answers in the states of `recorded`.

    Raises: RunError: the states are not those of a compile of this problem.
    """
    exact = exact_network(network.weights)
    try:
        observations = pack(recorded.features, recorded.taken, network.normalizer, problem, recorded.context)
        heuristic = recorded.heuristic
        if heuristic is not None:
            theirs = pack(recorded.features, heuristic, network.normalizer, problem, recorded.context)
    except ObservationError as error:
        raise RunError(
            f"decisions of {recorded.module}", str(error), "Delete the output folder and run again"
        ) from error
    logits = exact.row_logits(observations.levels)
    greedy = greedy_decisions(logits, observations)
    differs = (
        None if heuristic is None else comparable(greedy, observations) != comparable(theirs.actions, observations)
    )
    observations = with_decisions(observations, greedy)
    unit = problem.output_unit or 1
    return Replay(
        observations, logits, greedy * unit if observations.kind == "continuous" else greedy, heuristic, differs
    )


def with_decisions(observations: Observations, decisions: np.ndarray) -> Observations:
    """The same states, decided otherwise.

    Args: decisions: [N], as `Observations.actions`; each is legal in its state.
    """
    if observations.kind != "categorical":
        return dataclasses.replace(observations, answers=decisions.astype(np.float32))
    row_decision = np.repeat(decisions, np.diff(observations.offsets))
    return dataclasses.replace(
        observations, chosen=np.flatnonzero(observations.positions == row_decision).astype(np.int64)
    )


def comparable(decisions: np.ndarray, observations: Observations) -> np.ndarray:
    """int64 [N]: equal where two ways to decide do the same; see the module's docstring.

    Args: decisions: [N], as `Observations.actions`.
    """
    if observations.kind != "continuous":
        return np.asarray(decisions, np.int64)
    order = np.zeros(len(decisions), np.int64)
    order[1:] = np.sign(np.diff(np.asarray(decisions, np.float64)))
    same_function = np.zeros(len(decisions), bool)
    same_function[1:] = observations.group[1:] == observations.group[:-1]
    return np.where(same_function, order, 0)


def confidence(logits: np.ndarray, observations: Observations) -> np.ndarray:
    """float64 [N]: the probability of the decisions in `observations` under `logits`; of numbers the number itself, in network units."""
    if observations.kind == "continuous":
        return greedy_decisions(logits, observations).astype(np.float64)
    return np.exp(log_probabilities(logits, observations).astype(np.float64))


def disagreements(replayed: Replay, recorded: RecordedDecisions) -> int:
    """How many of the decisions that the compiler took under the policy are not those of its replay: 0, or something is broken."""
    return int((np.asarray(replayed.policy) != recorded.taken).sum())
