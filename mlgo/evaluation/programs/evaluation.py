"""Measures programs stage by stage, several at a time: sizes, executed instructions and run time, compile cost.

It says which programs cannot be compared.
"""

import contextlib
import dataclasses
import pathlib
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mlgo.evaluation.programs import building, cost, run_time, size
from mlgo.evaluation.programs.counters import Counter, CounterFailure, Perf
from mlgo.evaluation.programs.program import Program
from mlgo.evaluation.programs.running import RunFailure
from mlgo.evaluation.sides import DEFAULT, Side, threshold_of
from mlgo.identity.programs import program_identity
from mlgo.run import child, files, progress, signals
from mlgo.run.exit_codes import RunError
from mlgo.run.manifest import digest_of_file, digest_of_json
from mlgo.run.run_folder import RunFolder

_MEASURED = "measured.json"
_REDO = "Delete its folder; the stage then runs again"


@dataclasses.dataclass(frozen=True)
class CostSettings:
    sources: int = 6  #: per program.
    turns: int = 3  #: compiles of each source by each compiler.
    seed: int = 1  #: of the bootstrap.


@dataclasses.dataclass(frozen=True)
class Table:
    """One part of an evaluation."""

    rows: dict[str, dict[str, dict[str, Any]]]  #: program -> side -> measure -> number or None.
    left_out: dict[str, str]  #: program that cannot be built or fails on some side -> reason.
    differing: dict[str, str]  #: program that behaves differently on some side -> reason.


@dataclasses.dataclass(frozen=True)
class _Failed:
    """Attributes: reason: for the user; differs: the program was measured, and behaves differently."""

    reason: str
    differs: bool = False


