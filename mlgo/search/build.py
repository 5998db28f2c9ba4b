"""One compile of a module with given decisions, as the search sees it."""

import dataclasses
import functools
from collections.abc import Callable, Mapping

from mlgo.compiler.training_log import TrainingLog
from mlgo.search.decision_file import Section, callee_of, caller_of

#: LLVM's estimate of what inlining costs, in its units (5 per instruction).
_COST = "cost_estimate"


@dataclasses.dataclass(frozen=True)
class Build:
    """What came of a compile that the search asked for."""

    attempt: Section  #: the decisions that the compile was given, and what decided for every other call site.
    decided: Mapping[str, bool]  #: call site → whether it was inlined, in the order of the questions.
    costs: Mapping[str, int]  #: call site → LLVM's estimate.
    sizes: Mapping[str, float]  #: function → bytes that count.

    @functools.cached_property
    def total(self) -> float:
        return sum(self.sizes[name] for name in sorted(self.sizes))

    @functools.cached_property
    def all_given(self) -> dict[str, bool]:
        """Decisions that fix this build: also those that were given and not asked for."""
        return {**self.attempt.decisions, **self.decided}

    @functools.cached_property
    def dependants(self) -> Callable[[str], frozenset[str]]:
        """Function → itself and every function into which it is inlined, directly or through others."""
        into: dict[str, set[str]] = {}
        for site, inlined in self.decided.items():
            if inlined:
                into.setdefault(callee_of(site), set()).add(caller_of(site))

        @functools.cache
        def reached(function: str) -> frozenset[str]:
            seen, left = {function}, [function]
            while left:
                new = into.get(left.pop(), set()) - seen
                seen |= new
                left += new
            return frozenset(seen)

        return reached


def build_of(attempt: Section, log: TrainingLog, sizes: Mapping[str, float]) -> Build:
    """The build that an attempt's log and sizes describe. Each context of the log is one call site's question."""
    sites = [log.contexts[index] for index in log.observation_context.tolist()]
    costs = log.features[_COST].reshape(-1).tolist()
    return Build(attempt, dict(zip(sites, map(bool, log.actions.tolist()))), dict(zip(sites, costs)), sizes)
