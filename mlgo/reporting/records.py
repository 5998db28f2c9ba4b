"""What a report is made of: a training run, an evaluation, measured programs, an explanation. Typed, and without I/O."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from mlgo.evaluation.statistics import RatioSummary


@dataclasses.dataclass(frozen=True)
class Row:
    """One function, or a module as a whole (`function` is ""), under a policy and under the compiler's default.

    Attributes:
      module, function: its names; a C++ symbol is whatever a source file made of it, never trusted markup.
      default_score, score: what the compiler or the size of the code says; minus is better.
      ratio: of the two; below 1 is better.
      default_linked, linked: bytes of the module's code in the linked image; None: nothing was linked.
    """

    module: str
    function: str
    default_score: float
    score: float
    ratio: float
    default_linked: int | None = None
    linked: int | None = None

    @property
    def key(self) -> tuple[str, str]:
        return self.module, self.function


@dataclasses.dataclass(frozen=True)
class SideResult:
    """A policy, or the default with other flags, on one corpus.

    Attributes:
      name: of the side.
      mean: geometric mean of the ratios; None: nothing could be compared.
      unseen: the same of the functions whose names training never met.
      linked: ratio of the linked image's code; None: nothing was linked.
      linked_bytes: code bytes of the image.
      object_bytes: code bytes of the objects before linking, which mislead.
      rows: what the means are of; empty where the table was not kept.
    """

    name: str
    mean: RatioSummary | None
    unseen: RatioSummary | None = None
    linked: RatioSummary | None = None
    linked_bytes: int | None = None
    rows: Sequence[Row] = ()
    object_bytes: int | None = None

    @property
    def headline(self) -> RatioSummary | None:
        """What decides: linked code, or where nothing is linked the geometric mean."""
        return self.linked or self.mean


@dataclasses.dataclass(frozen=True)
class CorpusResult:
    """What came of one corpus.

    Attributes:
      name: of the corpus.
      digest: of its content; None: results before it was recorded.
      sides: policies first, then the default with other flags.
      failed: module name -> "SIDE: KIND" of those left out on all sides, since they failed on one.
      unmatched: functions left out, since a side had no decision in them.
      default_linked_bytes, default_object_bytes: code bytes of the default's image and objects.
    """

    name: str
    digest: str | None
    sides: Sequence[SideResult]
    failed: Mapping[str, str]
    unmatched: int
    default_linked_bytes: int | None = None
    default_object_bytes: int | None = None

    @property
    def unit(self) -> str:
        """What a row is: "functions" or "modules"."""
        by_function = any(row.function for side in self.sides for row in side.rows)
        # Where no table was kept, several to a module are functions.
        several = any(side.mean is not None and side.mean.functions > side.mean.modules for side in self.sides)
        return "functions" if by_function or several else "modules"


@dataclasses.dataclass(frozen=True)
class Run:
    """A training run, ended or not, or a shipped policy with the record of its run.

    Attributes:
      name: in the report.
      place: its folder below the workspace, else only the folder's name: a report names no path of a machine.
      training: identity of the run: "configuration", "inputs" (digests), "versions"; of an ended one also what its stages counted.
      iterations, validations: its figures, see mlgo/training/figures.py.
      held_out: its result, under the sides "policy" and "warm_start"; None: it is not there yet.
      policy: sha256 of the policy's files; empty: there is none yet.
      seconds: by stage; empty: not kept.
      bindings: settings that are other than the training command's own; see bindings.py.
    """

    name: str
    place: str
    training: Mapping[str, Any]
    iterations: Sequence[Mapping[str, Any]]
    validations: Sequence[Mapping[str, Any]]
    held_out: CorpusResult | None
    policy: Mapping[str, str]
    seconds: Mapping[str, float]
    bindings: Sequence[str] = ()

    @property
    def settings(self) -> Mapping[str, Any]:
        """RunSettings as JSON."""
        return self.training["configuration"]["run"]

    @property
    def problem(self) -> str:
        return self.settings["problem"]

    @property
    def chosen_iteration(self) -> int | None:
        """Whose weights the policy has; None: the run has not ended."""
        return self.training.get("learning", {}).get("chosen_iteration")


@dataclasses.dataclass(frozen=True)
class Evaluation:
    """What //mlgo:evaluate found.

    Attributes:
      name, place: as of a run.
      problem, reward: what was decided and compared; None: results before they were recorded.
      clang: digest of the compiler.
      policies: digest by name.
      corpora: what came of each.
      icf: whether the linker folded identical functions.
      seed: of the bootstraps.
    """

    name: str
    place: str
    problem: str | None
    reward: str | None
    clang: str
    policies: Mapping[str, str]
    corpora: Sequence[CorpusResult]
    icf: bool
    seed: int


@dataclasses.dataclass(frozen=True)
class Programs:
    """What //mlgo:evaluate_programs found: its result.json, of which any part may be missing."""

    name: str
    place: str
    content: Mapping[str, Any]


@dataclasses.dataclass(frozen=True)
class Explanation:
    """What //mlgo:explain found about a policy: its explanation.json, of which any part may be missing."""

    name: str
    place: str
    content: Mapping[str, Any]


Record = Run | Evaluation | Programs | Explanation
