"""Writes what a search for eviction decisions found to a folder, and prints a summary."""

import dataclasses
import math
import pathlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mlgo.evaluation.sides import CalleeSavedCost
from mlgo.evaluation.statistics import RatioSummary, summarize
from mlgo.evaluation.weighted_sum import ScorePair, WeightedSum, weighted_sum
from mlgo.run import files
from mlgo.run.tabular import aligned_lines, encode_csv
from mlgo.score.problem_score import score_of
from mlgo.search.eviction_search import FunctionFound, ModuleFound, decision_file, ratios_after
from mlgo.search.results import DECISIONS_NAME, use_lines, write_summary
from mlgo.trace.setup import CompileSetup

_FUNCTION_COLUMNS = ("module", "function", "questions", "tries", "default", "policy", "best")
_CURVE_COLUMNS = ("tries_per_function", "cost_ratio", "cost_sum_ratio")
_FOUND_AGAINST_DEFAULT, _FOUND_AGAINST_POLICY = "found against default", "found against policy"
_POLICY_AGAINST_DEFAULT = "policy against default"
#: Functions that result.json lists.
_LISTED = 20
#: A function whose best allocation is among the last tries, of so many parts of them, may have more to gain.
_LAST_PART = 4


@dataclasses.dataclass(frozen=True)
class EvictionResults:
    """A search and its settings.

    Attributes: left_out: module → why the file has no decisions of it; description: further keys of result.json.
    """

    found: Mapping[str, ModuleFound]
    setup: CompileSetup
    left_out: Mapping[str, str]
    description: Mapping[str, Any]
    seed: int

    def write(self, folder: pathlib.Path) -> list[str]:
        changes, sums = self._changes(), self._sums()
        points = list(self._curve())
        files.write_atomically(folder / DECISIONS_NAME, decision_file(self.found))
        files.write_atomically(folder / "functions.csv", encode_csv(_FUNCTION_COLUMNS, self._rows()))
        files.write_atomically(folder / "curve.csv", encode_csv(_CURVE_COLUMNS, points))
        content = {
            **self.description,
            "kind": "eviction_tuning",
            "change": {name: dataclasses.asdict(summary) for name, summary in changes.items()},
            "sums": {name: of.to_json() for name, of in sums.items()},
            "modules": len(self.found),
            "modules_with_decisions": sum(bool(each.functions) for each in self.found.values()),
            "live_ranges": sum(each.questions for _, each in self._functions()),
            "functions": sum(len(each.functions) for each in self.found.values()),
            "tries": sum(each.tries for _, each in self._functions()),
            "gaining_at_the_end": sum(_gains_at_the_end(each) for _, each in self._functions()),
            "curve": points,
            "gains": [
                {"module": module, "function": each.name, "start": _start(each), "best": each.best}
                for module, each in self._by_gain()[:_LISTED]
            ],
            "left_out": dict(self.left_out),
        }
        files.write_json_atomically(folder / "result.json", content)
        table = [["", "cost, geometric mean", "sum of the costs", "functions", "better", "equal"]]
        for name, of in changes.items():
            total = sums[name].summary.percent() if name in sums else ""
            table.append([name, of.percent(), total, f"{of.functions:,}", f"{of.better:,}", f"{of.equal:,}"])
        write_summary(folder, table)
        return [*aligned_lines(table), "", *self._remarks(folder / DECISIONS_NAME, content["tries"])]

    def _functions(self) -> Iterator[tuple[str, FunctionFound]]:
        return ((name, each) for name in sorted(self.found) for each in self.found[name].functions)

    def _changes(self) -> dict[str, RatioSummary]:
        """What was found against the default and against the policy, and the policy against the default."""
        ratio = score_of(self.setup.problem).ratio
        compared: dict[str, dict[str, list[float]]] = {_FOUND_AGAINST_DEFAULT: ratios_after(self.found, self.setup)}
        for name, each in self._functions():
            if each.policy is not None:
                for title, value in (
                    (_FOUND_AGAINST_POLICY, ratio(each.policy, each.best)),
                    (_POLICY_AGAINST_DEFAULT, ratio(each.default, each.policy)),
                ):
                    compared.setdefault(title, {}).setdefault(name, []).append(value)
        summaries = {title: summarize(ratios, self.seed) for title, ratios in compared.items()}
        return {title: summary for title, summary in summaries.items() if summary is not None}

    def _sums(self) -> dict[str, WeightedSum]:
        """As `_changes`, of the sums of the costs."""
        pairs: dict[str, list[ScorePair]] = {}
        for module, each in self._functions():
            compared = [(_FOUND_AGAINST_DEFAULT, each.default, each.best)]
            if each.policy is not None:
                compared.append((_FOUND_AGAINST_POLICY, each.policy, each.best))
                compared.append((_POLICY_AGAINST_DEFAULT, each.default, each.policy))
            for title, before, after in compared:
                pairs.setdefault(title, []).append(ScorePair(module, each.name, before, after))
        summed = {title: weighted_sum(of, self.seed) for title, of in pairs.items()}
        return {title: each for title, each in summed.items() if each is not None}

    def _by_gain(self) -> list[tuple[str, FunctionFound]]:
        """(module, function) for those that gained, those first whose cost fell most."""
        gaining = [(name, each) for name, each in self._functions() if each.best < _start(each)]
        return sorted(gaining, key=lambda entry: (entry[1].best - _start(entry[1]), entry[0], entry[1].name))

    def _curve(self) -> Iterator[tuple[int, float, float]]:
        """(tries of each function, geometric mean of the ratios to the default, ratio of the sums of costs).

        For powers of two and the end.
        """
        default = math.fsum(each.default for _, each in self._functions())
        last = max((each.tries for _, each in self._functions()), default=0)
        for tries in sorted(({1 << power for power in range(last.bit_length())} | {last}) - {0}):
            ratios = [ratio for each in ratios_after(self.found, self.setup, tries).values() for ratio in each]
            mean = math.exp(math.fsum(map(math.log, ratios)) / len(ratios))
            total = math.fsum(each.cost_after(tries) for _, each in self._functions())
            yield tries, round(mean, 6), round(total / default, 6) if default else 1.0

    def _rows(self) -> Iterator[Sequence[Any]]:
        for module, each in self._functions():
            policy = "" if each.policy is None else each.policy
            yield module, each.name, each.questions, each.tries, each.default, policy, each.best

    def _remarks(self, path: pathlib.Path, tries: int) -> list[str]:
        lines = [f"{tries:,} allocations tried in {len(self.found)} modules"]
        lines += [f"left to the compiler: {name}: {why}" for name, why in sorted(self.left_out.items())]
        if cost := self.description.get("callee_saved_cost"):
            lines.append(f"default, policy and what was found all have a callee-saved cost of {cost}")
        return [*lines, *use_lines(path, "-O2", CalleeSavedCost(cost).flags() if cost else ())]


def _start(function: FunctionFound) -> float:
    return function.default if function.policy is None else min(function.default, function.policy)


def _gains_at_the_end(function: FunctionFound) -> bool:
    return len(function.curve) > 1 and function.curve[-1][0] * _LAST_PART > function.tries * (_LAST_PART - 1)
