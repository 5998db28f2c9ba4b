"""Searches better eviction decisions for the modules of a corpus, inside the compiler (llvm/eviction_search).

Functions that cost more get more tries, with the same sum: half or more of all costs of a corpus are in a few
functions, which have many decisions to flip. On sqlite and LLVM's held-out modules, the square root of the cost takes
most of what the sum of the costs can gain and little of the geometric mean (docs/tune.md).
"""

import collections
import csv
import dataclasses
import io
import math
import pathlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mlgo.compiler.request import CompileFailure, CompileRequest, CompileResult
from mlgo.corpus.corpus import Module
from mlgo.evaluation.sides import CalleeSavedCost
from mlgo.run import files
from mlgo.run.cache import Cache
from mlgo.run.exit_codes import RunError
from mlgo.run.regular_file import read_file, read_text
from mlgo.score.problem_score import score_of
from mlgo.search.decision_file import EvictionSection, read_all, written
from mlgo.trace.compile_cache import key_of
from mlgo.trace.setup import CompileSetup

_REPORT = "found.tsv"
_DECISIONS = f"{_REPORT}.decisions"
#: Of the two files of a result; the last one is written last.
_SUFFIXES = (_REPORT_SUFFIX, _DECISIONS_SUFFIX) = (".tsv", ".decisions")
_REMEDY = "Delete the folder and run again"
_COLUMNS = ("function", "questions", "default", "asked", "given", "best", "tries", "curve")

#: A function gets at most so many times the average.
_MOST = 4
#: Halvings of the interval in which the flips per root of cost are sought: costs differ by many orders of magnitude.
_HALVINGS = 200


@dataclasses.dataclass(frozen=True)
class TryLimits:
    """The tries of each function of a module; `more_flips` at most, further ones of a costly function."""

    noisy: int = 0
    flips: int = 0
    more_flips: int = 0

    @classmethod
    def of_average(cls, tries: int) -> "TryLimits":
        """The limits where functions have so many tries on average, >= 1."""
        # Flips from a better start find more, so most tries are flips.
        noisy, for_all = tries // 4, tries * 2 // 3
        return cls(noisy, for_all - noisy, tries * _MOST - for_all)

    def more_flips_of(self, cost: float, flips_per_root_cost: float) -> int:
        """Further flips of a function that costs `cost` by default, as the compiler computes them."""
        return math.floor(min(float(self.more_flips), flips_per_root_cost * math.sqrt(max(cost, 0.0))))


def flips_per_root_cost(tries: Mapping[str, int], costs: Mapping[str, Sequence[float]]) -> float:
    """The factor with which all functions together have no more than their tries on average.

    Args: tries: module → average, >= 1; costs: module → costs of its functions by default.
    """
    limits = {name: TryLimits.of_average(tries[name]) for name in costs}
    left = sum((tries[name] - limits[name].noisy - limits[name].flips) * len(of) for name, of in costs.items())

    def taken(factor: float) -> int:
        return sum(limits[name].more_flips_of(cost, factor) for name, of in costs.items() for cost in of)

    # With the higher factor every function has as many as it may.
    positive = [(limits[name].more_flips, cost) for name, of in costs.items() for cost in of if cost > 0]
    low, high = 0.0, max((most / math.sqrt(cost) for most, cost in positive), default=0.0)
    if taken(high) <= left:
        return high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if taken(middle) <= left else (low, middle)
    return low


@dataclasses.dataclass(frozen=True)
class FunctionFound:
    """What the search found for one function."""

    name: str
    questions: int  #: live ranges about which the best allocation decides.
    #: default, policy, best: costs, lower is better; `policy` is None without a policy.
    default: float
    policy: float | None
    best: float
    tries: int
    #: (number of the try, cost) for the first try and each that was better than all before.
    curve: tuple[tuple[int, float], ...]

    def cost_after(self, tries: int | None) -> float:
        """The lowest cost of the first `tries`, >= 1. None: of all."""
        return self.best if tries is None else min(cost for number, cost in self.curve if number <= tries)


