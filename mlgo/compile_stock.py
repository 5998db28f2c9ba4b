"""Compiles one module of a corpus to an object with a stock clang, with the decisions of a policy or of the compiler.

    ./bazelw run //mlgo:compile_stock -- --corpus=out/corpus --module=a.c --policy=out/eviction/policy --output=a.o
    mlgo-compile --corpus=corpus --module=a.c --output=a.o --clang=/usr/bin/clang-22      # the default's decisions

The object equals that of //development:clang with the same policy. A policy with features that only our compilers have
is refused.

Exit codes: 0 done, 2 wrong flag or input, 10 the module cannot be compiled; then no file is written.
"""

import sys

from mlgo.compiler.driver_command import with_cc1_override
from mlgo.compiler.request import CompileFailure, CompileLimits
from mlgo.corpus.command_check import check_commands
from mlgo.corpus.corpus import Corpus
from mlgo.environments import stock_compiles
from mlgo.environments.stock_compiles import stock_clang
from mlgo.flags.arguments import add_compile_limit, command_parser
from mlgo.problems.problem import load_problem, problem_names
from mlgo.run import files, locate
from mlgo.run.exit import exit_code_of
from mlgo.run.exit_codes import ExitCode, RunError


def run(arguments: list[str]) -> int:
    parser = command_parser("compile_stock", __doc__)
    add = parser.add_argument
    text = "problem whose decisions the policy takes. Default: %(default)s"
    add("--problem", default="regalloc_eviction", choices=problem_names(), help=text)
    add("--policy", metavar="FOLDER", help="folder of the policy. Default: the compiler's heuristic decides")
    add("--corpus", required=True, help="directory of a corpus")
    add("--module", required=True, help="name of the module, as corpus_description.json has it")
    add("--output", required=True, metavar="FILE", help="the object")
    add("--clang", help="a clang 22. Default: the packaged one; for the wheel, clang-22 of the PATH")
    text = "option that the command may have although it may do more than change code (docs/corpora.md). Repeatable"
    add("--allow_option", action="append", default=[], metavar="OPTION", help=text)
    add_compile_limit(parser, CompileLimits.cpu_seconds)
    flags = parser.parse_args(arguments)
    problem = load_problem(flags.problem)
    policy = locate.user_path(flags.policy) if flags.policy else None
    network = stock_compiles.load_stock_policy(policy, problem) if policy else None
    clang = stock_clang(locate.user_path(flags.clang) if flags.clang else None)
    whole = with_cc1_override(Corpus.load(locate.user_path(flags.corpus), flags.allow_option), clang)
    corpus = whole.select([flags.module])
    check_commands(corpus)
    request = stock_compiles.request_for(clang, corpus.modules[0], problem, CompileLimits(flags.compile_cpu_seconds))
    outcome = stock_compiles.compile_by(network, request)
    if isinstance(outcome, CompileFailure) or outcome.object_bytes is None:
        reason = f"{outcome.kind.value}: {outcome.detail}" if isinstance(outcome, CompileFailure) else "no object"
        wrong = f"cannot be compiled: {reason}"
        raise RunError(f"module {flags.module}", wrong, "Correct the corpus or the flags", ExitCode.NOTHING_PRODUCED)
    files.write_atomically(locate.user_path(flags.output), outcome.object_bytes)
    print(f"done 1 of 1 modules -> {flags.output}")
    return ExitCode.DONE


if __name__ == "__main__":
    raise SystemExit(exit_code_of(lambda: run(sys.argv[1:])))
