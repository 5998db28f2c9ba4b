"""What each switch that makes programs smaller gains, alone and with others: rows of flags, and their sizes."""

import dataclasses
import math
import pathlib
import tempfile
from collections.abc import Collection, Iterable, Mapping, Sequence

from mlgo.evaluation.programs.building import Toolchain, compile_objects, link
from mlgo.evaluation.programs.image import measure
from mlgo.evaluation.programs.lto_building import link_bitcode
from mlgo.evaluation.programs.program import Program
from mlgo.evaluation.programs.shared_library import measure_shared
from mlgo.evaluation.sides import Side
from mlgo.evaluation.statistics import percent_text
from mlgo.run.tabular import markdown_row

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
    """Row -> the bytes of `program`: the code of its own objects, the stripped file, and those of SharedSize.

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
                own = folder / "objects"
            else:
                map_path = link_bitcode(toolchain, side, program, objects, row.lto, _LEVEL, image, row.link_flags)
                own = folder
            size = measure(image, map_path, own)
            found[row.name] = {"code_bytes": size.code_bytes, "file_bytes": size.file_bytes}
            if row.shared:
                shared = measure_shared(toolchain, side, program, folder / "shared", _LEVEL, row.link_flags)
                found[row.name] |= dataclasses.asdict(shared)
    return found


def table(found: Mapping[str, Mapping[str, Mapping[str, Figures]]], kinds: Mapping[str, str]) -> list[str]:
    """The table in Markdown: own code of each row against -Oz, in the geometric mean over the programs of a language.

    Args: found: target -> program -> row -> figures; kinds: program -> its language, "C" or "C++".
    """
    columns = [(target, kind) for target in found for kind in ("C", "C++") if _of_kind(found[target], kinds, kind)]
    lines = [markdown_row(["switches", *(f"{target}: {kind}" for target, kind in columns)])]
    lines.append(markdown_row(["---"] * (len(columns) + 1)))
    rows = [row.name for row in ROWS if row != BASE]
    for name in rows:
        cells = [mean_text(_of_kind(found[target], kinds, kind), name, "code_bytes") for target, kind in columns]
        if any(cells):
            lines.append(markdown_row([name, *cells]))
    return lines


def shared_table(found: Mapping[str, Mapping[str, Mapping[str, Figures]]]) -> list[str]:
    """The shared libraries of all programs: code, stripped file and xz of each row against -Oz. Args: as of `table`."""
    measures = {"shared_code_bytes": "code", "shared_file_bytes": "file", "shared_xz_bytes": "xz"}
    columns = [(target, measure) for target in found for measure in measures]
    lines = [markdown_row(["shared libraries", *(f"{target}: {measures[measure]}" for target, measure in columns)])]
    lines.append(markdown_row(["---"] * (len(columns) + 1)))
    for row in ROWS:
        if row.shared and row != BASE:
            cells = [mean_text(found[target].values(), row.name, measure) for target, measure in columns]
            if any(cells):
                lines.append(markdown_row([row.name, *cells]))
    return lines


def _of_kind(
    programs: Mapping[str, Mapping[str, Figures]], kinds: Mapping[str, str], kind: str
) -> list[Mapping[str, Figures]]:
    return [rows for name, rows in programs.items() if kinds[name] == kind]


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
