"""Compares opt and llc of another build of LLVM with ours: the same policies must give the same outputs."""

import dataclasses
import pathlib
import subprocess
from collections.abc import Sequence

from tests.compilers.modules import SIZE_CORPUS, held_out_modules, pipeline_for_size

_INLINE = "-enable-ml-inliner=release"
_ALLOCATE = ("-O2", "-filetype=obj", "-regalloc-enable-advisor=release")
_SPEED_CORPUS = "mlgo/corpus/llvm_few_held_out"
_TIMEOUT_SECONDS = 900


@dataclasses.dataclass(frozen=True)
class Programs:
    """opt and llc of one LLVM."""

    opt: pathlib.Path
    llc: pathlib.Path


def compare(theirs: Programs, ours: Programs, folder: pathlib.Path) -> int:
    """Inlines and allocates eight modules of a corpus for size, and allocates eight of one for speed.

    Args: folder: empty, for outputs.
    Returns: the number of outputs with policies that were compared. Modules of which both programs make something else
      without a policy are left out: Debian's build of LLVM differs from others in an instruction
      (docs/llvm-from-source.md), and no policy takes part in that.
    Raises: AssertionError: outputs differ, a policy changed none of them, or a program fails.
    """
    for_size, for_speed = _bitcode(SIZE_CORPUS), _bitcode(_SPEED_CORPUS)
    compared, contents = _compare(theirs.opt, ours.opt, for_size, (pipeline_for_size(ours.opt), _INLINE), folder)
    inlined = [folder / f"inlined{index}.bc" for index in range(len(for_size))]
    for file, content in zip(inlined, contents, strict=True):
        file.write_bytes(content)
    return compared + sum(
        _compare(theirs.llc, ours.llc, modules, _ALLOCATE, folder)[0] for modules in (inlined, for_speed)
    )


def _bitcode(corpus: str) -> list[pathlib.Path]:
    return [module.bitcode_file() for module in held_out_modules(corpus)]


def _compare(
    theirs: pathlib.Path,
    ours: pathlib.Path,
    modules: Sequence[pathlib.Path],
    flags: Sequence[str],
    folder: pathlib.Path,
) -> tuple[int, list[bytes]]:
    """(the number of modules of which both programs make the same, our outputs of all). The last of `flags` turns the
    policy on.
    """
    compared, changed, outputs = 0, 0, []
    for module in modules:
        default, wanted = (_output(ours, module, words, folder) for words in (flags[:-1], flags))
        outputs.append(wanted)
        if _output(theirs, module, flags[:-1], folder) != default:
            continue
        if _output(theirs, module, flags, folder) != wanted:
            raise AssertionError(f"{module}: the outputs of {theirs} and {ours} with {flags[-1]} differ")
        compared += 1
        changed += wanted != default
    if not changed:
        raise AssertionError(f"{flags[-1]} changed none of the {compared} outputs of {ours}: was the policy asked?")
    return compared, outputs


def _output(program: pathlib.Path, module: pathlib.Path, flags: Sequence[str], folder: pathlib.Path) -> bytes:
    output = folder / "output"
    command = [str(program), *flags, str(module), "-o", str(output)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT_SECONDS, check=False)
    if done.returncode:
        raise AssertionError(f"{program} {' '.join(flags)} fails on {module}: {done.stderr[-2000:]}")
    return output.read_bytes()
