"""Evaluates policies in real programs, stage by stage: sizes, what the programs do when they run, what compiling them takes."""

import dataclasses
import pathlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from mlgo.evaluation.programs import cost, run_time, size
from mlgo.evaluation.programs.building import BuildFailure, Side, Toolchain
from mlgo.evaluation.programs.counters import Cachegrind, CounterFailure
from mlgo.evaluation.programs.image import symbol_differences
from mlgo.evaluation.programs.program import Program
from mlgo.evaluation.programs.running import RunFailure
from mlgo.evaluation.programs.sides import DEFAULT
from mlgo.run import files, progress
from mlgo.run.exit_codes import RunError
from mlgo.run.manifest import Manifest, digest_of_file

_MEASURED = "measured.json"
_REDO = "Delete its folder; the stage then runs again"


class StageRunner(Protocol):
    """RunFolder.stage of mlgo/pipeline: does the work of a stage once."""

    def __call__(
        self,
        name: str,
        inputs: Mapping[str, str],
        configuration: Mapping[str, Any],
        work: Callable[[pathlib.Path], Mapping[str, Any]],
    ) -> Manifest: ...


@dataclasses.dataclass(frozen=True)
class Table:
    """One part of an evaluation.

    Attributes:
      rows: program -> side -> measure -> number or None; programs that are left out are not in it.
      left_out: program -> why, for those that cannot be built or do not work on some side.
      differing: program -> why, for those that do not do the same on all sides: the compiler is wrong, or the program.
    """

    rows: dict[str, dict[str, dict[str, Any]]]
    left_out: dict[str, str]
    differing: dict[str, str]


@dataclasses.dataclass(frozen=True)
class CostSettings:
    """Attributes: sources: of each program; turns: compiles of each by each compiler; seed: of the bootstrap."""

    sources: int = 6
    turns: int = 3
    seed: int = 1