@dataclasses.dataclass(frozen=True)
class ModuleFound:
    """What the search found for one module. Attributes: decisions: None: no live range of it is decided about."""

    functions: tuple[FunctionFound, ...]
    decisions: EvictionSection | None


@dataclasses.dataclass(frozen=True)
class EvictionSearch:
    """How the modules of a corpus are searched."""

    setup: CompileSetup
    model_dir: pathlib.Path | None  #: TFLite model of the policy; None: the search starts from the default alone.
    #: module → tries of each of its functions on average, besides those from which the search starts.
    tries: Mapping[str, int]
    seed: int  #: of random changes, >= 0.
    #: JSON values that decide the result besides the modules: digests of the compiler, the policy, our code.
    identity: Mapping[str, Any]
    cache: Cache | None = None  #: of results, shared by runs; None: there is none.
    callee_saved_cost: int | None = None  #: mlgo-speed.cfg's (CalleeSavedCost), in every compile; None: LLVM's own.

    def run(
        self, folder: pathlib.Path, modules: Sequence[Module], done: Callable[[Module], None]
    ) -> tuple[dict[str, ModuleFound], dict[str, str]]:
        """Searches those of `modules` that have no result in `folder`.

        Each is compiled twice: what its functions cost by default decides how many tries each of them gets.

        Args: done: called twice for each.
        Returns: module → what was found, and module → why it could not be compiled.
        Raises: RunError: a file in `folder` is damaged.
        """
        no_tries = dict.fromkeys(self.tries, TryLimits())
        first, failures = self._run(folder, modules, no_tries, 0.0, done)
        costs = {name: [each.default for each in module.functions] for name, module in first.items()}
        asked = [module for module in modules if costs.get(module.name)]
        names = {module.name for module in asked}
        for module in modules:
            if module.name not in names:
                done(module)
        limits = {name: TryLimits.of_average(tries) for name, tries in self.tries.items()}
        found, failed = self._run(folder, asked, limits, flips_per_root_cost(self.tries, costs), done)
        unasked = {name: module for name, module in first.items() if not costs[name]}
        return {**found, **unasked}, {**failures, **failed}

    def _run(
        self,
        folder: pathlib.Path,
        modules: Sequence[Module],
        limits: Mapping[str, TryLimits],
        per_root_cost: float,
        done: Callable[[Module], None],
    ) -> tuple[dict[str, ModuleFound], dict[str, str]]:
        """As `run`, with these limits. Args: per_root_cost: further flips, see TryLimits."""
        options = {module.name: self._options(limits[module.name], per_root_cost) for module in modules}
        paths = {module.name: folder / self._key(module, options[module.name]) for module in modules}
        left = [module for module in modules if not self._is_done(paths[module.name])]
        # The largest first: at the end no single one is waited for.
        left.sort(key=lambda module: (-module.bitcode_size, module.name))
        failures = {}
        requests = (self._request(module, options[module.name]) for module in left)
        for module, outcome in zip(left, self.setup.run_ordered(requests), strict=True):
            if isinstance(outcome, CompileFailure):
                failures[module.name] = outcome.detail
            else:
                self._write(paths[module.name], outcome)
            done(module)
        return {name: read_found(path) for name, path in paths.items() if name not in failures}, failures

    def _is_done(self, path: pathlib.Path) -> bool:
        """Whether the result `path` is there, or was in the cache. Args: path: its name is the result's key."""
        if path.with_suffix(_DECISIONS_SUFFIX).exists():
            return True
        found = None if self.cache is None else self.cache.fetch(path.name)
        if found is None or not set(_SUFFIXES) <= found.keys():
            return False
        for suffix in _SUFFIXES:
            files.write_atomically(path.with_suffix(suffix), found[suffix])
        return True

    def _write(self, path: pathlib.Path, outcome: CompileResult) -> None:
        contents = dict(zip(_SUFFIXES, (outcome.files[_REPORT], outcome.files[_DECISIONS]), strict=True))
        for suffix, content in contents.items():
            files.write_atomically(path.with_suffix(suffix), content)
        if self.cache is not None:
            self.cache.store(path.name, contents)

    def _options(self, limits: TryLimits, per_root_cost: float) -> tuple[str, ...]:
        return (
            *(CalleeSavedCost(self.callee_saved_cost).flags()[1:] if self.callee_saved_cost else ()),
            f"-mlgo-eviction-search={_REPORT}",
            f"-mlgo-eviction-noisy-tries={limits.noisy}",
            f"-mlgo-eviction-flips={limits.flips}",
            f"-mlgo-eviction-flips-per-root-cost={per_root_cost!r}",
            f"-mlgo-eviction-more-flips={limits.more_flips}",
            f"-mlgo-eviction-seed={self.seed}",
        )

    def _key(self, module: Module, options: Sequence[str]) -> str:
        return key_of({**self.identity, "options": list(options)}, module)

    def _request(self, module: Module, options: Sequence[str]) -> CompileRequest:
        problem = self.setup.problem
        flags = [word for option in options for word in ("-mllvm", option)]
        return CompileRequest(
            self.setup.clang,
            module,
            problem,
            model_dir=self.model_dir,
            want_log=False,
            want_object=True,
            extra_flags=(*flags, *(problem.cost.flags() if problem.cost else ())),
            extra_files=(_REPORT, _DECISIONS),
            limits=self.setup.limits,
        )


