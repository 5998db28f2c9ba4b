"""The flags of every command that compiles: with which compiler, how many at a time, where."""

import contextlib
import pathlib
from collections.abc import Iterator

from absl import flags

from mlgo.compiler import server_executor
from mlgo.compiler.executor import Executor, available_cores
from mlgo.run import locate
from mlgo.trace.setup import tell

FLAGS = flags.FLAGS


def define_compiler_flags(clang: str = "clang", workers: str = "workers") -> None:
    """Defines the flags; the first two under the given names, for commands whose documents call them otherwise."""
    flags.DEFINE_string(clang, None, "Development clang. Default: //development:clang.")
    flags.DEFINE_integer(workers, None, "Compiles at a time. Default: one per core. Changes no result.", lower_bound=1)
    flags.DEFINE_string(
        "compile_server", None,
        "Compile server that was built together with the clang. Default: the one beside it; without one every compile starts a"
        " process, which takes longer and gives the same bytes.",
    )  # fmt: skip


def clang_given(flag: str = "clang") -> pathlib.Path:
    """The compiler of flag `flag`.

    Raises: RunError: none is given and the command has none of its own.
    """
    value = FLAGS[flag].value
    return locate.user_path(value) if value else locate.runfile("development/clang")


@contextlib.contextmanager
def executor_given(clang: pathlib.Path, workers: int) -> Iterator[Executor]:
    """Where the flags say that compiles run; what it has started ends with the block."""
    program = FLAGS.compile_server and locate.user_path(FLAGS.compile_server)
    with contextlib.closing(server_executor.executor_for(clang, workers, program, tell)) as executor:
        yield executor


def workers_given(flag: str = "workers") -> int:
    """Compiles at a time."""
    return FLAGS[flag].value or available_cores()