@dataclasses.dataclass(frozen=True)
class ProgramEvaluation:
    """Measures with one toolchain into stages of `folder`."""

    folder: RunFolder
    toolchain: building.Toolchain
    #: kinds of LTO within the linker that programs are linked through too, except on sides of thresholds.
    lto: Sequence[str] = ()
    # A build uses all cores, and finds the objects of the builds before it.
    _building: threading.Lock = dataclasses.field(default_factory=threading.Lock, repr=False, compare=False)
    # What compilers read of programs, of which several sides have one; filled under the lock.
    _read: dict[Any, str] = dataclasses.field(default_factory=dict, repr=False, compare=False)
    _reading: threading.Lock = dataclasses.field(default_factory=threading.Lock, repr=False, compare=False)

    def stage(
        self,
        name: str,
        inputs: Mapping[str, str],
        configuration: Mapping[str, Any],
        work: Callable[[pathlib.Path], Mapping[str, Any]],
    ) -> pathlib.Path:
        """Runs what is left of the stage `name`, as RunFolder.stage; returns its folder."""
        self.folder.stage(name, inputs, configuration, work)
        return self.folder.path / name

    def sizes(
        self,
        programs: Sequence[Program],
        sides: Sequence[Side],
        thinlto: Sequence[str],
        counted: Sequence[str],
        counter: Counter,
        symbols: int,
    ) -> tuple[Table, dict[str, dict[str, Any]]]:
        """Programs at -Oz: their sizes, what they execute, and the functions that changed.

        Args:
          sides: DEFAULT first; thinlto, counted: names of those that ThinLTO links too, and that are counted.
          symbols: how many functions that grew, and that shrank, most on the side "policy" are returned per program.
        Returns: the table of sizes; and "executed": program -> side -> run_time.COUNTS, "symbols": program ->
          functions, "coverage": program -> which units the default's image holds code of.
        """

        def configuration(side: Side) -> dict[str, Any]:
            return {"thinlto": side.name in thinlto, "counted": side.name in counted}

        def measure(program: Program, side: Side, _: pathlib.Path) -> dict[str, Any]:
            with_thinlto, counting = side.name in thinlto, counter if side.name in counted else None
            lto = self._lto_of(side)
            return size.measure_side(self.toolchain, side, program, with_thinlto, counting, self._building, lto)

        table, measured = self._of_all("size", size.LEVEL, programs, sides, configuration, measure)
        more: dict[str, dict[str, Any]] = {"executed": {}, "symbols": {}, "coverage": {}}
        for name, found in measured.items():
            table.rows[name] = {side: of_side["sizes"] for side, of_side in found.items()}
            counts = {side: of_side["counts"] for side, of_side in found.items() if of_side["counts"]}
            more["executed"][name] = {side: run_time.figures(of_side) for side, of_side in counts.items()}
            more["coverage"][name] = found[DEFAULT]["coverage"]
            if "policy" in found:
                default, policy = (found[side]["functions"] for side in (DEFAULT, "policy"))
                more["symbols"][name] = size.symbol_differences(default, policy, symbols)
        return table, more

    def runs(
        self, programs: Sequence[Program], sides: Sequence[Side], counter: Counter, repeats: int, perf: Perf | None
    ) -> tuple[Table, dict[str, Any]]:
        """What the programs execute at -O2, and their run time in alternating runs. Args: repeats: 0: no run time.

        Returns: the table of counts, summed over a program's runs; and program -> side -> {"runs": counts by run,
        "times": lists}.
        """

        def measure(program: Program, side: Side, folder: pathlib.Path) -> dict[str, Any]:
            lto = self._lto_of(side)
            return run_time.build_and_count(self.toolchain, side, program, counter, folder, lto, self._building)

        table, measured = self._of_all("run", run_time.LEVEL, programs, sides, lambda side: {}, measure)
        details: dict[str, Any] = {}
        bar = progress.start("run time", len(measured), "programs") if repeats else progress.Silent()
        for program in (each for each in programs if each.name in measured):
            times: Mapping[str, Mapping[str, list[float]]] = {side.name: {} for side in sides}
            try:
                if repeats:
                    times = self._times(program, sides, repeats, perf)
            except RunFailure as error:
                table.left_out[program.name] = str(error)
                continue
            finally:
                bar.advance()
            found = measured[program.name]
            table.rows[program.name] = {
                side: run_time.all_figures(found[side]) | run_time.medians(times[side]) for side in found
            }
            details[program.name] = {side: {"runs": found[side]["counts"], "times": times[side]} for side in found}
        bar.close()
        return table, details

    def cost(
        self, programs: Sequence[Program], sides: Sequence[Side], level: str, settings: CostSettings
    ) -> tuple[dict[str, Any], dict[str, str]]:
        """The cost at `level`: (side -> measure -> figures as cost.summarize_cost, omitted program -> reason)."""
        chosen = {program.name: cost.chosen_sources(program, settings.sources) for program in programs}
        bar = progress.start(f"cost at {level}", sum(map(len, chosen.values())), "sources")
        samples: cost.Samples = {}
        left_out: dict[str, str] = {}

        def measured(program: Program, sources: Sequence[str]) -> dict[str, Any]:
            compilers = {
                f"compiler {side.name}": digest_of_json([side.digest(), self._read_digest(program, side, level)])
                for side in sides
            }
            return self._measured(
                f"cost/{program.name}/{level.removeprefix('-')}",
                {**building.link_inputs(self.toolchain, program), **compilers},
                {"level": level, "turns": settings.turns, "sources": sources},
                lambda _: cost.measure_sources(
                    self.toolchain, sides, program, level, sources, settings.turns, bar.advance
                ),
            )

        for program in programs:
            try:
                found = measured(program, chosen[program.name])
            except building.BuildFailure as error:
                left_out[program.name] = str(error)
                continue
            samples |= {f"{program.name}: {source}": of_source for source, of_source in found.items()}
        bar.close()
        return cost.summarize_cost(samples, DEFAULT, settings.seed), left_out

    def _of_all(
        self,
        what: str,
        level: str,
        programs: Sequence[Program],
        sides: Sequence[Side],
        configuration: Callable[[Side], Mapping[str, Any]],
        measure: Callable[[Program, Side, pathlib.Path], Mapping[str, Any]],
    ) -> tuple[Table, dict[str, dict[str, dict[str, Any]]]]:
        """A table without rows, and what `of_all_sides` returns, measured in stages below `what`."""
        table = Table({}, {}, {})

        def staged(program: Program, side: Side) -> dict[str, Any]:
            read = self._read_digest(program, side, level)
            inputs = building.build_inputs(self.toolchain, side, program, level, read)
            settings = {"level": level, **configuration(side)}
            if self._lto_of(side):  # Nothing without LTO, so that former results stay valid.
                settings["lto"] = list(self.lto)
                inputs |= {"linker": program_identity(side.linker)} if side.linker else {}
            name = f"{what}/{program.name}/{side.name}"
            return self._measured(name, inputs, settings, lambda folder: measure(program, side, folder))

        with contextlib.closing(progress.start(what, len(programs) * len(sides), "builds")) as bar:
            return table, of_all_sides(table, programs, sides, staged, self.toolchain.workers, bar)

    def _times(
        self, program: Program, sides: Sequence[Side], repeats: int, perf: Perf | None
    ) -> dict[str, dict[str, list[float]]]:
        runs = self.folder.path / "run" / program.name
        images = {side.name: runs / side.name / run_time.IMAGE for side in sides}
        inputs = {f"image {name}": digest_of_file(path) for name, path in images.items()}
        chosen = {} if perf is None or not perf.chosen else {"perf_events": list(perf.chosen)}
        return self._measured(
            f"time/{program.name}",
            {**inputs, "program": program.digest()},
            {"repeats": repeats, "perf": perf is not None, **chosen},
            lambda _: run_time.time_in_turns(program, images, repeats, perf),
        )

    def _lto_of(self, side: Side) -> Sequence[str]:
        return self.lto if threshold_of(side.name) is None else ()

    def _read_digest(self, program: Program, side: Side, level: str) -> str:
        side = building.preprocessing_side(side)
        key = (program.name, side.clang, side.flags, level)
        with self._reading:
            if key not in self._read:
                self._read[key] = building.read_digest(self.toolchain, side, program, level)
            return self._read[key]

    def _measured(
        self,
        name: str,
        inputs: Mapping[str, str],
        configuration: Mapping[str, Any],
        measure: Callable[[pathlib.Path], Mapping[str, Any]],
    ) -> dict[str, Any]:
        """The result of `measure`, called with the folder of the stage `name` unless the stage was done before."""

        def work(folder: pathlib.Path) -> Mapping[str, Any]:
            files.write_json_atomically(folder / _MEASURED, measure(folder))
            return {}

        path = self.stage(name, inputs, configuration, work) / _MEASURED
        return files.read_json(path, f"results of stage {name}", _REDO)


