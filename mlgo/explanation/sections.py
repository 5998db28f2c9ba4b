"""A function's decisions, in the states of the default's compile and of the policy's own compile."""

import dataclasses
from collections.abc import Sequence

from mlgo.explanation.decision import Typical, explain
from mlgo.explanation.function_report import Section
from mlgo.explanation.queried_policy import QueriedPolicy
from mlgo.explanation.recorded import RecordedDecisions
from mlgo.explanation.replay import Replay
from mlgo.problems.problem import Problem

#: The decisions of a compile, and the policy's answers in the same states.
View = tuple[RecordedDecisions, Replay]


@dataclasses.dataclass(frozen=True)
class Shown:
    """The decisions to show."""

    function: str
    callees: set[str] | None = None  #: for inlining, only calls of these; None: all.
    only_different: bool = False
    limit: int = 0  #: the most decisions of each compile; 0: all.

    def among(self, decided: RecordedDecisions) -> list[int]:
        decisions = decided.by_function().get(self.function, [])
        return [n for n in decisions if self.callees is None or decided.callee(n) in self.callees]


def sections_of(
    asked: QueriedPolicy, problem: Problem, default: View | None, policy: View | None, typical: Typical, shown: Shown
) -> list[Section]:
    """One section per compile with decisions; leading states that both share are shown once."""
    sections, seen = [], []
    if default is not None:
        seen = shown.among(default[0])
        remark = "The heuristic took these decisions; the policy is evaluated in the same states."
        sections.append(
            _section(asked, problem, default, typical, shown, seen, "In the states of the default's compile", remark)
        )
    if policy is not None:
        decided = policy[0]
        numbers = shown.among(decided)
        same = decided.same_states(numbers, default[0], seen) if default is not None else 0
        logged = bool(problem.default_decision_spec)
        known = "LLVM also asked the heuristic." if logged else "what the heuristic would decide here is not logged."
        seen_before = _same_remark(decided, shown.function, numbers, same)
        remark = f"The policy took these decisions; {known} {seen_before}".rstrip()
        title = "In the states of the policy's own compile"
        sections.append(_section(asked, problem, policy, typical, shown, numbers[same:], title, remark))
    return sections


def _section(
    asked: QueriedPolicy,
    problem: Problem,
    view: View,
    typical: Typical,
    shown: Shown,
    numbers: Sequence[int],
    title: str,
    remark: str,
) -> Section:
    decided, answers = view
    differing = None if answers.differs is None else [n for n in numbers if answers.differs[n]]
    kept = differing if shown.only_different and differing is not None else numbers
    explained = explain(asked, problem, decided, answers, kept[: shown.limit or None], typical)
    return Section(title, remark, explained, len(numbers), None if differing is None else len(differing))


def _same_remark(decided: RecordedDecisions, function: str, numbers: Sequence[int], same: int) -> str:
    """A remark that the first `same` of `numbers` were taken in states that are shown above."""
    if not same:
        return ""
    if same == len(numbers):
        return "All states are those above."
    return f"Before decision {decided.by_function()[function].index(numbers[same])} the states are those above."
