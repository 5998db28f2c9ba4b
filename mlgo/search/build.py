"""One compile of a module with given decisions, as the search sees it."""

import dataclasses
import functools
from collections.abc import Callable, Mapping

from mlgo.compiler.training_log import TrainingLog
from mlgo.search.decision_file import ANY_MODULE, Section, callee_of, caller_of, cost_limit_of, otherwise_below

#: LLVM's estimate of what inlining costs, in its units (5 per instruction).
_COST = "cost_estimate"


@dataclasses.dataclass(frozen=True)
class Policy:
    """What decides where no decision is given.

    Attributes: cost_limit: calls of lower cost are inlined; None: the compiler's heuristic decides, or the model.
    """

    name: str
    cost_limit: int | None = None
    uses_model: bool = False

    @property
    def otherwise(self) -> str:
        if self.cost_limit is not None:
            return otherwise_below(self.cost_limit)
        return "policy" if self.uses_model else "default"


@dataclasses.dataclass(frozen=True)
class Attempt:
    """A compile that the search asks for: `given` decisions, and `policy` for every other call site."""

    policy: Policy
    given: Mapping[str, bool] = dataclasses.field(default_factory=dict)

    @classmethod
    def of_section(cls, section: Section) -> "Attempt":
        limit = cost_limit_of(section.otherwise)
        return cls(Policy(section.otherwise, limit, section.otherwise == "policy"), section.decisions)

    def section(self, source: str = ANY_MODULE) -> Section:
        """What a compile of it is given. Args: source: the module's source file."""
        return Section(source, self.policy.otherwise, self.given)


@dataclasses.dataclass(frozen=True)
class Build:
    """What came of an attempt."""

    attempt: Attempt
    decided: Mapping[str, bool]  #: call site → whether it was inlined, in the order of the questions.
    costs: Mapping[str, int]  #: call site → LLVM's estimate.
    sizes: Mapping[str, float]  #: function → bytes that count.

    @functools.cached_property
    def total(self) -> float:
        return sum(self.sizes[name] for name in sorted(self.sizes))

    @functools.cached_property
    def all_given(self) -> dict[str, bool]:
        """Decisions that fix this build: also those that were given and not asked for."""
        return {**self.attempt.given, **self.decided}

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


def build_of(attempt: Attempt, log: TrainingLog, sizes: Mapping[str, float]) -> Build:
    """The build that an attempt's log and sizes describe. Each context of the log is one call site's question."""
    sites = [log.contexts[index] for index in log.observation_context.tolist()]
    costs = log.features[_COST].reshape(-1).tolist()
    return Build(attempt, dict(zip(sites, map(bool, log.actions.tolist()))), dict(zip(sites, costs)), sizes)
