"""Writes what a search for eviction decisions found to a folder, and prints a summary."""

import dataclasses
import math
import pathlib
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mlgo.evaluation.statistics import RatioSummary, summarize
from mlgo.run import files
from mlgo.run.tabular import aligned_lines, encode_csv, markdown_head, markdown_row
from mlgo.score.problem_score import score_of
from mlgo.search.eviction_search import FunctionFound, ModuleFound, decision_file, ratios_after
from mlgo.trace.setup import CompileSetup

DECISIONS_NAME = "tuned.decisions"
_FUNCTION_COLUMNS = ("module", "function", "questions", "tries", "default", "policy", "best")
_CURVE_COLUMNS = ("tries_per_function", "cost_ratio")


@dataclasses.dataclass(frozen=True)
class EvictionResults:
    """A search and its settings.

    Attributes:
      found: module → what was found.
      setup: how modules were compiled.
      left_out: module → why the file has no decisions of it.
      description: further keys of result.json.
      seed: of bootstraps.
    """

    found: Mapping[str, ModuleFound]
    setup: CompileSetup
    left_out: Mapping[str, str]
    description: Mapping[str, Any]
    seed: int

    def write(self, folder: pathlib.Path) -> list[str]:
        """Writes all files into `folder`; returns the lines of a summary."""
        changes = self._changes()
        points = list(self._curve())
        files.write_atomically(folder / DECISIONS_NAME, decision_file(self.found))
        files.write_atomically(folder / "functions.csv", encode_csv(_FUNCTION_COLUMNS, self._rows()))
        files.write_atomically(folder / "curve.csv", encode_csv(_CURVE_COLUMNS, points))
        content = {
            **self.description,
            "kind": "eviction_tuning",
            "change": {name: dataclasses.asdict(summary) for name, summary in changes.items()},
            "modules": len(self.found),
            "functions": sum(len(each.functions) for each in self.found.values()),
            "tries": sum(each.tries for _, each in self._functions()),
            "curve": points,
            "left_out": dict(self.left_out),
        }
        files.write_json_atomically(folder / "result.json", content)
        table = [["", "cost, geometric mean", "functions", "better", "equal"]]
        for name, of in changes.items():
            table.append([name, of.percent(), f"{of.functions:,}", f"{of.better:,}", f"{of.equal:,}"])
        lines = [*markdown_head(table[0]), *map(markdown_row, table[1:])]
        files.write_atomically(folder / "summary.md", "".join(f"{line}\n" for line in lines).encode("utf-8"))
        return [*aligned_lines(table), "", *self._remarks(folder / DECISIONS_NAME, content["tries"])]

    def _functions(self) -> Iterator[tuple[str, FunctionFound]]:
        return ((name, each) for name in sorted(self.found) for each in self.found[name].functions)

    def _changes(self) -> dict[str, RatioSummary]:
        """What was found against the default and against the policy, and the policy against the default."""
        ratio = score_of(self.setup.problem).ratio
        compared: dict[str, dict[str, list[float]]] = {"found against default": ratios_after(self.found, self.setup)}
        for name, each in self._functions():
            if each.policy is not None:
                for title, value in (
                    ("found against policy", ratio(each.policy, each.best)),
                    ("policy against default", ratio(each.default, each.policy)),
                ):
                    compared.setdefault(title, {}).setdefault(name, []).append(value)
        summaries = {title: summarize(ratios, self.seed) for title, ratios in compared.items()}
        return {title: summary for title, summary in summaries.items() if summary is not None}

    def _curve(self) -> Iterator[tuple[int, float]]:
        """(tries of each function, geometric mean of the ratios to the default), for powers of two and the end."""
        last = max((each.tries for _, each in self._functions()), default=0)
        for tries in [1 << power for power in range(last.bit_length())] + [last] * (last > 0):
            ratios = [ratio for each in ratios_after(self.found, self.setup, tries).values() for ratio in each]
            yield tries, round(math.exp(math.fsum(map(math.log, ratios)) / len(ratios)), 6)

    def _rows(self) -> Iterator[Sequence[Any]]:
        for module, each in self._functions():
            policy = "" if each.policy is None else each.policy
            yield module, each.name, each.questions, each.tries, each.default, policy, each.best

    def _remarks(self, path: pathlib.Path, tries: int) -> list[str]:
        lines = [f"{tries:,} allocations tried in {len(self.found)} modules"]
        lines += [f"left to the compiler: {name}: {why}" for name, why in sorted(self.left_out.items())]
        use = f"clang -O2 -mllvm -mlgo-decisions={shlex.quote(str(path))} -c FILE"
        return [*lines, "", "Use the decisions with //release:clang or an installed one:", f"    {use}"]
