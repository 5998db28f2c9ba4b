"""Writes what a search found to a folder, and prints a summary."""

import dataclasses
import pathlib
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mlgo.evaluation.corpora.coverage import Coverage
from mlgo.evaluation.statistics import RatioSummary, summarize_totals
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

    @property
    def compiles(self) -> int:
        """Compiles of all searches."""
        return sum(each.compiles for each in self.modules.values())

    @property
    def tried(self) -> int:
        return sum(each.tried for each in self.modules.values())


@dataclasses.dataclass(frozen=True)
class Results:
    """A search and its settings. Attributes: description: further keys of result.json, such as the seed and digests."""

    tuned: Tuned
    description: Mapping[str, Any]
    seed: int

    def write(self, folder: pathlib.Path) -> list[str]:
        tuned, image = self.tuned, self.tuned.image
        points = curve(tuned.modules)
        files.write_atomically(folder / DECISIONS_NAME, tuned.decisions)
        files.write_atomically(folder / "modules.csv", encode_csv(_MODULE_COLUMNS, _module_rows(tuned.modules)))
        files.write_atomically(folder / "curve.csv", encode_csv(_CURVE_COLUMNS, points))
        changes = self._changes()
        content = {
            **self.description,
            "kind": "tuning",
            "linked_code_bytes": {**_totals(image.starts), "tuned": image.size},
            "change": {name: dataclasses.asdict(summary) for name, summary in changes.items()},
            "modules_of_the_start": sorted(name for name, side in image.side_of.items() if side in image.starts),
            "left_out": list(tuned.left_out),
            "coverage": tuned.coverage and tuned.coverage.to_json(),
            "vanished": tuned.vanished,
            "modules": len(tuned.modules),
            "compiles": tuned.compiles,
            "tried": tuned.tried,
            "curve": points,
            "gains": [
                {"module": name, "start": tuned.modules[name].start, "best": tuned.modules[name].best}
                for name in self._by_gain()[:_LISTED]
            ],
            "cut": self._cut(),
        }
        files.write_json_atomically(folder / "result.json", content)
        table = self._table(changes)
        _write_summary(folder, table)
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

    def _by_gain(self) -> list[str]:
        modules = self.tuned.modules
        return sorted(modules, key=lambda name: (modules[name].best - modules[name].start, name))

    def _cut(self) -> dict[str, Any]:
        """The searches that the number of compiles ended, and what more compiles would try."""
        cut = {name: each for name, each in self.tuned.modules.items() if not each.complete}
        ordered = sorted(cut, key=lambda name: (-cut[name].untried, name))
        return {
            "modules": len(cut),
            "untried": sum(each.untried for each in cut.values()),
            "untried_compiles": sum(each.untried_compiles for each in cut.values()),
            "largest": [
                {
                    "module": name,
                    "untried": cut[name].untried,
                    "untried_compiles": cut[name].untried_compiles,
                    "next_tries": cut[name].next_tries,
                }
                for name in ordered[:_LISTED]
            ],
        }

    def _table(self, changes: Mapping[str, RatioSummary]) -> list[list[str]]:
        image = self.tuned.image
        rows = [["", "code bytes, linked", "the tuned image against it"]]
        totals = _totals(image.starts)
        rows += [[side, f"{totals[side]:,}", summary.percent()] for side, summary in changes.items()]
        return [*rows, ["tuned", f"{image.size:,}", ""]]

    def _remarks(self, folder: pathlib.Path) -> list[str]:
        tuned, cut = self.tuned, self._cut()
        lines = [
            f"{len(tuned.modules)} modules searched with {tuned.compiles:,} compiles, which tried {tuned.tried:,}"
            f" changes; {cut['modules']} stopped by the number of compiles"
        ]
        lines += [
            f"  {name}: {tuned.modules[name].start:,.0f} -> {tuned.modules[name].best:,.0f} bytes"
            for name in self._by_gain()[:_MOST_GAINING]
        ]
        if cut["untried"]:
            lines.append(
                f"With more compiles, the search would go on with {cut['untried']:,} changes, in"
                f" {cut['untried_compiles']:,} compiles"
            )
        if tuned.left_out:
            lines.append(f"Modules left to the compiler: {', '.join(tuned.left_out)}")
        if tuned.coverage is not None:
            lines += tuned.coverage.lines("The corpus")
        if tuned.vanished:
            lines.append(f"Modules of which the tuned image holds no code any more: {', '.join(tuned.vanished)}")
        use = f"clang -Oz -mllvm -mlgo-decisions={shlex.quote(str(folder / DECISIONS_NAME))} -c FILE"
        return [*lines, "", "Use the decisions with //release:clang or an installed one:", f"    {use}"]


def _write_summary(folder: pathlib.Path, table: Sequence[Sequence[str]]) -> None:
    """Writes summary.md into `folder`. Args: table: its first row has the heads."""
    lines = [*markdown_head(table[0]), *map(markdown_row, table[1:])]
    files.write_atomically(folder / "summary.md", "".join(f"{line}\n" for line in lines).encode("utf-8"))


def curve(modules: Mapping[str, ModuleResult]) -> list[Point]:
    """A point for the default, and one after each improvement. A module counts with its default until its first build
    is known."""
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


def _totals(sides: Mapping[str, Mapping[str, int]]) -> dict[str, int]:
    return {side: sum(sizes.values()) for side, sizes in sides.items()}


def _module_rows(modules: Mapping[str, ModuleResult]) -> Iterator[Sequence[Any]]:
    for name, each in sorted(modules.items()):
        values = {**dataclasses.asdict(each), "module": name, "complete": int(each.complete)}
        yield [values[column] for column in _MODULE_COLUMNS]
