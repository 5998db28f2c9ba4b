"""The flags of every command that compiles: with which compiler, how many at a time, where."""

import contextlib
import pathlib
from collections.abc import Iterator

from absl import flags

from mlgo.compiler import server_executor
from mlgo.compiler.executor import Executor, available_cores
from mlgo.run import locate
from mlgo.run.cache import Cache
from mlgo.run.progress import tell

FLAGS = flags.FLAGS
flags.disclaim_key_flags()  # --help of a command lists the flags that this module defines for it.


def define_compiler_flags(clang: str = "clang", workers: str = "workers") -> None:
    """Defines the flags; the first two under the given names, for commands whose documents call them otherwise."""
    flags.DEFINE_string(clang, None, "Development clang. Default: //development:clang.")
    flags.DEFINE_integer(
        workers,
        None,
        "Compiles at a time, with --executor=ray on each node. Default: one per core. Changes no result.",
        lower_bound=1,
    )
    flags.DEFINE_enum(
        "executor",
        "local",
        ("local", "ray"),
        "Where compiles run: on this machine, or on the nodes of a Ray cluster (docs/train-on-a-cluster.md). Changes no result.",
    )
    flags.DEFINE_string(
        "ray_address", None, "HOST:PORT of the Ray cluster's head. Default: the cluster that this machine is a node of."
    )
    flags.DEFINE_string(
        "compile_server",
        None,
        "Compile server that was built together with the clang. Default: the one beside it; without one every compile starts a"
        " process, which takes longer and gives the same bytes.",
    )


def clang_given(flag: str = "clang") -> pathlib.Path:
    """The compiler of flag `flag`.

    Raises: RunError: none is given and the command has none of its own.
    """
    value = FLAGS[flag].value
    return locate.user_path(value) if value else locate.runfile("development/clang")


def define_cache_flags() -> None:
    """Defines the flags of commands that keep what compiles gave."""
    flags.DEFINE_string(
        "cache_dir",
        None,
        "Folder that keeps optimised modules and traces for other runs, by content. Default: out/cache in the workspace; empty: none.",
    )
    flags.DEFINE_float(
        "cache_gigabytes", 4.0, "What was used least recently goes when the cache is larger.", lower_bound=0.0
    )


def cache_given() -> Cache | None:
    """The cache that the flags name, if any."""
    if FLAGS.cache_dir:
        folder = locate.user_path(FLAGS.cache_dir)
    elif FLAGS.cache_dir is None and (root := locate.workspace()) is not None:
        folder = root / "out" / "cache"
    else:
        return None
    return Cache(folder, int(FLAGS.cache_gigabytes * 1e9))


@contextlib.contextmanager
def executor_given(clang: pathlib.Path, workers: int | None) -> Iterator[Executor]:
    """Where the flags say that compiles run; what it has started ends with the block.

    Args: workers: as the user gave it.
    """
    if FLAGS.executor == "ray":
        from mlgo.cluster import executors  # pylint: disable=import-outside-toplevel  # Only who asks for it needs Ray.

        executor = executors.executor_for("ray", FLAGS.ray_address, workers)
    else:
        program = FLAGS.compile_server and locate.user_path(FLAGS.compile_server)
        executor = server_executor.executor_for(clang, workers or available_cores(), program, tell)
    with contextlib.closing(executor):
        yield executor
