"""The size of a program as one side builds it: linked in several ways, and run after each."""

import contextlib
import dataclasses
import pathlib
import tempfile
from collections.abc import Sequence
from typing import Any

from mlgo.evaluation.corpora.coverage import Coverage, coverage_of
from mlgo.evaluation.corpora.linked_code import code_of_modules
from mlgo.evaluation.programs.building import Toolchain, compile_objects, link
from mlgo.evaluation.programs.counters import Counter
from mlgo.evaluation.programs.image import executable_bytes, measure
from mlgo.evaluation.programs.lto_building import LTO_KINDS, link_through_lto, thinlto_objects
from mlgo.evaluation.programs.program import Program
from mlgo.evaluation.programs.running import output_digests
from mlgo.evaluation.sides import Side

LEVEL = "-Oz"
#: Sizes in results; the first one is the headline.
SIZES = ("code_bytes", "code_bytes_icf", "code_bytes_thinlto", "executable_bytes", "file_bytes")
_PLAIN = "plain"
#: Further ones, of programs whose code the linker generates: kind of LTO -> its name.
LTO_SIZES = {kind: f"code_bytes_{kind}_lto" for kind in LTO_KINDS}


class OutputDiffers(Exception):
    """Two builds of a program behave differently."""


@dataclasses.dataclass(frozen=True)
class SideSize:
    """A program on one side."""

    #: by SIZES, None: not linked in this way; and by those of LTO_SIZES that were asked for.
    sizes: dict[str, int | None]
    functions: dict[str, int]  #: own symbol -> bytes in the image that is linked without ICF and ThinLTO.
    outputs: dict[str, str]
    counts: dict[str, dict[str, int]]  #: run -> what that image executes in it, by counter; empty: not counted.
    coverage: dict[str, Any]

    def to_json(self) -> dict[str, Any]:
        return dataclasses.asdict(self)


def measure_side(
    toolchain: Toolchain,
    side: Side,
    program: Program,
    thinlto: bool,
    counter: Counter | None,
    building: contextlib.AbstractContextManager,
    lto: Sequence[str] = (),
) -> SideSize:
    """Builds `program` on `side` at -Oz, runs it, and measures it.

    Args:
      thinlto: whether it is linked through distributed ThinLTO too.
      counter: counts what it executes, linked without ICF and ThinLTO; None: nothing is counted.
      building: is entered for all compiles and links: they use all cores.
      lto: kinds of LTO within the linker that it is linked through too, of LTO_KINDS.

    Raises: BuildFailure, RunFailure, CounterFailure; OutputDiffers: by the way of linking, or under the counter.
    """
    emulator = toolchain.target.emulator
    with tempfile.TemporaryDirectory(prefix="mlgo-build-") as scratch:
        folder = pathlib.Path(scratch)
        maps: dict[str, pathlib.Path] = {}

        def linked(way: str, given: list[pathlib.Path], *flags: str) -> None:
            maps[way] = link(toolchain, side, program, given, folder / way, flags)

        with building:
            objects = compile_objects(toolchain, side, program, folder / "objects", LEVEL)
            linked(_PLAIN, objects)
            coverage = coverage_of_units(program, objects, folder / _PLAIN, maps[_PLAIN])
            linked("code_bytes_icf", objects, "-Wl,--icf=all")
            if thinlto:
                linked("code_bytes_thinlto", thinlto_objects(toolchain, side, program, folder / "thin", LEVEL))
            for kind in lto:
                way = LTO_SIZES[kind]
                maps[way] = link_through_lto(toolchain, side, program, kind, LEVEL, folder / way)
        found = {
            way: (measure(folder / way, map_path, folder), output_digests(program, folder / way, emulator))
            for way, map_path in maps.items()
        }
        plain, outputs = found.pop(_PLAIN)
        counts = {} if counter is None else count_runs(counter, side, program, folder / _PLAIN, outputs)
    for way, (_, others) in found.items():
        if others != outputs:
            name = way.removeprefix("code_bytes_")
            raise OutputDiffers(f"{side.name}: {name} changes the output of {differing(outputs, others)}")
    sizes = dict.fromkeys(SIZES) | {way: size.code_bytes for way, (size, _) in found.items()}
    sizes |= {name: getattr(plain, name) for name in ("code_bytes", "executable_bytes", "file_bytes")}
    return SideSize(sizes, dict(plain.functions), outputs, counts, coverage.to_json())


def coverage_of_units(
    program: Program, objects: Sequence[pathlib.Path], image: pathlib.Path, map_path: pathlib.Path
) -> Coverage:
    """The units that an image holds code of. Args: objects: in the order of the units; map_path: lld's map of it."""
    by_unit = {path: each for (path, _), each in zip(program.units(), objects)}
    code = {path: executable_bytes(each.read_bytes()) for path, each in by_unit.items()}
    return coverage_of(code, [code_of_modules(map_path, image, by_unit)])


def count_runs(
    counter: Counter, side: Side, program: Program, image: pathlib.Path, outputs: dict[str, str]
) -> dict[str, dict[str, int]]:
    """Run -> event -> count. Args: outputs: run -> digest of the output without the counter.

    Raises: RunFailure, CounterFailure; OutputDiffers: its output differs under the counter.
    """
    counts, counted = counter.count(program, image)
    if counted != outputs:
        raise OutputDiffers(f"{side.name}: {counter.name} changes the output of {differing(outputs, counted)}")
    return {name: vars(of_run) for name, of_run in counts.items()}


def differing(outputs: dict[str, str], others: dict[str, str]) -> str:
    """The runs whose digests differ, for a message."""
    return "run " + ", ".join(name for name in outputs if others.get(name) != outputs[name])
