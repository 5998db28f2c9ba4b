"""Writes what a search found to a folder, and prints a summary."""

import dataclasses
import pathlib
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from mlgo.evaluation.corpora.coverage import Coverage
from mlgo.evaluation.statistics import summarize_totals
from mlgo.run import files
from mlgo.run.tabular import aligned_lines, encode_csv, markdown_head, markdown_row
from mlgo.search.corpus_search import ModuleResult
from mlgo.search.image import LinkedSelection

DECISIONS_NAME = "tuned.decisions"
_MODULE_COLUMNS = ("module", "questions", "compiles", "tried", "complete", "default", "policy", "best", "untried")
_CURVE_COLUMNS = ("compiles_per_module", "bytes", "change")
#: Modules that the terminal lists, and those that result.json lists.
_MOST_GAINING, _LISTED = 5, 20

#: (compiles spent on each module, bytes of all modules, change against the default as a ratio minus 1).
Point = tuple[int, float, float]


@dataclasses.dataclass(frozen=True)
class Tuned:
    """What was found."""

    modules: Mapping[str, ModuleResult]
    image: LinkedSelection  #: the linked code.
    decisions: bytes
    #: modules without decisions in the file: they do not compile, the image holds none of their code, or another has
    #: the same source or none.
    left_out: Sequence[str]
    #: which modules the images that the search starts from hold code of; None: this is not known.
    coverage: Coverage | None = None

    @property
    def vanished(self) -> list[str]:
        """Searched modules of which the chosen image holds no code, and the images before it did, sorted."""
        before = {name for sizes in self.image.starts.values() for name, size in sizes.items() if size}
        return sorted(name for name in before & self.modules.keys() if not self.image.sizes[name])

    def write(self, folder: pathlib.Path, described: Mapping[str, Any], seed: int) -> list[str]:
        """Writes the results; returns the lines of a summary.

        Args: described: further keys of result.json, such as digests; seed: of the intervals.
        """
        image, points, cut = self.image, curve(self.modules), self._cut()
        files.write_atomically(folder / DECISIONS_NAME, self.decisions)
        modules = [
            {**dataclasses.asdict(each), "module": name, "complete": int(each.complete)}
            for name, each in sorted(self.modules.items())
        ]
        rows = ([each[column] for column in _MODULE_COLUMNS] for each in modules)
        files.write_atomically(folder / "modules.csv", encode_csv(_MODULE_COLUMNS, rows))
        files.write_atomically(folder / "curve.csv", encode_csv(_CURVE_COLUMNS, points))
        totals = {side: sum(sizes.values()) for side, sizes in image.starts.items()}
        changes = {}
        for side, sizes in image.starts.items():
            if summary := summarize_totals({name: (image.sizes[name], sizes[name]) for name in sizes}, seed):
                changes[side] = summary
        content = {
            **described,
            "kind": "tuning",
            "linked_code_bytes": {**totals, "tuned": image.size},
            "change": {name: dataclasses.asdict(summary) for name, summary in changes.items()},
            "modules_of_the_start": sorted(name for name, side in image.side_of.items() if side in image.starts),
            "left_out": list(self.left_out),
            "coverage": self.coverage and self.coverage.to_json(),
            "vanished": self.vanished,
            "modules": len(self.modules),
            "compiles": sum(each.compiles for each in self.modules.values()),
            "tried": sum(each.tried for each in self.modules.values()),
            "curve": points,
            "gains": [
                {"module": name, "start": self.modules[name].start, "best": self.modules[name].best}
                for name in self._by_gain()[:_LISTED]
            ],
            "cut": cut,
        }
        files.write_json_atomically(folder / "result.json", content)
        head, *table = [
            ["", "code bytes, linked", "the tuned image against it"],
            *([side, f"{totals[side]:,}", summary.percent()] for side, summary in changes.items()),
            ["tuned", f"{image.size:,}", ""],
        ]
        summary_lines = [*markdown_head(head), *map(markdown_row, table)]
        files.write_atomically(folder / "summary.md", "".join(f"{line}\n" for line in summary_lines).encode("utf-8"))
        return [*aligned_lines([head, *table]), "", *self._remarks(content, folder)]

    def _by_gain(self) -> list[str]:
        return sorted(self.modules, key=lambda name: (self.modules[name].best - self.modules[name].start, name))

    def _cut(self) -> dict[str, Any]:
        """The searches that the number of compiles ended, and what more compiles would try."""
        cut = {name: each for name, each in self.modules.items() if not each.complete}
        ordered = sorted(cut, key=lambda name: (-cut[name].untried, name))
        return {
            "modules": len(cut),
            "untried": sum(each.untried for each in cut.values()),
            "untried_compiles": sum(each.untried_compiles for each in cut.values()),
            "largest": [
                {
                    "module": name,
                    **{key: getattr(cut[name], key) for key in ("untried", "untried_compiles", "next_tries")},
                }
                for name in ordered[:_LISTED]
            ],
        }

    def _remarks(self, content: Mapping[str, Any], folder: pathlib.Path) -> list[str]:
        cut = content["cut"]
        lines = [
            f"{len(self.modules)} modules searched with {content['compiles']:,} compiles, which tried"
            f" {content['tried']:,} changes; {cut['modules']} stopped by the number of compiles"
        ]
        lines += [
            f"  {name}: {self.modules[name].start:,.0f} -> {self.modules[name].best:,.0f} bytes"
            for name in self._by_gain()[:_MOST_GAINING]
        ]
        if cut["untried"]:
            lines.append(
                f"With more compiles, the search would go on with {cut['untried']:,} changes, in"
                f" {cut['untried_compiles']:,} compiles"
            )
        if self.left_out:
            lines.append(f"Modules left to the compiler: {', '.join(self.left_out)}")
        if self.coverage is not None:
            lines += self.coverage.lines("The corpus")
        if self.vanished:
            lines.append(f"Modules of which the tuned image holds no code any more: {', '.join(self.vanished)}")
        use = f"clang -Oz -mllvm -mlgo-decisions={shlex.quote(str(folder / DECISIONS_NAME))} -c FILE"
        return [*lines, "", "Use the decisions with //release:clang or an installed one:", f"    {use}"]


def curve(modules: Mapping[str, ModuleResult]) -> list[Point]:
    """A point for the default, and one after each improvement. A module counts with its default until its first one."""
    default = sum(each.default for each in modules.values())
    steps: dict[int, float] = {}
    for each in modules.values():
        last = each.default
        for compiles, size in each.curve:
            steps[compiles] = steps.get(compiles, 0.0) + size - last
            last = size
    points, current = [(0, default, 0.0)], default
    for compiles in sorted(steps):
        current += steps[compiles]
        points.append((compiles, round(current, 2), round(current / default - 1.0, 6) if default else 0.0))
    return points