@dataclasses.dataclass(frozen=True)
class ProgramEvaluation:
    """Attributes: stage: does a stage once; path: the folder that its stages are in; toolchain: of all sides."""

    stage: StageRunner
    path: pathlib.Path
    toolchain: Toolchain

    def sizes(
        self, programs: Sequence[Program], sides: Sequence[Side], thinlto: Sequence[str], symbols: int
    ) -> tuple[Table, dict[str, list[dict[str, Any]]]]:
        """Sizes at -Oz, and for each program the `symbols` functions that grew and shrank most on the side "policy".

        Args:
          sides: DEFAULT first.
          thinlto: names of sides that are linked by way of ThinLTO, too.
        """
        digests = {side.name: side.digest() for side in sides}
        bar = progress.start("size", len(programs) * len(sides), "builds")
        table, differences = Table({}, {}, {}), {}
        for program in programs:
            digest = program.digest()

            def measured(side: Side) -> dict[str, Any]:
                with_thinlto = side.name in thinlto
                inputs = {**self._inputs(digest), "compiler": digests[side.name]}

                def work(folder: pathlib.Path) -> Mapping[str, Any]:
                    found = size.measure_side(self.toolchain, side, program, with_thinlto)
                    files.write_json_atomically(folder / _MEASURED, found.to_json())
                    return found.sizes

                name = f"size/{program.name}/{side.name}"
                self.stage(name, inputs, {"level": size.LEVEL, "thinlto": with_thinlto}, work)
                return self._read(name)

            found = _of_all_sides(table, program, sides, measured, bar)
            if found is not None:
                table.rows[program.name] = {side: of_side["sizes"] for side, of_side in found.items()}
                if "policy" in found:
                    functions = [found[side]["functions"] for side in (DEFAULT, "policy")]
                    differences[program.name] = symbol_differences(*functions, symbols)
        bar.close()
        return table, differences

    def runs(
        self,
        programs: Sequence[Program],
        sides: Sequence[Side],
        counter: Cachegrind,
        repeats: int,
        perf: pathlib.Path | None,
    ) -> tuple[Table, dict[str, Any]]:
        """What the programs do at -O2, and how long they take in turns.

        Returns: the table of counts, sums over a program's runs; and program -> side -> {"runs": counts by run, "times": lists}.
        """
        digests = {side.name: side.digest() for side in sides}
        bar = progress.start("run", len(programs) * (len(sides) + 1), "stages")
        table, details = Table({}, {}, {}), {}
        for program in programs:
            digest = program.digest()

            def counted(side: Side) -> dict[str, Any]:
                def work(folder: pathlib.Path) -> Mapping[str, Any]:
                    found = run_time.build_and_count(self.toolchain, side, program, counter, folder)
                    files.write_json_atomically(folder / _MEASURED, found)
                    return vars(run_time.total_counts(found["counts"]))

                name = f"run/{program.name}/{side.name}"
                self.stage(
                    name, {**self._inputs(digest), "compiler": digests[side.name]}, {"level": run_time.LEVEL}, work
                )
                return self._read(name)

            found = _of_all_sides(table, program, sides, counted, bar)
            bar.advance()
            if found is None:
                continue
            try:
                times = self._times(program, sides, repeats, perf)
            except RunFailure as error:
                table.left_out[program.name] = str(error)
                continue
            table.rows[program.name] = {
                side: {**run_time.figures(of_side["counts"]), **run_time.medians(times[side])}
                for side, of_side in found.items()
            }
            details[program.name] = {
                side: {"runs": of_side["counts"], "times": times[side]} for side, of_side in found.items()
            }
        bar.close()
        return table, details

    def cost(
        self, programs: Sequence[Program], sides: Sequence[Side], level: str, settings: CostSettings
    ) -> tuple[dict[str, Any], dict[str, str]]:
        """What compiling takes at `level`: (side -> measure -> figures as cost.summarize_cost, program -> why it is left out)."""
        digests = {f"compiler {side.name}": side.digest() for side in sides}
        chosen = {program.name: cost.chosen_sources(program, settings.sources) for program in programs}
        bar = progress.start(f"cost at {level}", sum(map(len, chosen.values())), "sources")
        samples: cost.Samples = {}
        left_out: dict[str, str] = {}
        for program in programs:

            def work(folder: pathlib.Path) -> Mapping[str, Any]:
                sources = chosen[program.name]
                found = cost.measure_sources(
                    self.toolchain, sides, program, level, sources, settings.turns, bar.advance
                )
                files.write_json_atomically(folder / _MEASURED, found)
                return {"sources": len(sources)}

            name = f"cost/{program.name}/{level.removeprefix('-')}"
            configuration = {"level": level, "turns": settings.turns, "sources": chosen[program.name]}
            try:
                self.stage(name, {**self._inputs(program.digest()), **digests}, configuration, work)
            except BuildFailure as error:
                left_out[program.name] = str(error)
                continue
            samples |= {f"{program.name}: {source}": of_source for source, of_source in self._read(name).items()}
        bar.close()
        return cost.summarize_cost(samples, DEFAULT, settings.seed), left_out

    def _times(
        self, program: Program, sides: Sequence[Side], repeats: int, perf: pathlib.Path | None
    ) -> dict[str, dict[str, list[float]]]:
        images = {side.name: self.path / f"run/{program.name}/{side.name}" / run_time.IMAGE for side in sides}

        def work(folder: pathlib.Path) -> Mapping[str, Any]:
            files.write_json_atomically(folder / _MEASURED, run_time.time_in_turns(program, images, repeats, perf))
            return {}

        inputs = {f"image {name}": digest_of_file(path) for name, path in images.items()}
        name = f"time/{program.name}"
        self.stage(name, {**inputs, "program": program.digest()}, {"repeats": repeats, "perf": perf is not None}, work)
        return self._read(name)

    def _inputs(self, program: str) -> dict[str, str]:
        return {"program": program, "toolchain": self.toolchain.digest()}

    def _read(self, name: str) -> dict[str, Any]:
        return files.read_json(self.path / name / _MEASURED, f"results of stage {name}", _REDO)


def _of_all_sides(
    table: Table,
    program: Program,
    sides: Sequence[Side],
    measured: Callable[[Side], dict[str, Any]],
    bar: progress.Progress,
) -> dict[str, dict[str, Any]] | None:
    """side -> what `measured` gives; None: the program is left out on all sides, and `table` says why."""
    found: dict[str, dict[str, Any]] = {}
    for side in sides:
        try:
            found[side.name] = measured(side)
        except (BuildFailure, RunFailure, CounterFailure) as error:
            table.left_out[program.name] = str(error)
        except RunError as error:
            table.left_out[program.name] = f"{side.name}: {error}"
        except size.OutputDiffers as error:
            table.differing[program.name] = str(error)
        outputs = found[sides[0].name]["outputs"] if sides[0].name in found else None
        if side.name in found and outputs is not None and found[side.name]["outputs"] != outputs:
            what = size.differing(outputs, found[side.name]["outputs"])
            table.differing[program.name] = f"{side.name}: {what} does not give what {sides[0].name} gives"
        bar.advance()
        if program.name in table.left_out or program.name in table.differing:
            return None
    return found
