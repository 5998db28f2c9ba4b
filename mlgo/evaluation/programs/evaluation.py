"""Measures programs stage by stage: sizes, executed instructions and run time, compile cost."""

import contextlib
import dataclasses
import pathlib
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mlgo.evaluation.programs import cost, run_time, size
from mlgo.evaluation.programs.build_inputs import build_inputs, link_inputs, preprocessing_side, read_digest
from mlgo.evaluation.programs.building import BuildFailure, Toolchain
from mlgo.evaluation.programs.counters import Counter, Perf
from mlgo.evaluation.programs.parallel_measurement import Table, of_all_sides
from mlgo.evaluation.programs.program import Program
from mlgo.evaluation.programs.running import RunFailure
from mlgo.evaluation.sides import DEFAULT, Side, threshold_of
from mlgo.identity.programs import program_identity
from mlgo.run import files, progress
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
class ProgramEvaluation:
    """Measures with one toolchain into stages of `folder`."""

    folder: RunFolder
    toolchain: Toolchain
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
    ) -> tuple[Table, dict[str, dict[str, dict[str, int]]], dict[str, list[dict[str, Any]]], dict[str, Any]]:
        """Programs at -Oz: their sizes, what they execute, and the functions that changed.

        Args:
          sides: DEFAULT first.
          thinlto, counted: names of sides that are linked through ThinLTO too, and whose programs `counter` counts.
          symbols: how many functions that grew, and that shrank, most on the side "policy" are returned per program.

        Returns: the table of sizes; program -> side -> run_time.COUNTS; program -> functions; program -> which units
          the default's image holds code of.
        """
        table, executed, differences, coverage = Table({}, {}, {}), {}, {}, {}

        def measured(program: Program, inputs: Mapping[str, str], side: Side) -> dict[str, Any]:
            with_thinlto, with_counts = side.name in thinlto, side.name in counted
            return self._measured(
                f"size/{program.name}/{side.name}",
                inputs,
                {"level": size.LEVEL, "thinlto": with_thinlto, "counted": with_counts, **self._kinds(side)},
                lambda _: size.measure_side(
                    self.toolchain,
                    side,
                    program,
                    with_thinlto,
                    counter if with_counts else None,
                    self._building,
                    self._lto_of(side),
                ),
            )

        for name, found in self._of_all("size", size.LEVEL, table, programs, sides, measured).items():
            table.rows[name] = {side: of_side["sizes"] for side, of_side in found.items()}
            executed[name] = {
                side: run_time.figures(of_side["counts"]) for side, of_side in found.items() if of_side["counts"]
            }
            coverage[name] = found[DEFAULT]["coverage"]
            if "policy" in found:
                default, policy = (found[side]["functions"] for side in (DEFAULT, "policy"))
                differences[name] = size.symbol_differences(default, policy, symbols)
        return table, executed, differences, coverage

    def runs(
        self, programs: Sequence[Program], sides: Sequence[Side], counter: Counter, repeats: int, perf: Perf | None
    ) -> tuple[Table, dict[str, Any]]:
        """What the programs execute at -O2, and their run time in alternating runs. Args: repeats: 0: no run time.

        Returns: the table of counts, summed over a program's runs; and program -> side -> {"runs": counts by run,
        "times": lists}.
        """
        table, by_run = Table({}, {}, {}), {}

        def counted(program: Program, inputs: Mapping[str, str], side: Side) -> dict[str, Any]:
            return self._measured(
                f"run/{program.name}/{side.name}",
                inputs,
                {"level": run_time.LEVEL, **self._kinds(side)},
                lambda folder: run_time.build_and_count(
                    self.toolchain, side, program, counter, folder, self._lto_of(side), self._building
                ),
            )

        for name, found in self._of_all("run", run_time.LEVEL, table, programs, sides, counted).items():
            by_run[name] = {side: of_side["counts"] for side, of_side in found.items()}
            table.rows[name] = {side: run_time.all_figures(of_side) for side, of_side in found.items()}
        if not repeats:
            return table, {
                name: {side: {"runs": runs, "times": {}} for side, runs in sides_runs.items()}
                for name, sides_runs in by_run.items()
            }
        bar, details = progress.start("run time", len(by_run), "programs"), {}
        for program in programs:
            if program.name not in by_run:
                continue
            try:
                times = self._times(program, sides, repeats, perf)
            except RunFailure as error:
                table.left_out[program.name] = str(error)
                del table.rows[program.name]
                continue
            finally:
                bar.advance()
            counts = by_run[program.name]
            table.rows[program.name] = {
                side: {**figures, **run_time.medians(times[side])} for side, figures in table.rows[program.name].items()
            }
            details[program.name] = {side: {"runs": counts[side], "times": times[side]} for side in counts}
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
            return self._measured(
                f"cost/{program.name}/{level.removeprefix('-')}",
                {**link_inputs(self.toolchain, program), **self._compilers(program, sides, level)},
                {"level": level, "turns": settings.turns, "sources": sources},
                lambda _: cost.measure_sources(
                    self.toolchain, sides, program, level, sources, settings.turns, bar.advance
                ),
            )

        for program in programs:
            try:
                found = measured(program, chosen[program.name])
            except BuildFailure as error:
                left_out[program.name] = str(error)
                continue
            samples |= {f"{program.name}: {source}": of_source for source, of_source in found.items()}
        bar.close()
        return cost.summarize_cost(samples, DEFAULT, settings.seed), left_out

    def _of_all(
        self,
        what: str,
        level: str,
        table: Table,
        programs: Sequence[Program],
        sides: Sequence[Side],
        measure: Callable[[Program, Mapping[str, str], Side], dict[str, Any]],
    ) -> dict[str, dict[str, dict[str, Any]]]:
        """As `of_all_sides`, with a bar titled `what`; `measure` takes the inputs of a stage too."""
        with contextlib.closing(progress.start(what, len(programs) * len(sides), "builds")) as bar:
            return of_all_sides(
                table,
                programs,
                sides,
                lambda program, side: measure(program, self._inputs(program, side, level), side),
                self.toolchain.workers,
                bar,
            )

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

    def _kinds(self, side: Side) -> dict[str, Any]:
        """The part of a stage's configuration that LTO adds; none without it, so that former results stay valid."""
        return {"lto": list(self.lto)} if self._lto_of(side) else {}

    def _linker(self, side: Side) -> dict[str, str]:
        return {"linker": program_identity(side.linker)} if self._lto_of(side) and side.linker else {}

    def _inputs(self, program: Program, side: Side, level: str) -> dict[str, str]:
        read = self._read_digest(program, side, level)
        return {**build_inputs(self.toolchain, side, program, level, read), **self._linker(side)}

    def _read_digest(self, program: Program, side: Side, level: str) -> str:
        side = preprocessing_side(side)
        key = (program.name, side.clang, side.flags, level)
        with self._reading:
            if key not in self._read:
                self._read[key] = read_digest(self.toolchain, side, program, level)
            return self._read[key]

    def _compilers(self, program: Program, sides: Sequence[Side], level: str) -> dict[str, str]:
        """The same of the compilers whose cost is compared, which compile the same."""
        return {
            f"compiler {side.name}": digest_of_json([side.digest(), self._read_digest(program, side, level)])
            for side in sides
        }

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
