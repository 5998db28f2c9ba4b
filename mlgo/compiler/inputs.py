"""Copies what a compile reads into its temporary directory.

Copies, not links: a recorded command can make clang write to any name that it knows, and so into the corpus, the cache
of a cluster's node, or a policy.
"""

import errno
import os
import pathlib
import stat
from collections.abc import Iterator

from mlgo.compiler import machine
from mlgo.compiler.request import CompileRequest
from mlgo.run.exit_codes import RunError

#: Names inside the temporary directory. The compiler sees only these, so commands, objects and messages do not depend
#: on the folders of corpus and model.
BITCODE, INDEX, MODEL, DECISIONS = "module.bc", "module.thinlto.bc", "model", "decisions"
# What LLVM reads of a model (llvm/lib/Analysis/TFLiteUtils.cpp, ModelUnderTrainingRunner.cpp).
_MODEL_FILES = ("model.tflite", "output_spec.json")
# Linux copies at most 2 GiB in one call (sendfile(2)).
_PIECE_BYTES = 1 << 30


class UnusableInput(Exception):
    """An input that no compile can read; the message names it and says why."""


def place_inputs(request: CompileRequest, directory: str) -> None:
    """Copies what the compiler reads into `directory`; there, commands may name files as the corpus does.

    A file that does not exist is left out: the compiler reports it.

    Raises:
      UnusableInput: a file is larger than the compile's memory, is no regular file, or cannot be read.
      RunError: there is no room; OSError: the machine lacks memory or files, or a disk does not work.
    """
    if request.decisions is not None:
        pathlib.Path(directory, DECISIONS).write_bytes(request.decisions)
    for name, path in _sources(request):
        target = os.path.join(directory, name)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        try:
            _place(path, target, request.limits.address_space_bytes)
        except FileNotFoundError:
            continue
        except OSError as error:
            if machine.is_shortage(error):
                raise
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                subject = f"temporary directory {directory} while placing {name} of {request.module.name}"
                remedy = "free space, use fewer workers, or set TMPDIR"
                raise RunError(subject, "no space is left there", remedy) from error
            raise UnusableInput(f"{name} cannot be read: {error.strerror}") from error


def _sources(request: CompileRequest) -> Iterator[tuple[str, pathlib.Path]]:
    """Name in the temporary directory, and the file to be copied."""
    module = request.module
    yield BITCODE, module.bitcode_file()
    if (index := module.thinlto_index_file()) is not None:
        yield INDEX, index
    for name in module.command.carried_files:
        yield name, module.file(name)
    if request.model_dir is not None:
        for name in _MODEL_FILES:
            yield f"{MODEL}/{name}", request.model_dir / name


def _place(path: pathlib.Path, target: str, most_bytes: int) -> None:
    # Without waiting for the other end of a FIFO.
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb", buffering=0) as source:
        status, name = os.fstat(source.fileno()), os.path.basename(target)
        if not stat.S_ISREG(status.st_mode):
            raise UnusableInput(f"{name} is not a regular file")
        if status.st_size > most_bytes:
            raise UnusableInput(f"{name} has {status.st_size} bytes, and the compile may use {most_bytes}")
        copy = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o400)
        try:
            while os.sendfile(copy, source.fileno(), None, _PIECE_BYTES):
                pass
        finally:
            os.close(copy)
