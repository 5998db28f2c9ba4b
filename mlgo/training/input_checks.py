"""Checks of the inputs before the first module is compiled."""

import contextlib
import pathlib
import shutil

from mlgo.compiler.request import CompileFailure
from mlgo.corpus.command_check import check_commands
from mlgo.corpus.corpus import Corpus
from mlgo.learning.normalization import load_normalizer
from mlgo.problems.problem import Problem
from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.trace.setup import CompileSetup
from mlgo.trace.trace import compile_modules

#: Number of modules, the smallest ones, that are compiled as a check.
_TRIED_MODULES = 3
#: Bytes a run writes per byte of bitcode (optimised bitcode, traces, records): 0.9 on the built-in corpus, with room.
_BYTES_PER_BITCODE_BYTE = 3
#: Bytes of files whose size does not depend on the corpus: checkpoints, policies, logs of running compiles.
_FIXED_BYTES = 512 * 1024 * 1024


def check_corpora(train: Corpus, held_out: Corpus | None) -> None:
    """Raises: RunError: the corpora have a module's name in common, the first is named; the command of ThinLTO modules
    is missing; or commands have options that are refused, because they can do more than change code.
    """
    check_commands(train)
    if held_out is None:
        return
    check_commands(held_out)
    common = sorted({module.name for module in train.modules} & {module.name for module in held_out.modules})
    if common:
        raise RunError(
            f"--held_out_corpus={held_out.path}",
            f"shares {len(common)} modules with the training corpus (first: {common[0]}), so its score is not held out",
            "Give a corpus of other modules",
        )


def check_modules(corpus: Corpus, setup: CompileSetup) -> None:
    """Checks that one of the smallest modules compiles and logs its decisions. One is enough, because modules may fail.
    Raises: RunError: none compiles; names the failure of the first.
    """
    tried = sorted(corpus.modules, key=lambda module: (module.bitcode_size, module.name))[:_TRIED_MODULES]
    failed = []
    outcomes = compile_modules(tried, setup, [None] * len(tried))
    with contextlib.closing(outcomes):
        for module, outcome in outcomes:
            if not isinstance(outcome, CompileFailure):
                return
            failed.append(f"{module.name}: {outcome.kind.value}: {outcome.detail}")
    wrong = f"does not compile: its {len(tried)} smallest modules fail (first: {failed[0]})"
    remedy = "Give the clang that the corpus was made for, or make the corpus again"
    raise RunError(f"corpus {corpus.path}", wrong, remedy, ExitCode.TOO_MANY_FAILURES)


def check_vocabulary(folder: pathlib.Path, problem: Problem) -> None:
    """Raises: RunError: `folder` holds no vocabulary of `problem`."""
    if not folder.is_dir():
        remedy = "Give a folder with one FEATURE.buckets per feature, or leave the flag out to have one made"
        raise RunError(f"--vocabulary={folder}", "is not a folder", remedy)
    load_normalizer(folder, problem)


def check_disk_space(folder: pathlib.Path, corpora: list[Corpus]) -> None:
    """Raises: RunError: the disk of `folder` has no room for what a run on `corpora` writes; names both numbers."""
    bitcode = sum(module.bitcode_size for corpus in corpora for module in corpus.modules)
    needed = _FIXED_BYTES + _BYTES_PER_BITCODE_BYTE * bitcode
    free = shutil.disk_usage(folder).free
    if free < needed:
        wrong = f"has {free / 1e9:.2f} GB free on its disk, and this run may write {needed / 1e9:.2f} GB"
        raise RunError(f"--output_dir={folder}", wrong, "Free space there or give an --output_dir on another disk")
