"""Everything that can be known to be wrong before the first module is compiled."""

import contextlib
import fcntl
import os
import pathlib
import shutil
from collections.abc import Callable, Mapping
from typing import Any

from mlgo.compiler.request import CompileFailure
from mlgo.corpus.corpus import Corpus
from mlgo.learning.normalization import load_normalizer
from mlgo.problems.problem import Problem
from mlgo.run import files
from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.trace.setup import CompileSetup
from mlgo.trace.trace import compile_modules

#: Modules that are compiled to see that it can be done at all; the smallest ones.
_TRIED_MODULES = 3

#: Records what the run in an output directory was configured with.
CONFIGURATION_NAME = "configuration.json"

_LOCK_NAME = ".lock"

#: Bytes a run writes per byte of bitcode (optimised bitcode, traces, records): 0.9 on the built-in corpus, with room.
_BYTES_PER_BITCODE_BYTE = 3

#: Bytes for everything whose size does not follow the corpus: checkpoints, policies, logs of running compiles.
_FIXED_BYTES = 512 * 1024 * 1024


def check_corpora(train: Corpus, held_out: Corpus | None) -> None:
    """The corpora have commands, and no module in common.

    Raises: RunError: they have one, the first is named; or nobody filled in the command of ThinLTO modules.
    """
    for corpus in (train, held_out):
        # Of the other commands, each is read when its module is compiled.
        _ = corpus and corpus.modules[0].command
    if held_out is None:
        return
    common = sorted({module.name for module in train.modules} & {module.name for module in held_out.modules})
    if common:
        raise RunError(
            f"--held_out_corpus={held_out.path}",
            f"shares {len(common)} modules with the training corpus (first: {common[0]}), so its score would prove nothing",
            "Give a corpus of other modules",
        )


def check_modules(corpus: Corpus, setup: CompileSetup) -> None:
    """Some of the smallest modules compile, their decisions logged; one that does is enough, for modules may fail.

    Raises: RunError: none does; the first one's failure is named.
    """
    tried = sorted(corpus.modules, key=lambda module: (module.bitcode_size, module.name))[:_TRIED_MODULES]
    failed = []
    outcomes = compile_modules(tried, setup, [None] * len(tried))
    with contextlib.closing(outcomes):
        for module, outcome in outcomes:
            if not isinstance(outcome, CompileFailure):
                return
            failed.append(f"{module.name}: {outcome.kind.value}: {outcome.detail}")
    raise RunError(
        f"corpus {corpus.path}",
        f"does not compile: of its modules the {len(tried)} smallest fail (first: {failed[0]})",
        "Give the clang that the corpus was made for, or make the corpus again",
        ExitCode.TOO_MANY_FAILURES,
    )


def check_vocabulary(folder: pathlib.Path, problem: Problem) -> None:
    """`folder` holds a vocabulary of `problem`.

    Raises: RunError: it does not.
    """
    if not folder.is_dir():
        remedy = "Give a folder with one FEATURE.buckets per feature, or leave the flag out to have one made"
        raise RunError(f"--vocabulary={folder}", "is not a folder", remedy)
    load_normalizer(folder, problem)


def check_disk_space(
    folder: pathlib.Path, corpora: list[Corpus], free_bytes: Callable[[pathlib.Path], int] | None = None
) -> None:
    """The disk of `folder` has room for what a run on `corpora` writes.

    Raises: RunError: it has not; both numbers are named.
    """
    free_bytes = free_bytes or (lambda path: shutil.disk_usage(path).free)
    bitcode = sum(module.bitcode_size for corpus in corpora for module in corpus.modules)
    needed = _FIXED_BYTES + _BYTES_PER_BITCODE_BYTE * bitcode
    free = free_bytes(folder)
    if free < needed:
        raise RunError(
            f"--output_dir={folder}",
            f"has {free / 1e9:.2f} GB free on its disk, and this run may write {needed / 1e9:.2f} GB",
            "Free space there or give an --output_dir on another disk",
        )


def open_output(folder: pathlib.Path) -> int:
    """Creates `folder` when absent and takes its lock, which lasts as long as this process.

    Returns: the lock's file descriptor.
    Raises: RunError: the folder cannot be written to, or another process works in it.
    """
    remedy = "Give another --output_dir"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(folder / _LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise RunError(f"--output_dir={folder}", f"cannot be written to: {error.strerror}", remedy) from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(lock)
        raise RunError(f"--output_dir={folder}", "is in use by another run", f"Wait for it, or: {remedy}") from error
    return lock


def claim_configuration(folder: pathlib.Path, configuration: Mapping[str, Any]) -> bool:
    """Records the configuration of the run in `folder`, or finds it to be the same as that of an earlier run.

    Returns: whether an earlier run with this configuration is there to go on with.
    Raises: RunError: an earlier run had another configuration; every difference is listed.
    """
    path = folder / CONFIGURATION_NAME
    if not path.exists():
        files.write_json_atomically(path, configuration)
        return False
    remedy = f"Give the old values, or another --output_dir, or delete {folder}"
    earlier = files.read_json(path, "configuration of the earlier run", remedy)
    differences = _differences("", earlier, configuration)
    if differences:
        listing = "".join(f"\n  {line}" for line in differences)
        raise RunError(f"--output_dir={folder}", f"holds a run with another configuration:{listing}\n", remedy)
    return True


def _differences(name: str, earlier: Any, now: Any) -> list[str]:
    if isinstance(earlier, Mapping) and isinstance(now, Mapping):
        lines = []
        for key in sorted(set(earlier) | set(now)):
            lines += _differences(f"{name}.{key}" if name else key, earlier.get(key), now.get(key))
        return lines
    # Compared as JSON: a tuple comes back as a list.
    if files.encode_json(earlier) == files.encode_json(now):
        return []
    return [f"{name}: was {earlier!r}, now {now!r}"]
