"""Evaluates a policy with a stock clang, which needs no machine learning inside: module by module against the default.

    ./bazelw run //mlgo:evaluate_stock -- --policy=models/regalloc_eviction/policy --corpus=out/corpus
    mlgo-evaluate --policy=policy --corpus=corpus --clang=/usr/bin/clang-22       # from the wheel, without Bazel

The policy decides through the interactive channel of clang 22 (docs/environments.md). The score is that of the
environments: spills, reloads and copies weighed by block frequency, or bytes of text. //mlgo:evaluate measures more,
with the development clang: linked images, the compiler's own score, programs. A policy with features that only our
compilers have is refused.

The geometric mean counts every function alike, for inlining every module; negative is better. The interval is a
bootstrap over modules.

Exit codes: 0 done, 2 wrong flag or input, 10 nothing to compare, 11 modules failed, 12 worse than
--fail_if_worse_than allows.
"""

import contextlib
import sys

from mlgo.compiler.driver_command import with_cc1_override
from mlgo.compiler.executor import available_cores
from mlgo.compiler.request import CompileLimits
from mlgo.corpus.corpus import Corpus
from mlgo.corpus.fitting import usable
from mlgo.environments import stock_compiles
from mlgo.environments.scores import channel_score
from mlgo.environments.stock_compiles import ModuleScores, stock_clang
from mlgo.flags.arguments import add_compile_limit, command_parser
from mlgo.problems.problem import load_problem, problem_names
from mlgo.run import files, flag_values, locate, progress
from mlgo.run.exit import exit_code_of
from mlgo.run.exit_codes import ExitCode


def run(arguments: list[str]) -> int:
    parser = command_parser("evaluate_stock", __doc__)
    add = parser.add_argument
    text = "problem that the policy is for. Default: %(default)s"
    add("--problem", default="regalloc_eviction", choices=problem_names(), help=text)
    add("--policy", required=True, metavar="FOLDER", help="folder of the policy")
    add("--corpus", required=True, help="directory of a corpus")
    add("--clang", help="a clang 22. Default: the packaged one; for the wheel, clang-22 of the PATH")
    add("--workers", type=int, default=available_cores(), help="compiles at a time. Default: one per core")
    text = "option that commands may have although it may do more than change code (docs/corpora.md). Repeatable"
    add("--allow_option", action="append", default=[], metavar="OPTION", help=text)
    add("--seed", type=int, default=1, help="seed of the bootstrap. Default: %(default)s")
    add("--json", metavar="FILE", help="file for all scores. Default: none")
    text = "percentage, such as 0.1%%: exit code 12 when the geometric mean is worse than the default by more"
    add("--fail_if_worse_than", help=text)
    add_compile_limit(parser, CompileLimits.cpu_seconds)
    flags = parser.parse_args(arguments)
    allowed = flag_values.parse_percent("--fail_if_worse_than", flags.fail_if_worse_than)
    problem = load_problem(flags.problem)
    network = stock_compiles.load_stock_policy(locate.user_path(flags.policy), problem)
    clang = stock_clang(locate.user_path(flags.clang) if flags.clang else None)
    corpus = with_cc1_override(Corpus.load(locate.user_path(flags.corpus), flags.allow_option), clang)
    corpus = usable(problem, corpus, progress.tell)
    limits = CompileLimits(flags.compile_cpu_seconds)
    requests = [stock_compiles.request_for(clang, module, problem, limits) for module in corpus.modules]
    with contextlib.closing(progress.start("evaluate", len(requests), "modules")) as shown:
        scores = stock_compiles.score_modules(network, requests, max(1, flags.workers), shown.advance)
    summary = stock_compiles.comparison_of(scores, problem, flags.seed).summaries[stock_compiles.POLICY]
    failed = [each for each in scores if each.failure]
    for each in scores:
        print(_line(each))
    if summary is not None:
        print(f"{channel_score(problem).unit}: {summary.percent()}")
        counts = f"{summary.better} better, {summary.worse} worse, {summary.equal} equal"
        print(f"{summary.functions} parts of {summary.modules} modules: {counts}")
    print(f"done {len(scores) - len(failed)} of {len(scores)} modules, {len(failed)} failed")
    if flags.json:
        content = {
            each.module: {"default": each.default, "policy": each.policy, "failure": each.failure} for each in scores
        }
        files.write_json_atomically(locate.user_path(flags.json), {"problem": problem.name, "modules": content})
    if failed:
        return ExitCode.TOO_MANY_FAILURES
    if summary is None:
        return ExitCode.NOTHING_PRODUCED
    worse = allowed is not None and summary.geometric_mean - 1.0 > allowed
    return ExitCode.OUTPUT_DIFFERS if worse else ExitCode.DONE


def _line(scores: ModuleScores) -> str:
    if scores.failure:
        return f"{scores.module}: {scores.failure}"
    return f"{scores.module}: {sum(scores.default.values()):.6g} -> {sum(scores.policy.values()):.6g}"


if __name__ == "__main__":
    raise SystemExit(exit_code_of(lambda: run(sys.argv[1:])))
