"""Code size as a reward: how many bytes of a module count, and which decision is credited with which of them.

Rewards (`Problem.rewards`):

    comdat_weighted_code   the code bytes of each function divided by the number of the corpus's modules whose default build carries
                           its COMDAT, for a linker keeps one of them; nothing else counts. It ranks policies much as the linked
                           image does: measured on LLVM and on C and C++ libraries.
    linked_code            what the module costs one program made of the corpus's modules: of a COMDAT the linker keeps the copy of the
                           first module that carries it (by default, in the order of names), in full, and if that module drops it,
                           the next one's. For corpora that are a program; over a whole corpus the sum is the same as of the above,
                           which spreads it over all modules that could have an effect.
    object_text            llvm-size's `text` of the object, as in ml-compiler-opt's documents. A third of it is .eh_frame and another
                           third COMDAT code that other modules carry too, so it says little about a linked program.
    estimated_code         as comdat_weighted_code, of sizes that an estimator (mlgo/size_estimator) gives to the optimised IR: no code is
                           generated. An estimate is off by several percent of a module, more than most policies differ by.
"""

import collections
import dataclasses
import math
import typing
from collections.abc import Iterable, Mapping

import numpy as np

from mlgo.compiler.training_log import TrainingLog
from mlgo.score.code_scores import NON_FUNCTION_BYTES, call_site
from mlgo.score.function_scores import FunctionScore

#: Ancestors of a function beyond this many are not followed: what happens there says too little about one decision.
_MOST_ANCESTORS = 200

OBJECT_TEXT, COMDAT_WEIGHTED_CODE, LINKED_CODE, ESTIMATED_CODE = (
    "object_text",
    "comdat_weighted_code",
    "linked_code",
    "estimated_code",
)

#: Function -> bytes of it that count; NON_FUNCTION_BYTES may be among them.
Sizes = dict[str, float]


def modules_by_comdat(modules: Iterable[Mapping[str, FunctionScore]]) -> Mapping[str, int]:
    """COMDAT signature -> number of `modules` that carry it."""
    return collections.Counter(
        comdat for scores in modules for comdat in {score.comdat for score in scores.values()} if comdat is not None
    )


class Counting(typing.Protocol):
    """Which bytes of a module count."""

    def sizes(self, module: str, scores: Mapping[str, FunctionScore]) -> Sizes:
        """Args: scores: what a compile of `module` made of each function, NON_FUNCTION_BYTES included."""


class WholeText:
    """All of the text, in full."""

    def sizes(self, module, scores):
        del module
        return {name: score.score for name, score in scores.items()}


class ComdatWeights:
    """Functions; of a COMDAT its share. One that no module carried by default counts in full.

    Args: default: module -> what the default makes of it.
    """

    def __init__(self, default: Mapping[str, Mapping[str, FunctionScore]]):
        self._carriers = modules_by_comdat(default.values())

    def sizes(self, module, scores):
        del module
        return {
            name: score.score / max(1, self._carriers.get(score.comdat, 1)) if score.comdat is not None else score.score
            for name, score in scores.items()
            if name != NON_FUNCTION_BYTES
        }


class LinkedOnce:
    """Functions; a COMDAT counts where the linker takes it from. Args: as ComdatWeights'."""

    def __init__(self, default: Mapping[str, Mapping[str, FunctionScore]]):
        self._carried: dict[tuple[str, str], list[tuple[str, float]]] = {}
        for module in sorted(default):
            for name, score in default[module].items():
                if score.comdat is not None:
                    self._carried.setdefault((score.comdat, name), []).append((module, score.score))
        self._owned: dict[str, dict[str, float]] = {}
        for (_, name), carriers in self._carried.items():
            # What the image holds instead where the owner drops it.
            self._owned.setdefault(carriers[0][0], {})[name] = carriers[1][1] if len(carriers) > 1 else 0.0

    def sizes(self, module, scores):
        left = dict(self._owned.get(module, {}))
        counted = {}
        for name, score in scores.items():
            carriers = self._carried.get((score.comdat, name)) if score.comdat is not None else None
            if name != NON_FUNCTION_BYTES and (carriers is None or carriers[0][0] == module):
                counted[name] = score.score
            left.pop(name, None)
        return {**counted, **{name: size for name, size in left.items() if size}}


_COUNTINGS = {
    OBJECT_TEXT: lambda default: WholeText(),
    COMDAT_WEIGHTED_CODE: ComdatWeights,
    LINKED_CODE: LinkedOnce,
    ESTIMATED_CODE: ComdatWeights,
}


class CodeMeasure:
    """Code size; a module's improvement is minus the logarithm of the ratio of its sizes.

    A decision is credited with what happened to the code that it can have changed: its caller, every function that the caller was
    inlined into, directly or not, and the callee, which may be gone. In units of CREDIT_BYTES saved.

    Args: counting: which bytes count.
    """

    #: One unit of credit, in bytes: about one inlined call. Ours; it sets the scale of returns and nothing else.
    CREDIT_BYTES = 16.0

    def __init__(self, counting: Counting):
        self._counting = counting

    @classmethod
    def of(cls, reward: str, default: Mapping[str, Mapping[str, FunctionScore]]) -> "CodeMeasure":
        """The measure of `reward` in a corpus of which `default` is what the default makes of it, by module."""
        return cls(_COUNTINGS[reward](default))

    def module_improvement(self, module, found, default):
        sizes = [math.fsum(self._counting.sizes(module, scores).values()) for scores in (found, default)]
        if not all(sizes):
            return None
        return -math.log(sizes[0] / sizes[1]), 1.0

    def compared(self, module, functions):
        if not functions:
            return {}
        decisions = sum(score.decisions for score in functions.values())
        return {"": FunctionScore(decisions, math.fsum(self._counting.sizes(module, functions).values()))}

    def improvements_of(self, module, found, default, logs):
        """See Measure.

        Which functions a caller is credited with is the same in all compiles, or else who is inlined into many functions in one
        of them is blamed for all that other decisions did to these. Of a callee counts whether it is still there, at its mean size.
        """
        graphs = [_inline_graph(log) for log in logs]
        callees, parents = _united(graph.callees for graph in graphs), _united(graph.parents for graph in graphs)
        sizes = [self._counting.sizes(module, scores) for scores in (default, *found)]
        for each in sizes:
            each.pop(NON_FUNCTION_BYTES, None)
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
