"""Builds a program through LTO: links in which the linker, or the side's compiler after it, generates the code."""

import dataclasses
import pathlib
import shutil
from collections.abc import Sequence

from mlgo.evaluation.programs.building import Store, Toolchain, compile_objects, link, run_tool
from mlgo.evaluation.programs.commands import code_generation
from mlgo.evaluation.programs.program import Program
from mlgo.evaluation.sides import Side
from mlgo.run import child, files

#: What -flto= takes.
LTO_KINDS = ("thin", "full")


def link_through_lto(
    toolchain: Toolchain, side: Side, program: Program, kind: str, level: str, image: pathlib.Path
) -> pathlib.Path:
    """As `link`, of bitcode, which is left beside `image`: the side's linker generates all code, by its policies.

    Args: kind: of LTO, one of LTO_KINDS.
    Raises: BuildFailure: a compile or the linker fails.
    """
    folder = image.with_name(image.name + ".bitcode")
    bitcode = compile_objects(toolchain, side, program, folder, level, (f"-flto={kind}",))
    store = Store.of(toolchain, program)
    if store is None:
        return link_bitcode(toolchain, side, program, bitcode, kind, level, image)
    kept = store.image(toolchain, side, program, bitcode, kind, level)
    kept_map = kept.with_name(kept.name + ".map")
    if not kept_map.is_file():  # It is written last.
        made = link_bitcode(toolchain, side, program, bitcode, kind, level, image)
        files.write_atomically(kept, image.read_bytes())
        files.write_atomically(kept_map, made.read_bytes())
        return made
    shutil.copyfile(kept, image)
    image.chmod(0o755)
    return pathlib.Path(shutil.copyfile(kept_map, image.with_name(image.name + ".map")))


def link_bitcode(
    toolchain: Toolchain,
    side: Side,
    program: Program,
    bitcode: Sequence[pathlib.Path],
    kind: str,
    level: str,
    image: pathlib.Path,
    more: Sequence[str] = (),
) -> pathlib.Path:
    """The second half of `link_through_lto`. Args: bitcode: in link order; more: further options of the driver."""
    words = (*side.flags, *side.model_flags)
    switches = [value for name, value in zip(words, words[1:]) if name == "-mllvm"]
    told = [word for switch in switches for word in ("-Xlinker", "-mllvm", "-Xlinker", switch)]
    linking = dataclasses.replace(toolchain, linker=side.linker or toolchain.linker)
    return link(linking, side, program, bitcode, image, (f"-flto={kind}", level, *told, *more))


def thinlto_objects(
    toolchain: Toolchain, side: Side, program: Program, folder: pathlib.Path, level: str
) -> list[pathlib.Path]:
    """As `compile_objects`, through distributed ThinLTO. Raises: BuildFailure: a compile or the linker fails.

    The linker only writes the index, and the side's own compiler generates code: the packaged linker has no policy.
    """
    bitcode = compile_objects(toolchain, side, program, folder / "bitcode", level, ("-flto=thin",))
    index = ("-Wl,--thinlto-index-only", "-Wl,--thinlto-emit-imports-files")
    link(toolchain, side, program, bitcode, folder / "bitcode" / "index", index)
    result = folder / "objects"
    result.mkdir()

    def generate(pair: tuple[tuple[str, str], pathlib.Path]) -> pathlib.Path:
        (path, _), source = pair
        summary = source.with_name(source.name + ".thinlto.bc")
        if not summary.exists():  # Assembly has no bitcode.
            return source
        command = [
            *(str(side.clang), *toolchain.target_flags(), level, "-ffunction-sections", "-fdata-sections", "-w"),
            *(*code_generation(program.options.get(path, ())), *side.flags, *side.model_flags),
            # The index names modules by the paths that the linker was given.
            *("-x", "ir", str(source), f"-fthinlto-index={summary.name}", "-c", "-o", str(result / source.name)),
        ]
        run_tool(side, f"{path} (ThinLTO)", command, source.parent)
        return result / source.name

    return child.in_parallel(toolchain.workers, generate, list(zip(program.units(), bitcode)))
