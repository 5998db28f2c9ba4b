"""Compares opt and llc of another build of LLVM with ours: the same policies must give the same outputs."""

import dataclasses
import pathlib
import subprocess
from collections.abc import Sequence

from tests.compilers.modules import SIZE_CORPUS, held_out_modules

_INLINE = ("-passes=default<Oz>", "-enable-ml-inliner=release")
_ALLOCATE = ("-O2", "-filetype=obj", "-regalloc-enable-advisor=release")
_SPEED_CORPUS = "mlgo/corpus/llvm_small_held_out"
_TIMEOUT_SECONDS = 900


@dataclasses.dataclass(frozen=True)
class Programs:
    """opt and llc of one LLVM."""

    opt: pathlib.Path
    llc: pathlib.Path


def compare(theirs: Programs, ours: Programs, folder: pathlib.Path) -> int:
    """Inlines and allocates eight modules of a corpus for size, and allocates eight of one for speed.

    Args: folder: empty, for bitcode and outputs.
    Returns: the number of compared outputs.
    Raises: AssertionError: outputs differ, a policy changed none of them, or a program fails.
    """
    for_size, for_speed = _bitcode(SIZE_CORPUS, folder / "size"), _bitcode(_SPEED_CORPUS, folder / "speed")
    inlined = []
    for bitcode, content in zip(for_size, _agreed(theirs.opt, ours.opt, for_size, _INLINE, folder), strict=True):
        inlined.append(bitcode.with_suffix(".inlined.bc"))
        inlined[-1].write_bytes(content)
    allocated = [_agreed(theirs.llc, ours.llc, modules, _ALLOCATE, folder) for modules in (inlined, for_speed)]
    return len(inlined) + sum(map(len, allocated))


def _bitcode(corpus: str, folder: pathlib.Path) -> list[pathlib.Path]:
    found = []
    for index, module in enumerate(held_out_modules(corpus)):
        place = folder / str(index)
        place.mkdir(parents=True)
        found.append(module.bitcode_file(place))
    return found


def _agreed(
    theirs: pathlib.Path,
    ours: pathlib.Path,
    modules: Sequence[pathlib.Path],
    flags: Sequence[str],
    folder: pathlib.Path,
) -> list[bytes]:
    """What both programs make of each module. The last of `flags` turns the policy on."""
    outputs = [_output(ours, module, flags, folder) for module in modules]
    for module, wanted in zip(modules, outputs, strict=True):
        if _output(theirs, module, flags, folder) != wanted:
            raise AssertionError(f"{module}: the outputs of {theirs} and {ours} with {flags[-1]} differ")
    if outputs == [_output(ours, module, flags[:-1], folder) for module in modules]:
        raise AssertionError(f"{flags[-1]} changed no output of {ours}: was the policy asked?")
    return outputs


def _output(program: pathlib.Path, module: pathlib.Path, flags: Sequence[str], folder: pathlib.Path) -> bytes:
    output = folder / "output"
    command = [program, *flags, module, "-o", output]
    done = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT_SECONDS, check=False)
    if done.returncode:
        raise AssertionError(f"{program} {' '.join(flags)} fails on {module}: {done.stderr[-2000:]}")
    return output.read_bytes()
