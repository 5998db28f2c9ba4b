"""The outcome of each module of a stage: recorded, counted, and an error when too many modules fail."""

import collections
import dataclasses
import enum
import math
import pathlib
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from mlgo.run import files
from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.run.progress import tell
from mlgo.score.function_scores import NON_FUNCTION_BYTES, FunctionScore

_REMEDY = "Delete it and run the same command again; its module is then compiled again"

#: Default of --max_failure_ratio of commands that compile corpora.
DEFAULT_MAX_FAILURE_RATIO = 0.1


class Outcome(enum.Enum):
    """The outcome of a module. Files and summaries hold the value."""

    TRACED = "traced"  #: decisions were recorded.
    NO_DECISIONS = "no decisions"  #: the compile succeeded and made no decision.
    FAILED = "failed"  #: the compile failed; the record says how.


@dataclasses.dataclass(frozen=True)
class ModuleRecord:
    """The record of one module."""

    outcome: Outcome
    failure_kind: str | None = None  #: such as "crash"; None unless it failed.
    #: the scores of its functions, by name.
    functions: Mapping[str, FunctionScore] = dataclasses.field(default_factory=dict)

    def __post_init__(self):
        if (self.outcome is Outcome.FAILED) != (self.failure_kind is not None):
            raise ValueError(f"failed modules have a failure kind and no others do, unlike {self}")

    @property
    def decisions(self) -> int:
        """Decisions in all functions."""
        return sum(function.decisions for function in self.functions.values())

    @property
    def deciding_functions(self) -> int:
        """Functions with decisions. A record of code sizes holds every function of the object, most without any."""
        return sum(score.decisions > 0 for name, score in self.functions.items() if name != NON_FUNCTION_BYTES)


def write_record(path: pathlib.Path, record: ModuleRecord) -> None:
    """Writes `record` as JSON; function scores are [decisions, score], with COMDAT and fold identity where known."""
    functions = {name: _parts(score) for name, score in record.functions.items()}
    content = {"outcome": record.outcome.value, "failure_kind": record.failure_kind, "functions": functions}
    files.write_json_atomically(path, content)


def read_record(path: pathlib.Path) -> ModuleRecord:
    """The record in `path`. Raises: RunError: it is absent or not a record."""
    content = files.read_json(path, "module record", _REMEDY)
    try:
        functions = {sys.intern(name): _score(*parts) for name, parts in content["functions"].items()}
        kind = content["failure_kind"]
        return ModuleRecord(Outcome(content["outcome"]), kind if kind is None else _text(kind), functions)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise RunError(f"module record ({path})", f"is not one: {error!r}", _REMEDY) from error


def is_done(path: pathlib.Path) -> bool:
    """Whether `path` holds a record, and not one of a failure, which another run might not have."""
    return path.exists() and read_record(path).outcome is not Outcome.FAILED


def _parts(score: FunctionScore) -> list[Any]:
    parts = [score.decisions, score.score, score.comdat, score.fold]
    while parts[-1] is None:
        parts.pop()
    return parts


def _score(decisions: Any, score: Any, comdat: Any = None, fold: Any = None) -> FunctionScore:
    """The score of a function from JSON values. Raises: TypeError, ValueError: they are no score."""
    if type(decisions) is not int or type(score) not in (int, float):
        raise TypeError(f"{decisions!r:.40} decisions and the score {score!r:.40} are not numbers")
    # Equal names are one object: modules share most of them, and a run holds the records of all modules.
    known = [text if text is None else sys.intern(_text(text)) for text in (comdat, fold)]
    return FunctionScore(decisions, score, *known)


def _text(value: Any) -> str:
    """`value`, if it is a text. Raises: TypeError: it is not."""
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.40} is not a text")
    return value


class FailureLimit:
    """Counts the failures of a `stage` and ends the run when they are more than allowed.

    Args: max_ratio: allowed failures as a part of `total`, in [0, 1]. Above 0, one failure is always allowed, so that a
      stage of few modules does not end with the first; the failure of all modules is never allowed.
    """

    def __init__(self, stage: str, total: int, max_ratio: float):
        self._stage, self._total, self._max_ratio = stage, total, max_ratio
        #: Kind of failure by module name.
        self.failed: dict[str, str] = {}
        # Counted as they come: the summary is shown after every module.
        self._kinds: collections.Counter[str] = collections.Counter()
        self._first = ""

    def add(self, name: str, kind: str, detail: str = "") -> None:
        """Counts the failure of module `name` and prints it.

        Raises: RunError: more modules have failed than allowed, or all have.
        """
        tell(f"{self._stage}: failed: {name}: {kind}: {detail}")
        self._kinds[kind] += name not in self.failed
        self.failed[name] = kind
        failed = len(self.failed)
        if failed == 1:
            self._first = f"{name}: {kind}: {detail}" if detail else f"{name}: {kind}"
        if failed == self._total:
            self._refuse(f"all {self._total} modules failed")
        allowed = max(1, math.floor(self._max_ratio * self._total)) if self._max_ratio > 0 else 0
        if failed > allowed:
            self._refuse(f"more than {allowed} of {self._total} modules failed")

    def describe(self) -> str:
        """A summary: "2 failed: crash 1, timeout 1 (first: a/b.cpp: crash)", or "0 failed"."""
        if not self.failed:
            return "0 failed"
        counts = ", ".join(f"{kind} {count}" for kind, count in sorted(self._kinds.items()))
        return f"{len(self.failed)} failed: {counts} (first: {self._first})"

    def _refuse(self, wrong: str) -> None:
        remedy = "Look at the first failure; if failures are expected, raise --max_failure_ratio"
        raise RunError(f"stage {self._stage}", f"{wrong}; {self.describe()}", remedy, ExitCode.TOO_MANY_FAILURES)


def count_outcomes(records: Iterable[ModuleRecord]) -> dict[str, int]:
    """Modules by outcome, all three always present, plus their decisions and the functions that have some."""
    counts = dict.fromkeys((*(outcome.value for outcome in Outcome), "functions", "decisions"), 0)
    for record in records:
        counts[record.outcome.value] += 1
        counts["functions"] += record.deciding_functions
        counts["decisions"] += record.decisions
    return counts
