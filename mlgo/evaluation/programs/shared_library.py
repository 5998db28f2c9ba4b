"""The sources of a program as the shared library that ships: its exports, the bytes of its file, and compressed."""

import dataclasses
import lzma
import pathlib
from collections.abc import Sequence

from mlgo.evaluation.programs.building import Toolchain, compile_objects, driver_mode, run_tool
from mlgo.evaluation.programs.image import executable_bytes
from mlgo.evaluation.programs.program import Program
from mlgo.evaluation.sides import Side


@dataclasses.dataclass(frozen=True)
class SharedSize:
    """Bytes of a shared library: executable sections, the stripped file, and that file compressed by xz."""

    shared_code_bytes: int
    shared_file_bytes: int
    shared_xz_bytes: int


def measure_shared(
    toolchain: Toolchain, side: Side, program: Program, folder: pathlib.Path, level: str, link_flags: Sequence[str] = ()
) -> SharedSize:
    """Builds the sources of `program`, without the mains beside its description, as a shared library.

    It is linked by itself: the libraries that it needs are no part of it. It exports what its version script says, else
    what is visible.

    Raises: BuildFailure: a compile or the linker fails.
    """
    library = dataclasses.replace(program, mains=()) if program.sources else program
    objects = compile_objects(toolchain, side, library, folder / "objects", level, ("-fPIC",))
    image = folder / "library.so"
    command = [
        str(toolchain.driver),
        driver_mode(library.has_c_plus_plus),
        *toolchain.target_flags(),
        f"--ld-path={toolchain.linker}",
        "-shared",
        "-nostdlib",
        "-Wl,--gc-sections",
        "-Wl,--build-id=none",
        "-Wl,--strip-all",
        "-Wl,--threads=1",
        # A script may name what this build leaves out.
        *([f"-Wl,--version-script={program.exports}", "-Wl,--undefined-version"] if program.exports else []),
        *link_flags,
        *map(str, objects),
        "-o",
        str(image),
    ]
    run_tool(side, f"linking {image.name}", command, program.root)
    content = image.read_bytes()
    return SharedSize(executable_bytes(content), len(content), len(lzma.compress(content)))
