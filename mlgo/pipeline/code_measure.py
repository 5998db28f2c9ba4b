"""Code size as a reward: how many bytes of a module count, and which decision is credited with which of them.

Rewards (`Problem.rewards`):

    comdat_weighted_code   the code bytes of each function divided by the number of the corpus's modules whose default build carries
                           its COMDAT, for a linker keeps one of them; nothing else counts. It ranks policies much as the linked
                           image does: measured on LLVM and on C and C++ libraries.
    object_text            llvm-size's `text` of the object, as in ml-compiler-opt's documents. A third of it is .eh_frame and another
                           third COMDAT code that other modules carry too, so it says little about a linked program.
"""

import collections
import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from mlgo.compiler.training_log import TrainingLog
from mlgo.trace.code_scores import REST, call_site
from mlgo.trace.scores import FunctionScore

#: Ancestors of a function beyond this many are not followed: what happens there says too little about one decision.
_MOST_ANCESTORS = 200

OBJECT_TEXT, COMDAT_WEIGHTED_CODE = "object_text", "comdat_weighted_code"


def modules_by_comdat(modules: Iterable[Mapping[str, FunctionScore]]) -> Mapping[str, int]:
    """COMDAT signature -> number of `modules` that carry it."""
    return collections.Counter(
        comdat for scores in modules for comdat in {score.comdat for score in scores.values()} if comdat is not None
    )


class CodeMeasure:
    """Code size; a module's improvement is minus the logarithm of the ratio of its weighted sizes.

    A decision is credited with what happened to the code that it can have changed: its caller, every function that the caller was
    inlined into, directly or not, and the callee, which may be gone. In units of CREDIT_BYTES saved.

    Args: carriers: COMDAT signature -> modules that carry it by default; None: all of the text counts, in full.
    """

    #: One unit of credit, in bytes: about one inlined call. Ours; it sets the scale of returns and nothing else.
    CREDIT_BYTES = 16.0

    def __init__(self, carriers: Mapping[str, int] | None):
        self._carriers = carriers

    @classmethod
    def of(cls, reward: str, default: Mapping[str, Mapping[str, FunctionScore]]) -> "CodeMeasure":
        """The measure of `reward` in a corpus of which `default` is what the default makes of it, by module."""
        return cls(modules_by_comdat(default.values()) if reward == COMDAT_WEIGHTED_CODE else None)

    def module_improvement(self, found, default):
        sizes = [self._module_size(scores) for scores in (found, default)]
        if not all(sizes):
            return None
        return -math.log(sizes[0] / sizes[1]), 1.0

    def compared(self, functions):
        if not functions:
            return {}
        decisions = sum(score.decisions for score in functions.values())
        return {"": FunctionScore(decisions, self._module_size(functions))}

    def improvements_of(self, found, default, logs):
        """See Measure.

        Which functions a caller is credited with is the same in all compiles, or else who is inlined into many functions in one
        of them is blamed for all that other decisions did to these. Of a callee counts whether it is still there, at its mean size.
        """
        graphs = [_inline_graph(log) for log in logs]
        callees, parents = _united(graph.callees for graph in graphs), _united(graph.parents for graph in graphs)
        sizes = [self._sizes(scores) for scores in (default, *found)]
        usual = {
            name: math.fsum(have) / len(have)
            for name in set().union(*sizes)
            for have in [[each[name] for each in sizes if name in each]]
        }
        improvements: list[dict[str, float]] = [{} for _ in logs]
        for caller in dict.fromkeys(name for graph in graphs for name in graph.callers):
            own = _with_ancestors(caller, parents)
            only_there = sorted(callees.get(caller, set()).difference(own))
            by_default, *by_policy = [
                math.fsum([each.get(name, 0.0) for name in own] + [usual[name] for name in only_there if name in each])
                for each in sizes
            ]
            for improvement, size in zip(improvements, by_policy, strict=True):
                improvement[caller] = (by_default - size) / self.CREDIT_BYTES
        return [(graph.callers, improvement) for graph, improvement in zip(graphs, improvements, strict=True)]

    def _module_size(self, scores: Mapping[str, FunctionScore]) -> float:
        whole = self._carriers is None
        return math.fsum(self._counted(score) for name, score in scores.items() if whole or name != REST)

    def _counted(self, score: FunctionScore) -> float:
        """The bytes of a function that count: all, or of a COMDAT its share; one that no module carried by default counts in full."""
        if self._carriers is None or score.comdat is None:
            return score.score
        return score.score / max(1, self._carriers.get(score.comdat, 1))

    def _sizes(self, scores: Mapping[str, FunctionScore]) -> dict[str, float]:
        """The bytes of each function that count."""
        return {name: self._counted(score) for name, score in scores.items() if name != REST}


@dataclasses.dataclass(frozen=True)
class _InlineGraph:
    """Of one log: the caller of each context, caller -> its callees, function -> functions that it was inlined into."""

    callers: tuple[str, ...]
    callees: dict[str, set[str]]
    parents: dict[str, set[str]]


def _inline_graph(log: TrainingLog) -> _InlineGraph:
    inlined = np.zeros(len(log.contexts), bool)
    np.logical_or.at(inlined, log.observation_context, np.asarray(log.actions).reshape(-1) != 0)
    callers, callees, parents = [], {}, {}
    for name, taken in zip(log.contexts, inlined.tolist(), strict=True):
        caller, callee = call_site(name)
        callers.append(caller)
        callees.setdefault(caller, set()).add(callee)
        if taken:
            parents.setdefault(callee, set()).add(caller)
    return _InlineGraph(tuple(callers), callees, parents)


def _united(graphs: Iterable[Mapping[str, set[str]]]) -> dict[str, set[str]]:
    united: dict[str, set[str]] = {}
    for graph in graphs:
        for name, others in graph.items():
            united.setdefault(name, set()).update(others)
    return united


def _with_ancestors(caller: str, parents: Mapping[str, set[str]]) -> list[str]:
    """`caller` and the functions that it was inlined into, directly or not, the nearest ones if there are too many; sorted."""
    reached, waiting = {caller}, collections.deque([caller])
    while waiting and len(reached) <= _MOST_ANCESTORS:
        for parent in sorted(parents.get(waiting.popleft(), ())):
            if parent not in reached:
                reached.add(parent)
                waiting.append(parent)
    return sorted(reached)
