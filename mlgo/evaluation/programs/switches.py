"""What each switch that makes programs smaller gains, alone and with others: rows of flags, and their sizes.

Some rows have the sources of a program as the shared library that ships too.
"""

import dataclasses
import lzma
import math
import pathlib
import tempfile
from collections.abc import Collection, Iterable, Mapping, Sequence

from mlgo.evaluation.programs.building import Toolchain, compile_objects, driver_mode, link, run_tool
from mlgo.evaluation.programs.lto_building import link_bitcode
from mlgo.evaluation.programs.program import Program
from mlgo.evaluation.programs.size import executable_bytes, measure
from mlgo.evaluation.sides import Side
from mlgo.evaluation.statistics import percent_text
from mlgo.run.tabular import markdown_head, markdown_row

_POLICY = ("-mllvm", "-enable-ml-inliner=release")
_SEARCH_2 = ("-mllvm", "-mlgo-search=2")
_SEARCH_8 = ("-mllvm", "-mlgo-search=8")
_OUTLINER = ("-mllvm", "-enable-machine-outliner=always")
_NO_OUTLINER = ("-mllvm", "-enable-machine-outliner=never")
_MERGED = ("-mllvm", "-enable-merge-functions")
_MERGED_WITH_PARAMETERS = ("-mllvm", "-enable-global-merge-func")
_TWO_ROUNDS = ("-Wl,-mllvm,-codegen-data-thinlto-two-rounds",)
_SAVE_RESTORE = ("-msave-restore",)
_SAFE, _ALL = ("-Wl,--icf=safe",), ("-Wl,--icf=all",)
_LEVEL = "-Oz"
#: Targets whose machine outliner is on by itself at -Oz, as far as programs are built for them; others need a switch.
_OUTLINING, _NOT_OUTLINING = ("aarch64", "riscv64"), ("x86_64", "armv7_thumb")
_RISCV = ("riscv64",)


@dataclasses.dataclass(frozen=True)
class Switches:
    """A row of the table."""

    name: str
    flags: tuple[str, ...] = ()  #: of compiles, behind -Oz; of LTO's links too.
    link_flags: tuple[str, ...] = ()
    lto: str | None = None
    targets: tuple[str, ...] = ()  #: names of the targets that have it; empty: all.
    shared: bool = False

    def is_for(self, target: str) -> bool:
        return not self.targets or target in self.targets


BASE = Switches("-Oz", shared=True)

#: --gc-sections is on but where a row says so.
ROWS = (
    BASE,
    Switches("-Os", ("-Os",)),
    Switches("no --gc-sections", (), ("-Wl,--no-gc-sections",)),
    Switches("policy", _POLICY, shared=True),
    Switches("search 2", _SEARCH_2, shared=True),
    Switches("search 8", _SEARCH_8),
    Switches("no outliner", _NO_OUTLINER, targets=_OUTLINING),
    Switches("no outliner, policy", (*_NO_OUTLINER, *_POLICY), targets=_OUTLINING),
    Switches("outliner", _OUTLINER, targets=_NOT_OUTLINING),
    Switches("outliner, policy", (*_OUTLINER, *_POLICY), targets=_NOT_OUTLINING),
    Switches("equal functions merged", _MERGED),
    Switches("similar functions merged", _MERGED_WITH_PARAMETERS),
    Switches("-msave-restore", _SAVE_RESTORE, targets=_RISCV),
    Switches("-msave-restore, policy", (*_SAVE_RESTORE, *_POLICY), targets=_RISCV),
    Switches("--icf=safe", (), _SAFE),
    Switches("--icf=all", (), _ALL),
    Switches("--icf=all, policy", _POLICY, _ALL),
    Switches("--icf=all, search 2", _SEARCH_2, _ALL),
    Switches("--icf=all, search 8", _SEARCH_8, _ALL),
    Switches("ThinLTO", lto="thin"),
    Switches("ThinLTO, policy", _POLICY, lto="thin"),
    # Equal outlined functions stay in each module for the linker to fold.
    Switches("ThinLTO, two rounds of outlining, --icf=all", (), (*_TWO_ROUNDS, *_ALL), lto="thin", targets=_OUTLINING),
    Switches("full LTO", lto="full"),
    Switches("full LTO, policy", _POLICY, lto="full"),
    Switches("full LTO, --icf=all, policy", _POLICY, _ALL, lto="full"),
    Switches("full LTO, outliner, --icf=all", _OUTLINER, _ALL, lto="full", targets=_NOT_OUTLINING),
    Switches("outliner, --icf=all, search 2", (*_OUTLINER, *_SEARCH_2), _ALL, targets=_NOT_OUTLINING),
    Switches("-msave-restore, --icf=all, search 2", (*_SAVE_RESTORE, *_SEARCH_2), _ALL, targets=_RISCV),
)

#: Figures of a row: bytes by name.
Figures = dict[str, int]


def groups(target: str, names: Collection[str] = ()) -> list[list[Switches]]:
    """The rows of the target of this name, those together whose compiles are equal. Args: names: empty: all."""
    found: dict[tuple[tuple[str, ...], str | None], list[Switches]] = {}
    for row in ROWS:
        if row.is_for(target) and (not names or row.name in names or row == BASE):
            found.setdefault((row.flags, row.lto), []).append(row)
    return list(found.values())


