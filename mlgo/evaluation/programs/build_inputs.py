"""What the build of a program rests on: its description and sources, the compiler, the linker, and what both read."""

import contextlib
import pathlib

from mlgo.evaluation.programs.building import Toolchain, compile_command, run_tool
from mlgo.evaluation.programs.program import Program
from mlgo.evaluation.sides import Side
from mlgo.identity.programs import flags_identity
from mlgo.run import child, progress
from mlgo.run.manifest import digest_of_bytes, digest_of_json

#: Options for a preprocessed source without the places of its headers.
_PREPROCESS = ("-E", "-P")


def build_inputs(
    toolchain: Toolchain, side: Side, program: Program, level: str, read: str | None = None
) -> dict[str, str]:
    """Digests of what the images of `program` rest on that `side` builds at `level`.

    Args: read: what `read_digest` returns; None: it is called.
    Raises: BuildFailure: a unit cannot be preprocessed.
    """
    read = read_digest(toolchain, preprocessing_side(side), program, level) if read is None else read
    return {**link_inputs(toolchain, program), "compiler": side.digest(), "read": read}


def link_inputs(toolchain: Toolchain, program: Program) -> dict[str, str]:
    return {"program": program.digest(), "toolchain": toolchain.digest(program.libraries, program.root)}


def read_digest(toolchain: Toolchain, side: Side, program: Program, level: str) -> str:
    """Digest of all that a compiler reads of `program`: its units, preprocessed, and files that options name.

    Args: side: of `preprocessing_side`.
    Raises: BuildFailure: a unit cannot be preprocessed, and so not compiled.

    Each unit is preprocessed again, because nothing less finds a header that is new, or that only a macro asks for.
    That takes a tenth of the time of a build. `fingerprints` of a description take its place.
    """
    options: dict[pathlib.Path, dict[str, None]] = {}
    for path, _ in program.units():
        options.setdefault(program.directory_of(path), {}).update(dict.fromkeys(program.compile_flags(path)))
    named = [flags_identity(words, folder) for folder, words in options.items()]
    if program.fingerprints:
        return digest_of_json(named)

    def read(unit: tuple[str, str]) -> str:
        path, _ = unit
        command = compile_command(toolchain, side, program, path, level, _PREPROCESS)
        return digest_of_bytes(run_tool(side, path, command, program.directory_of(path)).output)

    units = program.units()
    with contextlib.closing(progress.start_inner(f"{program.name}, headers", len(units), "sources")) as bar:
        return digest_of_json([named, child.in_parallel(toolchain.workers, read, units, bar)])


def preprocessing_side(side: Side) -> Side:
    """`side` without -mllvm, its values and a model, which no preprocessor reads."""
    kept: list[str] = []
    words = iter(side.flags)
    for word in words:
        if word == "-mllvm":
            next(words, None)
        else:
            kept.append(word)
    return Side(side.name, side.clang, tuple(kept))
