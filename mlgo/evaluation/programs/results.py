"""Measures programs and writes the results: result.json, programs.csv, summary.md."""

import dataclasses
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

from mlgo.compiler.symbols import Demangler
from mlgo.evaluation.corpora.coverage import Coverage
from mlgo.evaluation.programs import run_time, size, tables
from mlgo.evaluation.programs.building import Toolchain
from mlgo.evaluation.programs.counters import Counter, Perf
from mlgo.evaluation.programs.evaluation import CostSettings, ProgramEvaluation, Table
from mlgo.evaluation.programs.program import Program
from mlgo.evaluation.programs.totals import benchmark_totals, timing_ratios, totals, verdicts, without_ml
from mlgo.evaluation.sides import DEFAULT, Side, threshold_of
from mlgo.run import files
from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.run.manifest import digest_of_file
from mlgo.run.progress import show

_PARTS = (
    *("size", "executed", "symbols", "coverage", "run", "run_details", "run_times", "cost"),
    *("left_out", "differing", "totals"),
)


@dataclasses.dataclass(frozen=True)
class Plan:
    """What is measured."""

    sizes: Sequence[Side]  #: sides of the size comparison, the default first; empty: sizes are not measured.
    #: sides of the run-time comparison, the default first; empty: programs are not counted and timed.
    runs: Sequence[Side]
    cost: Mapping[str, Sequence[Side]]  #: optimisation level -> sides whose compile cost is measured.
    thinlto: bool
    symbols: int  #: how many functions that grew most, and that shrank most, are recorded per program.
    repeats: int  #: timed runs of each program; 0: none, as under an emulator.
    counter: Counter
    perf: Perf | None  #: counts events of the timed runs; None: only their time is measured.
    cost_settings: CostSettings
    seen: frozenset[str]  #: programs whose sources training saw; the others have totals of their own.
    seed: int

    def inputs(self, toolchain: Toolchain) -> dict[str, Any]:
        costs = {f"{side.name}, cost at {level}": side.digest() for level, sides in self.cost.items() for side in sides}
        return {**self.compilers(toolchain), **costs, "counter": self.counter.digest()}

    def compilers(self, toolchain: Toolchain) -> dict[str, str]:
        return {
            "linker": toolchain.digest(),
            **{f"{side.name} at {size.LEVEL}": side.digest() for side in self.sizes},
            **{f"{side.name} at {run_time.LEVEL}": side.digest() for side in self.runs},
        }


def seen_from_flags(names: Sequence[str], programs: Sequence[Program]) -> frozenset[str]:
    """The programs that --seen names. Raises: RunError: one is not among `programs`, or none is left."""
    measured = {program.name for program in programs}
    if unknown := sorted(set(names) - measured):
        known = f"Name some of {', '.join(sorted(measured))}"
        raise RunError(f"--seen={','.join(names)}", f"names {unknown[0]!r}, which is not measured", known)
    if not measured - set(names):
        raise RunError(f"--seen={','.join(names)}", "names every program", "Leave out those that training did not see")
    return frozenset(names)


def measure(evaluation: ProgramEvaluation, programs: Sequence[Program], plan: Plan) -> dict[str, Any]:
    """Does everything in `plan`; returns the content of result.json, which README.md describes."""
    result: dict[str, Any] = {
        "kind": "programs",
        "seed": plan.seed,
        "digests": plan.compilers(evaluation.toolchain),
        "programs": {program.name: _described(program) for program in programs},
        "counters": {"counts": plan.counter.name, "perf": False},
        **{part: {} for part in _PARTS},
    }
    if plan.sizes:
        counted = [side.name for side in plan.sizes if threshold_of(side.name) is None]
        through_thinlto = counted if plan.thinlto else []
        table, more = evaluation.sizes(programs, plan.sizes, through_thinlto, counted, plan.counter, plan.symbols)
        result |= more
        _add(result, "size", table, (*size.SIZES, *size.LTO_SIZES.values()), plan)
        _add(result, "executed", Table(more["executed"], {}, {}), run_time.COUNTS, plan)
    if plan.runs:
        result["counters"]["perf"] = plan.perf is not None
        table, details = evaluation.runs(programs, plan.runs, plan.counter, plan.repeats, plan.perf)
        times = {program: {side: of["times"] for side, of in sides.items()} for program, sides in details.items()}
        result["run_details"], result["run_times"] = details, timing_ratios(times, DEFAULT, plan.seed)
        through_lto = [name for counts in run_time.LTO_COUNTS.values() for name in counts.values()]
        events = ["cycles", *(plan.perf.chosen.values() if plan.perf is not None else ())]
        if benchmarks := benchmark_totals(table.rows, DEFAULT, plan.seed):
            result["totals"]["benchmarks"] = benchmarks
        measures = (*run_time.COUNTS, *run_time.SIZES, "cpu_seconds", "wall_seconds", *events, *through_lto)
        _add(result, "run", table, measures, plan)
    for level, sides in plan.cost.items():
        found, left_out = evaluation.cost(programs, sides, level, plan.cost_settings)
        result["cost"] |= {level: found} if found else {}
        result["left_out"] |= {f"cost at {level}": left_out} if left_out else {}
    result["without_ml"] = without_ml(result["totals"])
    result["verdicts"] = verdicts(result["totals"])
    return result


def write(folder: pathlib.Path, result: Mapping[str, Any], demangler: Demangler | None = None) -> ExitCode:
    """Writes the files, prints the tables; returns the exit code.

    Args: demangler: of names of functions in the tables; None: they stay mangled.
    Raises: RunError: no program could be compared.
    """
    summary = tables.markdown(result, demangler)
    files.write_json_atomically(folder / "result.json", result)
    files.write_atomically(folder / "programs.csv", tables.to_csv(result))
    files.write_atomically(folder / "summary.md", summary.encode("utf-8"))
    show(["", *summary.split("\n"), *_coverage_lines(result.get("coverage", {}))])
    show([f"Results: {folder / 'result.json'}, programs.csv, summary.md"])
    if result["differing"]:
        return ExitCode.OUTPUT_DIFFERS
    if not (result["size"] or result["run"]):
        subject, remedy = f"{len(result['programs'])} programs", "See above why each was left out"
        raise RunError(subject, "could not be compared", remedy, ExitCode.NOTHING_PRODUCED)
    return ExitCode.TOO_MANY_FAILURES if result["left_out"] else ExitCode.DONE


def _coverage_lines(coverage: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The units of each program that its image holds nothing of. Args: coverage: program -> as Coverage.to_json."""
    return [
        line
        for name, found in coverage.items()
        for line in Coverage(found["modules"], found["without_code"], found["absent"]).lines(name)
    ]


def _described(program: Program) -> dict[str, Any]:
    profiles = {level: digest_of_file(path) for level, path in program.profiles.items()}
    return {"about": program.about, "digest": program.digest(), **({"profiles": profiles} if profiles else {})}


def _add(result: dict[str, Any], part: str, table: Table, measures: Sequence[str], plan: Plan) -> None:
    result[part] = table.rows
    result["totals"][part] = totals(table.rows, DEFAULT, measures, plan.seed)
    if plan.seen:
        unseen = {program: sides for program, sides in table.rows.items() if program not in plan.seen}
        result["totals"].setdefault("unseen", {})[part] = totals(unseen, DEFAULT, measures, plan.seed)
    result["left_out"] |= {part: table.left_out} if table.left_out else {}
    result["differing"] |= {part: table.differing} if table.differing else {}
