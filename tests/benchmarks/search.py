"""The search of //mlgo:tune: CPU time against one compile for each change that it tries, and the gain of a second
worker.

The reference compiles a module once for each change, with the clang and the flags of the search, and has no program
around it and no link, both of which the search has. A second row has a reference that knows the decisions that the
search ended with: one compile for each of them that differs from the heuristic's, and no wrong try.
"""

import csv
import dataclasses
import os
import pathlib
import tempfile
import time
from collections.abc import Sequence

from mlgo.corpus.corpus import Corpus
from mlgo.run import locate
from mlgo.search.decision_file import Section, read
from tests.benchmarks.compile_cost import Variant, compile_once
from tests.benchmarks.decision_file import write_decisions
from tests.benchmarks.row import Row, at_least

#: Issue 20, "Speed".
LEAST_SAVING, LEAST_SPEED_UP = 3.0, 1.8
_CORPUS = "mlgo/corpus/re2_oz"


def measure() -> list[Row]:
    """Five rows; takes about ten minutes."""
    modules = Corpus.load(locate.runfile(_CORPUS)).modules
    clang = locate.runfile("development/clang")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        two, one = (_search(folder / str(workers), workers) for workers in (2, 1))
        found = read((folder / "1" / "tuned.decisions").read_bytes(), "tuned.decisions")
        before = read(write_decisions(clang, modules, folder).read_bytes(), "decisions")
        changed = [changed_decisions(section, found) for section in before]
        compiles = [compile_once(Variant("default", clang), module, "-Oz", folder) for module in modules]
        tried = _tried(folder / "1" / "modules.csv")

    def against_the_search(counts: Sequence[int]) -> float:
        seconds = sum(count * compile.cpu_seconds for count, compile in zip(counts, compiles, strict=True))
        return seconds / one.cpu_seconds

    return [
        at_least(
            "re2_oz: CPU time of one compile per change tried, against the search",
            against_the_search([tried[module.name] for module in modules]),
            "x",
            LEAST_SAVING,
        ),
        Row("re2_oz: changes that the search tried", sum(tried.values()), ""),
        Row("re2_oz: CPU time of one compile per changed decision", against_the_search(changed), "x"),
        Row("re2_oz: decisions that the search changed", sum(changed), ""),
        at_least(
            "re2_oz: wall time of the search with 1 worker, against 2",
            one.wall_seconds / two.wall_seconds,
            "x",
            LEAST_SPEED_UP,
        ),
    ]


def changed_decisions(before: Section, found: Sequence[Section]) -> int:
    """How many call sites of a module, whose section with the heuristic is `before`, are decided otherwise in `found`.

    Call sites that only one of the two has follow from other decisions, and do not count.
    """
    return sum(
        before.decisions.get(site, decision) is not decision
        for section in found
        if section.source == before.source
        for site, decision in section.decisions.items()
    )


def _tried(modules: pathlib.Path) -> dict[str, int]:
    """Module → changes that its search tried, from the file of the search."""
    with modules.open(encoding="utf-8", newline="") as lines:
        return {row["module"]: int(row["tried"]) for row in csv.DictReader(lines)}


@dataclasses.dataclass(frozen=True)
class Times:
    """What a command took: seconds of the wall clock, and of all processors with the processes that it started."""

    wall_seconds: float
    cpu_seconds: float


def _search(output: pathlib.Path, workers: int) -> Times:
    """Runs //mlgo:tune. Raises: RuntimeError: it fails."""
    flags = [f"--corpus={locate.runfile(_CORPUS)}", f"--output_dir={output}", f"--workers={workers}", "--cache_dir="]
    start = time.perf_counter()
    process = os.posix_spawn(tune := locate.runfile("mlgo/tune"), [str(tune), *flags], os.environ)
    _, status, used = os.wait4(process, 0)
    if status:
        raise RuntimeError(f"{tune} {' '.join(flags)} fails with status {status}")
    return Times(time.perf_counter() - start, used.ru_utime + used.ru_stime)