def measure_group(
    toolchain: Toolchain, clang: pathlib.Path, linker: pathlib.Path, program: Program, rows: Sequence[Switches]
) -> dict[str, Figures]:
    """Row -> the bytes of `program`: the code of its own objects, the stripped file, and those of `measure_shared`.

    Args: clang: a release clang; linker: the ld.lld beside it, which links with LTO.
    Raises: BuildFailure: it cannot be built.
    """
    first = rows[0]
    side = Side(first.name, clang, first.flags, linker=linker)
    found: dict[str, Figures] = {}
    with tempfile.TemporaryDirectory(prefix="mlgo-switches-") as scratch:
        folder = pathlib.Path(scratch)
        lto = () if first.lto is None else (f"-flto={first.lto}",)
        objects = compile_objects(toolchain, side, program, folder / "objects", _LEVEL, lto)
        for row in rows:
            image = folder / "image"
            if row.lto is None:
                map_path = link(toolchain, side, program, objects, image, row.link_flags)
            else:
                map_path = link_bitcode(toolchain, side, program, objects, row.lto, _LEVEL, image, row.link_flags)
            size = measure(image, map_path, folder)
            found[row.name] = {"code_bytes": size.code_bytes, "file_bytes": size.file_bytes}
            if row.shared:
                found[row.name] |= measure_shared(toolchain, side, program, folder / "shared", row.link_flags)
    return found


def measure_shared(
    toolchain: Toolchain, side: Side, program: Program, folder: pathlib.Path, link_flags: Sequence[str] = ()
) -> Figures:
    """Builds the sources of `program`, without the mains beside its description, as a shared library.

    It is linked by itself: the libraries that it needs are no part of it. It exports what its version script says, else
    what is visible. Raises: BuildFailure: a compile or the linker fails.
    Returns: the bytes of executable sections, of the stripped file, and of that file compressed by xz.
    """
    library = dataclasses.replace(program, mains=()) if program.sources else program
    objects = compile_objects(toolchain, side, library, folder / "objects", _LEVEL, ("-fPIC",))
    image = folder / "library.so"
    command = [
        *(str(toolchain.driver), driver_mode(library.has_c_plus_plus), *toolchain.target_flags()),
        *(f"--ld-path={toolchain.linker}", "-shared", "-nostdlib"),
        *("-Wl,--gc-sections", "-Wl,--build-id=none", "-Wl,--strip-all", "-Wl,--threads=1"),
        # A script may name what this build leaves out.
        *([f"-Wl,--version-script={program.exports}", "-Wl,--undefined-version"] if program.exports else []),
        *(*link_flags, *map(str, objects), "-o", str(image)),
    ]
    run_tool(side, f"linking {image.name}", command, program.root)
    content = image.read_bytes()
    return {
        "shared_code_bytes": executable_bytes(content),
        "shared_file_bytes": len(content),
        "shared_xz_bytes": len(lzma.compress(content)),
    }


def table(found: Mapping[str, Mapping[str, Mapping[str, Figures]]], kinds: Mapping[str, str]) -> list[str]:
    """The table in Markdown: own code of each row against -Oz, in the geometric mean over the programs of a language.

    Args: found: target -> program -> row -> figures; kinds: program -> its language, "C" or "C++".
    """
    columns = {
        f"{target}: {kind}": ([programs[name] for name in programs if kinds[name] == kind], "code_bytes")
        for target, programs in found.items()
        for kind in ("C", "C++")
    }
    return _lines("switches", {head: column for head, column in columns.items() if column[0]}, ROWS)


def shared_table(found: Mapping[str, Mapping[str, Mapping[str, Figures]]]) -> list[str]:
    """The shared libraries of all programs: code, stripped file and xz of each row against -Oz. Args: as of `table`."""
    columns = {
        f"{target}: {name}": (list(programs.values()), f"shared_{name}_bytes")
        for target, programs in found.items()
        for name in ("code", "file", "xz")
    }
    return _lines("shared libraries", columns, [row for row in ROWS if row.shared])


def _lines(
    title: str, columns: Mapping[str, tuple[Sequence[Mapping[str, Figures]], str]], rows: Sequence[Switches]
) -> list[str]:
    """Args: columns: head -> (row -> figures of each program, the measure)."""
    lines = markdown_head([title, *columns])
    for row in rows:
        cells = [mean_text(programs, row.name, measure) for programs, measure in columns.values()]
        if row != BASE and any(cells):
            lines.append(markdown_row([row.name, *cells]))
    return lines


def mean_text(programs: Iterable[Mapping[str, Figures]], row: str, measure: str) -> str:
    """The geometric mean of the changes against -Oz and, of several programs, the largest one in brackets.

    Empty: a program has no such figure. Args: programs: row -> figures of each.
    """
    ratios = [_ratio(rows, row, measure) for rows in programs]
    known = [ratio for ratio in ratios if ratio is not None]
    if not known or len(known) < len(ratios):
        return ""
    mean = percent_text(math.exp(math.fsum(map(math.log, known)) / len(known)))
    return f"{mean} ({percent_text(max(known))})" if len(known) > 1 else mean


def _ratio(rows: Mapping[str, Figures], row: str, measure: str) -> float | None:
    value, base = (rows.get(name, {}).get(measure) for name in (row, BASE.name))
    return value / base if value and base else None
