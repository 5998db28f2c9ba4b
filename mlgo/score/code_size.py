"""Code size as a score: which bytes of a module count, by function.

Rewards:

    comdat_weighted_code   the code bytes of each function divided by the number of modules in the corpus whose default
                           build carries its COMDAT, for a linker keeps one of them. Nothing else counts. Measured on
                           LLVM and on C and C++ libraries, it ranks policies much as the linked image does.
    linked_code            the bytes that the module adds to one program made of all modules of the corpus. A COMDAT
                           counts in full in the first module by name that carries it by default, where the linker takes
                           it from, and if that module drops it, the next copy counts. The sum over a whole corpus
                           equals that of comdat_weighted_code.
    object_text            llvm-size's `text` of the object, as in ml-compiler-opt's documents. A third of it is
                           .eh_frame and another third COMDAT code that other modules carry too.
    estimated_code         as comdat_weighted_code, with sizes that an estimator (mlgo/size_estimator) predicts from the
                           optimised IR: no code is generated. It is off by several percent of a module, more than the
                           difference between most policies.
    folded_code            the bytes that the folded image holds for each function (folded_code.py), of the problem with
                           "+folded" only.
"""

import collections
import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from mlgo.compiler.code_size import ObjectCode
from mlgo.compiler.training_log import TrainingLog
from mlgo.problems.objective import FOLDED_CODE, CodeSize
from mlgo.score.code_credit import ByteCounter, CorpusCodeSize, call_site
from mlgo.score.folded_code import FoldedByDefault, modules_with, with_folds
from mlgo.score.function_scores import NON_FUNCTION_BYTES, FunctionScore
from mlgo.score.score import FunctionScores, Score

COMDAT_WEIGHTED_CODE, LINKED_CODE, OBJECT_TEXT, ESTIMATED_CODE = CodeSize().rewards


def _count_text(default: Mapping[str, FunctionScores]) -> ByteCounter:
    """Counts all of the text, in full."""
    return lambda module, scores: {name: score.score for name, score in scores.items()}


def _count_comdat_shares(default: Mapping[str, FunctionScores]) -> ByteCounter:
    """Counts functions; a COMDAT by its share. One that no module carries by default counts in full."""
    carriers = modules_with(default, "comdat")

    def count(module: str, scores: FunctionScores) -> dict[str, float]:
        functions = {name: score for name, score in scores.items() if name != NON_FUNCTION_BYTES}
        return {name: score.score / carriers.get(score.comdat, 1) for name, score in functions.items()}

    return count


def _count_linked_owner(default: Mapping[str, FunctionScores]) -> ByteCounter:
    """Counts functions; a COMDAT in the module whose copy the linker keeps."""
    carried: dict[tuple[str, str], list[tuple[str, float]]] = {}
    for module in sorted(default):
        for name, score in default[module].items():
            if score.comdat is not None:
                carried.setdefault((score.comdat, name), []).append((module, score.score))
    owned: dict[str, dict[str, float]] = {}
    for (_, name), carriers in carried.items():
        # The copy that the image holds if the owner drops its own.
        owned.setdefault(carriers[0][0], {})[name] = carriers[1][1] if len(carriers) > 1 else 0.0

    def count(module: str, scores: FunctionScores) -> dict[str, float]:
        left = dict(owned.get(module, {}))
        counted = {}
        for name, score in scores.items():
            carriers = carried.get((score.comdat, name)) if score.comdat is not None else None
            if name != NON_FUNCTION_BYTES and (carriers is None or carriers[0][0] == module):
                counted[name] = score.score
            left.pop(name, None)
        return {**counted, **{name: size for name, size in left.items() if size}}

    return count


_COUNTERS: Mapping[str, Callable[[Mapping[str, FunctionScores]], ByteCounter]] = {
    OBJECT_TEXT: _count_text,
    COMDAT_WEIGHTED_CODE: _count_comdat_shares,
    LINKED_CODE: _count_linked_owner,
    ESTIMATED_CODE: _count_comdat_shares,
    FOLDED_CODE: FoldedByDefault.of_build,
}


def byte_counter(reward: str, default: Mapping[str, FunctionScores]) -> ByteCounter:
    """What `reward` counts, given the scores of the compiler's default by module, over the whole corpus."""
    return _COUNTERS[reward](default)


class SizeOfCode(Score):
    compared_items = "modules"
    needs_log, needs_object = False, True
    uses_other_modules = links_images = True

    def __init__(self, data):
        super().__init__(data)
        self.rewards, self._folds = data.rewards, data.folds

    def read(self, result):
        scores = code_scores(result.code, result.log)
        return with_folds(scores, result.object_bytes, result.module_name) if self._folds else scores

    def for_corpus(self, default, reward=None):
        return CorpusCodeSize(byte_counter(self.chosen_reward(reward), default))

    def totals(self, sides):
        totals = [math.fsum(score.score for score in scores.values()) for scores in sides]
        return f"{self.unit}, with those of no function", totals


def code_scores(code: ObjectCode, log: TrainingLog | None) -> dict[str, FunctionScore]:
    """Function -> its size in bytes and the decisions taken in it; other bytes of the text under NON_FUNCTION_BYTES."""
    callers = [] if log is None else [call_site(name)[0] for name in log.contexts]
    decisions = {} if log is None else decisions_by_context(log, callers)
    scores = {f.name: FunctionScore(decisions.pop(f.name, 0), float(f.size), f.comdat) for f in code.functions}
    rest = code.text_bytes - sum(function.size for function in code.functions)
    # Decisions in functions that the object does not hold are counted there too.
    return {**scores, NON_FUNCTION_BYTES: FunctionScore(sum(decisions.values()), float(rest))}


def decisions_by_context(log: TrainingLog, names: Sequence[str]) -> dict[str, int]:
    """Name -> its decisions, if it has any. Args: names: of the contexts of `log`; equal ones are added up."""
    found: collections.Counter[str] = collections.Counter()
    for name, count in zip(names, np.bincount(log.observation_context, minlength=len(names)).tolist(), strict=True):
        found[name] += count
    return {name: count for name, count in found.items() if count}
