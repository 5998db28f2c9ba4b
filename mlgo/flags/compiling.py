"""Flags of the commands that compile: the compiler, the executor, the cache."""

import contextlib
import pathlib
from collections.abc import Iterator

from absl import flags

from mlgo.compiler import process, server_executor
from mlgo.compiler.driver_command import with_usable_commands
from mlgo.compiler.executor import CountingExecutor, Executor, available_cores
from mlgo.compiler.request import CompileLimits
from mlgo.corpus.command_changes import CommandChanges
from mlgo.corpus.corpus import Corpus
from mlgo.corpus.fitting import chosen_modules, usable
from mlgo.flags.arguments import COMPILE_CPU_SECONDS
from mlgo.flags.command_flags import flag_changes
from mlgo.flags.help import flag_group
from mlgo.identity.programs import shared_libraries
from mlgo.problems.problem import Problem
from mlgo.run import locate
from mlgo.run.cache import Cache
from mlgo.run.exit_codes import RunError
from mlgo.run.progress import tell

FLAGS = flags.FLAGS
flags.disclaim_key_flags()  # --help of a command lists the flags that this module defines for it.


_COMMAND_FLAGS = {
    "allow_option": "Option that commands of the corpus may have although it may do more than change code, such as"
    ' "-mllvm -stats"; for corpora that you trust (docs/corpora.md)',
    "add_flags": "Words after every command of the corpus, quoted as in a shell",
    "delete_flags": "Option that is left out of every command, with its value; several, quoted",
    "replace_flags": "OPTION=VALUE: the option, which every command of the corpus has, gets another value, such as"
    " -fprofile-instrument-use-path=/data/app.profdata",
}


@flag_group("Compiles")
def define_compiler_flags() -> None:
    """Defines the flags. --clang_path and --num_workers are ml-compiler-opt's names of the first two."""
    flags.DEFINE_string("clang", None, "Development clang. Default: //development:clang.")
    text = "Compiles at a time; with --executor=ray, on the smallest node. Default: one per core. Changes no result."
    flags.DEFINE_integer("workers", None, text, lower_bound=1)
    flags.DEFINE_alias("clang_path", "clang")
    flags.DEFINE_alias("num_workers", "workers")
    where = "on this machine, or on the nodes of a Ray cluster (docs/train-on-a-cluster.md)"
    flags.DEFINE_enum("executor", "local", ("local", "ray"), f"Where compiles run: {where}. Changes no result.")
    text = "HOST:PORT of the Ray cluster's head. Default: the cluster that this machine is a node of."
    flags.DEFINE_string("ray_address", None, text)
    text = (
        "Compile server that was built with the clang. Default: the one beside it. Without a server, every compile"
        " starts a process, which takes longer and gives the same bytes."
    )
    flags.DEFINE_string("compile_server", None, text)
    for name, text in _COMMAND_FLAGS.items():
        flags.DEFINE_multi_string(name, [], f"{text}. Repeatable.")


@flag_group("Compiles")
def define_module_filter(what: str) -> None:
    """Defines --module_filter, and --key_filter as another name. Args: what: "Compile only modules"."""
    flags.DEFINE_string("module_filter", None, f"{what} whose name contains a match of this regular expression.")
    flags.DEFINE_alias("key_filter", "module_filter")


@flag_group("Compiles")
def define_gin_flags() -> None:
    """Defines --gin_files and --gin_bindings of commands that do not train: only ml-compiler-opt's settings."""
    text = "Gin file of ml-compiler-opt, such as compiler_opt/rl/inlining/gin_configs/common.gin. Repeatable."
    flags.DEFINE_multi_string("gin_files", [], text)
    text = "Setting of ml-compiler-opt, such as clang_path=\"'/llvm/bin/clang'\". Repeatable."
    flags.DEFINE_multi_string("gin_bindings", [], text)