def of_all_sides(
    table: Table,
    programs: Sequence[Program],
    sides: Sequence[Side],
    measure: Callable[[Program, Side], dict[str, Any]],
    workers: int,
    bar: progress.Progress,
) -> dict[str, dict[str, dict[str, Any]]]:
    """Program -> side -> result of `measure`, of the programs that can be compared on all sides.

    The first side that fails, in their order, decides why a program is left out, so that the order in which several end
    changes nothing.
    Args: table: gets the reasons of the others; measure: its result has "outputs", run -> digest of the output.
    """
    failed: dict[str, int] = {}

    def attempt(pair: tuple[Program, int]) -> dict[str, Any] | _Failed:
        program, number = pair
        if failed.get(program.name, number) < number:
            return _Failed("an earlier side failed")
        try:
            return measure(program, sides[number])
        except signals.KilledFromOutside:
            raise  # It says nothing about the program.
        except (building.BuildFailure, RunFailure, CounterFailure, size.OutputDiffers, RunError) as error:
            failed[program.name] = min(number, failed.get(program.name, number))
            reason = f"{sides[number].name}: {error}" if isinstance(error, RunError) else str(error)
            return _Failed(reason, differs=isinstance(error, size.OutputDiffers))

    pairs = [(program, number) for program in programs for number in range(len(sides))]
    results = iter(child.in_parallel(workers, attempt, pairs, bar))
    comparable: dict[str, dict[str, dict[str, Any]]] = {}
    for program in programs:
        found = _comparable(dict(zip([side.name for side in sides], results)))
        if isinstance(found, _Failed):
            (table.differing if found.differs else table.left_out)[program.name] = found.reason
        else:
            comparable[program.name] = found
    return comparable


def _comparable(of_sides: Mapping[str, dict[str, Any] | _Failed]) -> dict[str, dict[str, Any]] | _Failed:
    default, taken = next(iter(of_sides)), {}
    for side, found in of_sides.items():
        if isinstance(found, _Failed):
            return found
        taken[side] = found
        if found["outputs"] != taken[default]["outputs"]:
            what = size.differing(taken[default]["outputs"], found["outputs"])
            return _Failed(f"{side}: {what} does not give what {default} gives", differs=True)
    return taken
