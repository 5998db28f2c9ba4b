"""Writes what a search found to a folder, and prints a summary."""

import dataclasses
import pathlib
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from mlgo.evaluation.statistics import RatioSummary, summarize_totals
from mlgo.run import files
from mlgo.run.tabular import aligned_lines, encode_csv, markdown_head, markdown_row
from mlgo.search.corpus_search import ModuleResult
from mlgo.search.tuning import Tuned

DECISIONS_NAME = "tuned.decisions"
_MODULE_COLUMNS = ("module", "questions", "compiles", "complete", "default", "policy", "best")
_CURVE_COLUMNS = ("compiles_per_module", "bytes", "change")
#: Modules that the terminal lists.
_MOST_GAINING = 5


@dataclasses.dataclass(frozen=True)
class Results:
    """A search and its settings.

    Attributes:
      tuned: what was found.
      description: further keys of result.json: problem, reward, seed, digests.
      seed: of bootstraps.
    """

    tuned: Tuned
    description: Mapping[str, Any]
    seed: int

    def write(self, folder: pathlib.Path) -> list[str]:
        """Writes all files into `folder`; returns the lines of a summary."""
        tuned = self.tuned
        files.write_atomically(folder / DECISIONS_NAME, tuned.decisions)
        files.write_atomically(folder / "modules.csv", encode_csv(_MODULE_COLUMNS, _module_rows(tuned.modules)))
        files.write_atomically(folder / "curve.csv", encode_csv(_CURVE_COLUMNS, curve(tuned.modules)))
        changes = self._changes()
        content = {
            **self.description,
            "kind": "tuning",
            "linked_code_bytes": {**_totals(tuned.image.starts), "tuned": tuned.image.size},
            "change": {name: dataclasses.asdict(summary) for name, summary in changes.items()},
            "modules_of_the_start": sorted(name for name, side in tuned.image.side_of.items() if side != "found"),
            "left_out": list(tuned.left_out),
            "compiles": sum(each.compiles for each in tuned.modules.values()),
        }
        files.write_json_atomically(folder / "result.json", content)
        table = self._table(changes)
        lines = [*markdown_head(table[0]), *map(markdown_row, table[1:])]
        files.write_atomically(folder / "summary.md", "".join(f"{line}\n" for line in lines).encode("utf-8"))
        return [*aligned_lines(table), "", *self._remarks(folder)]

    def _changes(self) -> dict[str, RatioSummary]:
        """By start: the chosen image against it."""
        image = self.tuned.image
        found = {}
        for side, sizes in image.starts.items():
            summary = summarize_totals({name: (image.sizes[name], sizes[name]) for name in sizes}, self.seed)
            if summary is not None:
                found[side] = summary
        return found

    def _table(self, changes: Mapping[str, RatioSummary]) -> list[list[str]]:
        image = self.tuned.image
        rows = [["", "code bytes, linked", "the tuned image against it"]]
        totals = _totals(image.starts)
        rows += [[side, f"{totals[side]:,}", summary.percent()] for side, summary in changes.items()]
        return [*rows, ["tuned", f"{image.size:,}", ""]]

    def _remarks(self, folder: pathlib.Path) -> list[str]:
        modules = self.tuned.modules
        compiles = sum(each.compiles for each in modules.values())
        cut = sum(not each.complete for each in modules.values())
        lines = [f"{len(modules)} modules searched with {compiles:,} compiles; {cut} stopped by the number of compiles"]
        gains = sorted(modules, key=lambda name: (modules[name].best - modules[name].start, name))[:_MOST_GAINING]
        lines += [f"  {name}: {modules[name].start:,.0f} -> {modules[name].best:,.0f} bytes" for name in gains]
        if self.tuned.left_out:
            lines.append(f"Modules left to the compiler: {', '.join(self.tuned.left_out)}")
        path = folder / DECISIONS_NAME
        return [*lines, "", "Use the decisions with //release:clang or an installed one:", f"    {use_of(path)}"]


def use_of(path: pathlib.Path) -> str:
    """The compile command that applies the decision file at `path`."""
    return f"clang -Oz -mllvm -mlgo-decisions={shlex.quote(str(path))} -c FILE"


def curve(modules: Mapping[str, ModuleResult]) -> list[tuple[int, float, float]]:
    """(compiles spent on each module, bytes of all modules, change against the default) after each improvement.

    A module counts with its default until its first build is known.
    """
    default = sum(each.default for each in modules.values())
    steps: dict[int, float] = {}
    for each in modules.values():
        last = each.default
        for compiles, size in each.curve:
            steps[compiles] = steps.get(compiles, 0.0) + size - last
            last = size
    rows, current = [(0, default, 0.0)], default
    for compiles in sorted(steps):
        current += steps[compiles]
        rows.append((compiles, round(current, 2), round(current / default - 1.0, 6) if default else 0.0))
    return rows


def _totals(sides: Mapping[str, Mapping[str, int]]) -> dict[str, int]:
    return {side: sum(sizes.values()) for side, sizes in sides.items()}


def _module_rows(modules: Mapping[str, ModuleResult]) -> list[Sequence[Any]]:
    return [
        (name, each.questions, each.compiles, int(each.complete), each.default, each.policy, each.best)
        for name, each in sorted(modules.items())
    ]
