"""The size of a program as one side builds it: linked in several ways, and run after each.

Counted are the program's own code, all executable sections, the file, and the program's own functions.
"""

import contextlib
import dataclasses
import pathlib
import tempfile
from collections import Counter as Sums
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mlgo.corpus import elf
from mlgo.evaluation.corpora.coverage import Coverage, coverage_of
from mlgo.evaluation.corpora.linked_code import code_in_map, code_of_modules, executable_sections, functions_in_map
from mlgo.evaluation.programs.building import Toolchain, compile_objects, link
from mlgo.evaluation.programs.counters import Counter
from mlgo.evaluation.programs.lto_building import LTO_KINDS, link_through_lto, thinlto_objects
from mlgo.evaluation.programs.program import Program
from mlgo.evaluation.programs.running import output_digests
from mlgo.evaluation.sides import Side
from mlgo.run.exit_codes import RunError

LEVEL = "-Oz"
#: Sizes in results; the first one is the headline.
SIZES = ("code_bytes", "code_bytes_icf", "code_bytes_thinlto", "executable_bytes", "file_bytes")
_PLAIN = "plain"
#: Further ones, of programs whose code the linker generates: kind of LTO -> its name.
LTO_SIZES = {kind: f"code_bytes_{kind}_lto" for kind in LTO_KINDS}


class OutputDiffers(Exception):
    """Two builds of a program behave differently."""


@dataclasses.dataclass(frozen=True)
class ImageSize:
    """Sizes in bytes."""

    code_bytes: int  #: remaining code of the program's own objects, without padding, .eh_frame and constants.
    executable_bytes: int  #: all executable sections, including the C and C++ libraries.
    file_bytes: int  #: the stripped file.
    functions: dict[str, int]  #: own symbol -> bytes; local functions with one name are summed.


def measure_side(
    toolchain: Toolchain,
    side: Side,
    program: Program,
    thinlto: bool,
    counter: Counter | None,
    building: contextlib.AbstractContextManager,
    lto: Sequence[str] = (),
) -> dict[str, Any]:
    """Builds `program` on `side` at -Oz, runs it, and measures it.

    Args:
      thinlto: whether it is linked through distributed ThinLTO too.
      counter: counts what it executes, linked without ICF and ThinLTO; None: nothing is counted.
      building: is entered for all compiles and links: they use all cores.
      lto: kinds of LTO within the linker that it is linked through too, of LTO_KINDS.
    Returns: {"sizes": bytes by SIZES, None: not linked in this way, and by the LTO_SIZES of `lto`; "functions": own
      symbol -> bytes, "counts": run -> event -> count or {}, "coverage": as Coverage.to_json, of the image without ICF
      and ThinLTO; "outputs": run -> digest}.
    Raises: BuildFailure, RunFailure, CounterFailure; OutputDiffers: by the way of linking, or under the counter.
    """
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
        images = {way: measure(folder / way, map_path, folder) for way, map_path in maps.items()}
        printed = {way: output_digests(program, folder / way, toolchain.target.emulator) for way in maps}
        plain, outputs = images.pop(_PLAIN), printed[_PLAIN]
        counts = {} if counter is None else count_runs(counter, side, program, folder / _PLAIN, outputs)
    for way, others in printed.items():
        if others != outputs:
            name = way.removeprefix("code_bytes_")
            raise OutputDiffers(f"{side.name}: {name} changes the output of {differing(outputs, others)}")
    sizes = dict.fromkeys(SIZES) | {way: size.code_bytes for way, size in images.items()}
    sizes |= {name: getattr(plain, name) for name in ("code_bytes", "executable_bytes", "file_bytes")}
    of_plain = {"functions": plain.functions, "counts": counts, "coverage": coverage.to_json()}
    return {"sizes": sizes, "outputs": outputs, **of_plain}


def measure(image: pathlib.Path, map_path: pathlib.Path, own: pathlib.Path) -> ImageSize:
    """The sizes of `image`, by lld's map of it; `own` is the folder of the program's own objects.

    Raises: RunError: it is no ELF file, or holds no code of its own.
    """
    names, content = executable_sections(image), image.read_bytes()
    text, prefix = map_path.read_text(encoding="utf-8", errors="replace"), f"{own}/"
    code = sum(size for path, size in code_in_map(text, names) if path.startswith(prefix))
    if not code:
        remedy = "Look at the sources that the description names"
        raise RunError(f"image {image.name}", "holds no code of its own", remedy)
    functions: Sums[str] = Sums()
    for path, name, size in functions_in_map(text, names):
        if path.startswith(prefix):
            functions[name] += size
    executable = _executable(elf.ElfFile.of_bytes(content).sections)
    return ImageSize(code, executable, len(content), dict(sorted(functions.items())))


def executable_bytes(content: bytes) -> int:
    """Bytes of code in an object; 0 also for what is no ELF object."""
    try:
        return _executable(elf.ElfFile.of_bytes(content).sections)
    except elf.ElfError:
        return 0


def _executable(sections: Iterable[elf.Section]) -> int:
    return sum(section.size for section in sections if section.flags & elf.SHF_EXECINSTR)


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


def symbol_differences(default: Mapping[str, int], policy: Mapping[str, int], count: int) -> list[dict[str, int | str]]:
    """{"symbol", "default", "policy"} in bytes of the `count` functions that grew most, largest growth first, then of
    those that shrank most; a missing one has 0 bytes.
    """
    changes = {name: policy.get(name, 0) - default.get(name, 0) for name in {*default, *policy}}
    grown = sorted((name for name in changes if changes[name] > 0), key=lambda name: (-changes[name], name))[:count]
    shrunk = sorted((name for name in changes if changes[name] < 0), key=lambda name: (changes[name], name))[:count]
    return [
        {"symbol": name, "default": default.get(name, 0), "policy": policy.get(name, 0)}
        for name in [*grown, *shrunk[::-1]]
    ]
