"""The corpus modules on which compilers are compared, and the compilation of one."""

import pathlib
import re
import subprocess
from collections.abc import Sequence

from mlgo.corpus.command import CompileCommand
from mlgo.corpus.corpus import Corpus, Module
from mlgo.run.locate import runfile

MODULE_COUNT = 8
#: The same sources, compiled for size: a release compiler evaluates a policy for size in no other module.
SIZE_CORPUS = "mlgo/corpus/llvm_few_oz_held_out"
#: Larger modules take many seconds and test nothing more.
MAX_BITCODE_BYTES = 500_000
_LEVEL = re.compile(r"-O[0-3sz]")
_TIMEOUT_SECONDS = 300


def pipeline_for_size(opt: pathlib.Path, stage: str = "default") -> str:
    """The option of `opt` for what clang does at -Oz with functions that have the attribute minsize.

    Since LLVM 23, which refuses `default<Oz>`, that is the pipeline of -O2.
    Args: stage: "default", or "lto" for the link.
    """
    said = subprocess.run(
        [opt, "--version"], capture_output=True, text=True, check=True, timeout=_TIMEOUT_SECONDS
    ).stdout
    major = int(said.partition("LLVM version ")[2].partition(".")[0])
    return f"-passes={stage}<{'Oz' if major < 23 else 'O2'}>"


def held_out_modules(corpus: str = "mlgo/corpus/llvm_few_held_out") -> list[Module]:
    """Eight modules spread over the held-out half of a built-in corpus, the same ones every time."""
    modules = Corpus.load(runfile(corpus)).modules
    small = [module for module in modules if module.bitcode_size <= MAX_BITCODE_BYTES]
    if len(small) < MODULE_COUNT:
        raise AssertionError(
            f"only {len(small)} of {len(modules)} held-out modules are small enough; {MODULE_COUNT} are needed"
        )
    return [small[index * len(small) // MODULE_COUNT] for index in range(MODULE_COUNT)]


def compile_to_object(
    clang: pathlib.Path, module: Module, level: str, folder: pathlib.Path, flags: Sequence[str] = ()
) -> bytes:
    """The object file that `clang` makes of `module` at optimisation `level` ("-O2") with more cc1 `flags`.

    Raises: AssertionError: clang fails; its messages are shown.
    """
    output = folder / "module.o"
    recorded = CompileCommand(level if _LEVEL.fullmatch(word) else word for word in module.command)
    command = [str(clang), *recorded.arguments(str(module.bitcode_file()), str(output), flags)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=_TIMEOUT_SECONDS, check=False)
    if done.returncode:
        raise AssertionError(f"{clang} {level} fails on {module.name} ({done.returncode}):\n{done.stderr[-2000:]}")
    content = output.read_bytes()
    output.unlink()
    return content