def ratios_after(
    found: Mapping[str, ModuleFound], setup: CompileSetup, tries: int | None = None
) -> dict[str, list[float]]:
    """Module → ratios of the best costs after `tries` to the default's costs, of its functions. None: after all."""
    ratio = score_of(setup.problem).ratio
    return {
        name: [ratio(each.default, each.cost_after(tries)) for each in module.functions]
        for name, module in found.items()
    }


def with_unique_source(found: Mapping[str, ModuleFound]) -> dict[str, ModuleFound]:
    """Those of `found` whose source no other one has: a decision file names a source once."""
    count = collections.Counter(each.decisions.source for each in found.values() if each.decisions)
    return {name: each for name, each in found.items() if not each.decisions or count[each.decisions.source] <= 1}


def decision_file(found: Mapping[str, ModuleFound]) -> bytes:
    return written(section for name in sorted(found) if (section := found[name].decisions) is not None)


def read_found(path: pathlib.Path) -> ModuleFound:
    """Raises: RunError: a file is absent or damaged. The compiler wrote them, for a module that is not trusted."""
    report, decisions = map(path.with_suffix, _SUFFIXES)
    text = read_text(report, files.MAX_JSON_BYTES, "result of a search", _REMEDY)
    rows = csv.DictReader(io.StringIO(text), delimiter="\t", quoting=csv.QUOTE_NONE)
    sections = read_all(read_file(decisions, files.MAX_JSON_BYTES, "decisions of a search", _REMEDY), str(decisions))
    try:
        columns = tuple(rows.fieldnames or ())
    except csv.Error as error:
        raise RunError(str(report), f"is no result of a search: {error}", _REMEDY) from error
    if columns != _COLUMNS:
        raise RunError(str(report), "is no result of a search", _REMEDY)
    if len(sections) != 1 or not isinstance(sections[0], EvictionSection):
        raise RunError(str(decisions), "has another form than one section of evictions", _REMEDY)
    try:
        functions = tuple(_function(row) for row in rows)
    except (AttributeError, TypeError, ValueError, csv.Error) as error:  # A field is missing, too long, or no number.
        raise RunError(str(report), f"has a damaged line {rows.line_num}", _REMEDY) from error
    return ModuleFound(functions, sections[0] if functions else None)


def _function(row: Mapping[str, str]) -> FunctionFound:
    steps = (step.split(":") for step in row["curve"].split(","))
    return FunctionFound(
        row["function"],
        int(row["questions"]),
        float(row["default"]),
        float(row["asked"]) if row["asked"] else None,
        float(row["best"]),
        int(row["tries"]),
        tuple((int(number), float(cost)) for number, cost in steps),
    )
