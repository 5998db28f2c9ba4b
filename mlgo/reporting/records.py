"""The records of a report: training runs, evaluations, measured programs, explanations."""

import dataclasses
import enum
from collections.abc import Mapping, Sequence
from typing import Any

from mlgo.evaluation.sides import side_and_cost, threshold_of
from mlgo.evaluation.statistics import RatioSummary
from mlgo.evaluation.verdict import Verdict, corpus_verdict
from mlgo.evaluation.weighted_sum import ScorePair, WeightedSum, weighted_sum


@dataclasses.dataclass(frozen=True)
class Row:
    """One function, or a module as a whole (`function` is ""), under a policy and under the compiler's default."""

    module: str  #: a name, untrusted text.
    function: str
    default_score: float  #: under the default.
    score: float
    ratio: float  #: of the two; below 1 is better.
    #: default_linked, linked: bytes of the module's code in the linked image; None: nothing was linked.
    default_linked: int | None = None
    linked: int | None = None

    @property
    def key(self) -> tuple[str, str]:
        return self.module, self.function


def larger_is_better(rows: Sequence[Row]) -> bool:
    """Whether the score is maximised: then a higher score has a ratio below 1."""
    return any((row.score > row.default_score) == (row.ratio < 1.0) for row in rows if row.ratio != 1.0)


def sum_of(rows: Sequence[Row], base: Sequence[float], seed: int) -> WeightedSum | None:
    """The sum of the rows' scores against that of `base`; None: there is none, as of scores that do not add up."""
    if any(row.score < 0.0 for row in rows) or any(score < 0.0 for score in base):
        return None
    pairs = [ScorePair(row.module, row.function, other, row.score) for row, other in zip(rows, base, strict=True)]
    return weighted_sum(pairs, seed, larger_is_better(rows))


@dataclasses.dataclass(frozen=True)
class SideResult:
    """A policy, or the default with other flags, on one corpus."""

    name: str
    mean: RatioSummary | None  #: geometric mean of the ratios; None: nothing could be compared.
    unseen: RatioSummary | None = None  #: the same over functions whose names do not occur in the training corpus.
    linked: RatioSummary | None = None  #: ratio of the linked image's code; None: nothing was linked.
    linked_bytes: int | None = None  #: code bytes of the image.
    rows: Sequence[Row] = ()  #: the compared rows; empty where the table was not kept.
    object_bytes: int | None = None
    #: sum of all scores against the default's; None: it was neither recorded nor are there rows.
    weighted: WeightedSum | None = None
    default_object_bytes: int | None = None

    def verdict(self, unit: str) -> Verdict:
        """What is known of the side, and by which measures. Args: unit: of a row."""
        own, base = self.object_bytes, self.default_object_bytes
        code = own / base if own is not None and base else None
        return corpus_verdict(unit, self.mean, self.weighted, self.linked, code)

    @property
    def headline(self) -> RatioSummary | None:
        """Linked code; else the weighted sum of the scores; else their geometric mean."""
        return self.linked or (self.weighted.summary if self.weighted else self.mean)


@dataclasses.dataclass(frozen=True)
class CorpusResult:
    """The result of one corpus."""

    name: str
    digest: str | None
    sides: Sequence[SideResult]  #: policies first, then the default with other flags.
    failed: Mapping[str, str]  #: omitted module -> "SIDE: KIND" of its failures.
    unmatched: int  #: functions omitted because one side had no decision in them.
    #: default_linked_bytes, default_object_bytes: code bytes of the default's image and objects.
    default_linked_bytes: int | None = None
    default_object_bytes: int | None = None
    modules: int | None = None  #: of the corpus, without the omitted ones; None: not recorded.

    @property
    def module_count(self) -> int:
        """The number of modules; where it was not recorded, that of the modules with a compared row."""
        compared = (summary.modules for side in self.sides for summary in (side.mean, side.linked) if summary)
        return max(compared, default=0) if self.modules is None else self.modules

    @property
    def unit(self) -> str:
        """The unit of a row: "functions" or "modules"."""
        by_function = any(row.function for side in self.sides for row in side.rows)
        # Where no table was kept: more rows than modules are functions.
        several = any(side.mean is not None and side.mean.functions > side.mean.modules for side in self.sides)
        return "functions" if by_function or several else "modules"


@dataclasses.dataclass(frozen=True)
class Run:
    """A training run, ended or not, or a shipped policy with the record of its run."""

    name: str
    place: str  #: its folder relative to the workspace, else the folder's name: a report names no path of a machine.
    #: "configuration", "inputs" (digests), "versions"; for an ended run also the counts of its stages.
    training: Mapping[str, Any]
    #: iterations, validations: its figures, see mlgo/training/figures.py.
    iterations: Sequence[Mapping[str, Any]]
    validations: Sequence[Mapping[str, Any]]
    held_out: CorpusResult | None  #: its result, with the sides "policy" and "warm_start"; None: not measured yet.
    policy: Mapping[str, str]
    seconds: Mapping[str, float]

    @property
    def settings(self) -> Mapping[str, Any]:
        return self.training["configuration"]["run"]

    @property
    def problem(self) -> str:
        return self.settings["problem"]

    @property
    def chosen_iteration(self) -> int | None:
        """The iteration whose weights the policy has; None: the run has not ended."""
        return self.training.get("learning", {}).get("chosen_iteration")


@dataclasses.dataclass(frozen=True)
class Evaluation:
    """The result of //mlgo:evaluate; None: not recorded."""

    name: str
    place: str
    problem: str | None
    reward: str | None
    clang: str
    policies: Mapping[str, str]  #: digest by name.
    corpora: Sequence[CorpusResult]
    icf: bool  #: whether the linker folded identical functions.
    seed: int

    def corpus(self, name: str) -> CorpusResult:
        return {corpus.name: corpus for corpus in self.corpora}[name]

    def side(self, corpus: str, name: str) -> SideResult:
        return {side.name: side for side in self.corpus(corpus).sides}[name]


class Kind(enum.StrEnum):
    """What wrote a result, as "kind" in its JSON file says."""

    PROGRAMS = "programs"  # //mlgo:evaluate_programs
    EXPLANATION = "explanation"  # //mlgo:explain


@dataclasses.dataclass(frozen=True)
class Content:
    """Another result."""

    kind: Kind
    name: str
    place: str
    content: Mapping[str, Any]  #: of its JSON file; any part may be missing.


Record = Run | Evaluation | Content


def corpus_title(name: str) -> str:
    """ "llvm held out" for "llvm_held_out"."""
    return name.replace("_", " ")


def side_title(name: str) -> str:
    """Such as "-inline-threshold=25" for "threshold_25"; of a side with a cost, the words say which and where."""
    if (threshold := threshold_of(name)) is not None:
        return f"-inline-threshold={threshold}"
    if (parts := side_and_cost(name)) is not None:
        side, cost = parts
        where = " in all functions" if cost.everywhere else ""
        return f"{side_title(side)}, callee-saved registers cost {cost.value}{where}"
    return name.replace("_", " ")
