"""Scores of compiles by a stock clang, whose interactive channel carries no score."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from mlgo.compiler.request import CompileResult
from mlgo.problems.problem import Problem
from mlgo.run.exit_codes import RunError
from mlgo.score.function_scores import score_ratio

_REMARKS = "remarks.yaml"

# RegAllocScore's weights (llvm/lib/CodeGen/RegAllocScore.cpp, LLVM 22.1.8) of what the allocator added: a spill is a
# store, a reload is a load, folded ones are operands in memory.
SPILL_WEIGHTS = {"Spills": 1.0, "FoldedSpills": 1.0, "Reloads": 4.0, "FoldedReloads": 4.0, "Copies": 0.2}


#: See `score_ratio`. The problem's own offset suits scores of at least 1, but many modules have no spill at all. With
#: one byte, or one store per call, their rewards stay within a few units.
_OFFSET = 1.0


@dataclass(frozen=True)
class ChannelScore:
    """How the result of an interactive compile is scored; less is better."""

    unit: str
    of_parts: Callable[[CompileResult], dict[str, float]]  #: score of each part by its name; their sum is the module's.
    flags: tuple[str, ...] = ()  #: what a compile needs in `extra_flags`.
    files: tuple[str, ...] = ()  #: what a compile needs in `extra_files`.

    def ratio(self, default_score: float, score: float) -> float:
        """Below 1 is better than the default."""
        return score_ratio(default_score, score, _OFFSET, "minimize")

    def improvement(self, score: float, default_score: float) -> float:
        """1 - the ratio of the scores: 0.02 is two percent better than the default; below 1."""
        return 1.0 - self.ratio(default_score, score)


def channel_score(problem: Problem) -> ChannelScore:
    """The score that `problem.interactive_score` names. Raises: ValueError: it names none."""
    name = problem.interactive_score
    if name not in _SCORES:
        raise ValueError(f"{problem.name}: interactive_score {name!r} is none of {', '.join(_SCORES)}")
    return _SCORES[name]


def spill_scores(remarks: bytes) -> dict[str, float]:
    """Function -> what its spills, reloads and copies cost, from LLVM's optimisation remarks of pass `regalloc`.

    Costs are counts times the block's frequency per call. A function without any has no remark and is left out. This is
    the part of LLVM's RegAllocScore that the allocator decides, less rematerialised instructions: over 53 functions of
    the built-in corpus the difference between two policies in one correlates with that in the other with r > 0.99.

    Raises: RunError: the file is not what LLVM writes.
    """
    scores: dict[str, float] = {}
    for document in remarks.decode("utf-8", "surrogateescape").split("--- !")[1:]:
        name = re.search(r"^Name: +(\w+)$", document, re.MULTILINE)
        function = re.search(r"^Function: +(\S.*)$", document, re.MULTILINE)
        if name is None or function is None:
            raise RunError("optimisation remarks", f"hold {document[:80]!r} without name or function", "use clang 22")
        # Loops have remarks of their own, which the function's contains.
        if name[1] != "SpillReloadCopies":
            continue
        cost = 0.0
        for kind, value in re.findall(r"^  - Total(\w+)Cost: +'([^'\n]*)'$", document, re.MULTILINE):
            if kind not in SPILL_WEIGHTS:
                raise RunError("optimisation remarks", f"hold an unknown cost, Total{kind}Cost", "use clang 22")
            cost += SPILL_WEIGHTS[kind] * float(value)
        unquoted = _unquoted(function[1])
        scores[unquoted] = scores.get(unquoted, 0.0) + cost
    return scores


def _unquoted(scalar: str) -> str:
    """The value of a YAML scalar as LLVM writes names: plain, or in quotes when it holds special characters."""
    if len(scalar) >= 2 and scalar[0] == scalar[-1] == "'":
        return scalar[1:-1].replace("''", "'")
    if len(scalar) >= 2 and scalar[0] == scalar[-1] == '"':
        return scalar[1:-1].replace('\\"', '"').replace("\\\\", "\\")
    return scalar


_SCORES = {
    "text_bytes": ChannelScore("bytes of text (llvm-size)", lambda result: {"": float(result.code.text_bytes)}),
    "spill_cost": ChannelScore(
        "weighed spills, reloads and copies",
        lambda result: spill_scores(result.files[_REMARKS]),
        ("-opt-record-file", _REMARKS, "-opt-record-passes", "regalloc", "-opt-record-format", "yaml"),
        (_REMARKS,),
    ),
}