@flag_group("Compiles")
def define_compile_limit() -> None:
    """Defines --compile_cpu_seconds."""
    flags.DEFINE_integer("compile_cpu_seconds", CompileLimits.cpu_seconds, COMPILE_CPU_SECONDS, lower_bound=1)


def limits_from_flags() -> CompileLimits:
    """What --compile_cpu_seconds says that one compile may use."""
    return CompileLimits(cpu_seconds=FLAGS.compile_cpu_seconds)


def changes_from_flags() -> CommandChanges:
    """What --add_flags, --delete_flags and --replace_flags change. Raises: RunError: they are not usable."""
    return flag_changes(FLAGS.add_flags, FLAGS.delete_flags, FLAGS.replace_flags)


def clang_from_flags() -> pathlib.Path:
    """The compiler of --clang. Raises: RunError: none is given, and the command has none in its runfiles."""
    return locate.user_path(FLAGS.clang) if FLAGS.clang else locate.runfile("development/clang")


def corpus_from_flags(path: pathlib.Path, problem: Problem, module_filter: str | None = None) -> Corpus:
    """The corpus at `path`, with the options of --allow_option, to be compiled for `problem`.

    Modules that the problem is not for are left out, with a line that names them; a line tells what else makes results
    of modules incomparable, such as sanitizers.

    Args: module_filter: regular expression; only modules in whose name it is found; None: all.
    Raises: CorpusError: it cannot be read, its commands have options that are refused, or modules are at a wrong level;
      the message lists them.
    """
    corpus = with_usable_commands(Corpus.load(path, FLAGS.allow_option), clang_from_flags(), changes_from_flags())
    if module_filter is not None:
        names = [module.name for module in corpus.modules]
        corpus = corpus.select(chosen_modules(names, module_filter, sampling_rate=1.0, seed=0))
    return usable(problem, corpus, tell)


@flag_group("Compiles")
def define_cache_flags() -> None:
    """Defines the flags of commands that keep results of compiles."""
    text = "Folder of optimised modules and traces that runs share, by content. Default: out/cache in the workspace."
    flags.DEFINE_string("cache_dir", None, f"{text} Empty: no cache.")
    text = "Size limit of the cache, in GB; the entries that were used least recently are removed."
    flags.DEFINE_float("cache_gigabytes", 4.0, text, lower_bound=0.0)


def cache_from_flags() -> Cache | None:
    """The cache that the flags name; None: no cache."""
    if FLAGS.cache_dir:
        folder = locate.user_path(FLAGS.cache_dir)
    elif FLAGS.cache_dir is None and (root := locate.workspace()) is not None:
        folder = root / "out" / "cache"
    else:
        return None
    return Cache(folder, int(FLAGS.cache_gigabytes * 1e9))


@contextlib.contextmanager
def executor_from_flags(clang: pathlib.Path, workers: int | None) -> Iterator[Executor]:
    """The executor that the flags name, closed at the end of the block, with a line that says what was repeated.

    Raises: RunError: nodes of a cluster, which get the compiler's file alone, could not compile the same with it.
    """
    if FLAGS.executor == "ray":
        if libraries := shared_libraries(clang):
            wrong = f"loads {libraries[0]}, and nodes of --executor=ray get the compiler's file alone"
            remedy = "Give a clang that LLVM is linked into statically, such as //development:clang"
            raise RunError(f"--clang={clang}", wrong, remedy)
        from mlgo.cluster import executors  # pylint: disable=import-outside-toplevel  # Ray is not needed without it.

        executor = executors.ray_executor(FLAGS.ray_address, workers)
    else:
        program = FLAGS.compile_server and locate.user_path(FLAGS.compile_server)
        executor = server_executor.executor_for(clang, workers or available_cores(), program, tell)
        if (missing := process.missing_protections(clang)) is not None:
            tell(missing)
    with contextlib.closing(CountingExecutor(executor, tell)) as counting:
        yield counting
