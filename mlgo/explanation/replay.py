"""Evaluates a policy in recorded states of a compile; a network of ours in NumPy, bit for bit as every backend computes
it.

Categorical and binary decisions differ when they are unequal. Continuous decisions (priorities) only order live ranges:
one differs when it orders its live range against the preceding one of the same function differently.
"""

import dataclasses

import numpy as np

from mlgo.explanation.queried_policy import QueriedPolicy
from mlgo.explanation.recorded import RecordedDecisions
from mlgo.learning.exact_network import greedy_decisions, log_probabilities
from mlgo.learning.observations import ObservationError, Observations
from mlgo.run.exit_codes import RunError


@dataclasses.dataclass(frozen=True)
class Replay:
    """A policy's answers in N recorded states with M rows in total."""

    asked: QueriedPolicy
    recorded: RecordedDecisions
    observations: Observations  #: the states, with the policy's decisions.
    logits: np.ndarray  #: float32 [M].
    policy: np.ndarray  #: [N], the decisions as the compiler would log them.
    differs: np.ndarray | None  #: bool [N]; None where the heuristic is unknown.

    def __len__(self) -> int:
        return len(self.recorded)

    def rows(self, decision: int) -> tuple[int, int]:
        """The first row of one state, and the first of the next."""
        begin, end = self.observations.offsets[decision : decision + 2]
        return int(begin), int(end)

    def row_of(self, decision: int, choice: float) -> int:
        """The row of `choice` in one state: the candidate at that position, or the only row."""
        begin, end = self.rows(decision)
        if self.observations.kind != "categorical":
            return begin
        return begin + int(np.flatnonzero(self.observations.positions[begin:end] == choice)[0])

    def alternative(self, decision: int) -> int | None:
        """The row that a categorical choice is compared with: the heuristic's, else the policy's second choice."""
        if self.observations.kind != "categorical":
            return None
        if self.recorded.heuristic is not None and self.differs is not None and self.differs[decision]:
            return self.row_of(decision, self.recorded.heuristic[decision])
        own = self.row_of(decision, self.policy[decision])
        others = [row for row in range(*self.rows(decision)) if row != own]
        return max(others, key=lambda row: (self.logits[row], -row), default=None)

    def probability(self, decision: int, choice: float) -> float | None:
        """The policy's probability of `choice`; None for continuous decisions, and where only decisions are known."""
        kind = self.observations.kind
        if kind == "continuous" or not self.asked.has_probabilities:
            return None
        begin, end = self.rows(decision)
        logits = self.logits[begin:end].astype(np.float64)
        if kind == "binary":
            return float(np.exp(-np.logaddexp(0.0, -logits[0] if choice else logits[0])))
        chances = np.exp(logits - logits.max())
        return float(chances[self.row_of(decision, choice) - begin] / chances.sum())

    def margin(self, decision: int) -> float | None:
        """The margin of the policy's answer in logits over `alternative`; |z| for binary decisions.

        None: there is no alternative, the decision is continuous, or only decisions are known.
        """
        if self.observations.kind == "continuous" or not self.asked.has_probabilities:
            return None
        own = self.row_of(decision, self.policy[decision])
        if self.observations.kind == "binary":
            return abs(float(self.logits[own]))
        other = self.alternative(decision)
        return None if other is None else float(self.logits[own]) - float(self.logits[other])

    @property
    def known_differs(self) -> np.ndarray:
        """bool [N]. Raises: ValueError: the heuristic's decisions are unknown."""
        if self.differs is None:
            raise ValueError("the heuristic's decisions are unknown")
        return self.differs

    @property
    def disagreements(self) -> int:
        """How many decisions that the compiler took under the policy differ from their replay; 0 is expected."""
        return int((self.policy != self.recorded.taken).sum())


def replay(asked: QueriedPolicy, recorded: RecordedDecisions) -> Replay:
    """The answers of `asked` in `recorded` states. Raises: RunError: they are not of a compile of its problem."""
    try:
        observations = asked.packed(recorded, recorded.taken)
        theirs = None if recorded.heuristic is None else asked.packed(recorded, recorded.heuristic).actions
    except ObservationError as error:
        raise RunError(
            f"decisions of {recorded.module}", str(error), "Delete the output folder and run again"
        ) from error
    logits = asked.logits(observations)
    greedy = greedy_decisions(logits, observations)
    differs = None if theirs is None else comparable(greedy, observations) != comparable(theirs, observations)
    if observations.kind == "categorical":
        row_decision = np.repeat(greedy, np.diff(observations.offsets))
        chosen = np.flatnonzero(observations.positions == row_decision).astype(np.int64)
        observations = dataclasses.replace(observations, chosen=chosen)
    else:
        observations = dataclasses.replace(observations, outputs=greedy.astype(np.float32))
    unit = (asked.problem.output_unit or 1) if observations.kind == "continuous" else 1
    return Replay(asked, recorded, observations, logits, greedy * unit, differs)


def comparable(decisions: np.ndarray, observations: Observations) -> np.ndarray:
    """int64 [N]: equal where `decisions` [N], as `Observations.actions`, do not differ; see the module's docstring."""
    if observations.kind != "continuous":
        return np.asarray(decisions, np.int64)
    order = np.zeros(len(decisions), np.int64)
    order[1:] = np.sign(np.diff(np.asarray(decisions, np.float64)))
    same_function = np.zeros(len(decisions), bool)
    same_function[1:] = observations.group[1:] == observations.group[:-1]
    return np.where(same_function, order, 0)


def confidence(logits: np.ndarray, observations: Observations) -> np.ndarray:
    """float64 [N]: the probability of the decisions under `logits`; for continuous ones the value in network units."""
    if observations.kind == "continuous":
        return greedy_decisions(logits, observations).astype(np.float64)
    return np.exp(log_probabilities(logits, observations).astype(np.float64))
