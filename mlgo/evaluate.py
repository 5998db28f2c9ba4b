"""Says what policies are worth: against the compiler's default, on any corpora, module by module and as linked images.

    ./bazelw run //mlgo:evaluate -- --policy=models/inlining_for_size/policy --corpus=out/corpora/zstd_oz
    ./bazelw run //mlgo:evaluate -- --problem=regalloc_eviction --policy=models/regalloc_eviction/policy --corpus=/data/corpus
    ./bazelw run //mlgo:evaluate -- --policy=mine=out/inlining/policy --corpus=/data/a --corpus=/data/b --inline_thresholds=5,15,25,50

Every module is compiled under the default and under every policy with the development clang. For inlining, the objects of a corpus are also
linked as one image, and its code is what counts: an object's size says little (docs/train-a-policy.md). --inline_thresholds adds the
default at other values of -inline-threshold, which is what a policy must beat: -Oz's own 5 is not the best.

Below --output_dir: result.json, summary.md, worst_regressions.md, and as CSV and Parquet modules (what was compared) and functions (the
size of each). --sampling_rate=0.1 takes a tenth of the modules; --module_filter looks at few, as a line of worst_regressions.md does.
Minus is better everywhere. Intervals are bootstraps over modules. A module that fails under one side is left out on all, and named.
Ctrl-C or worse: the same command goes on.

Exit codes: 0 done, 2 something is not as it should be, 10 nothing could be compared, 11 too many modules failed, 12 worse than
--fail_if_worse_than allows, 130 interrupted.
"""

import functools
import pathlib
import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from absl import flags

from mlgo.commands.compiling import clang_given, define_compiler_flags, executor_given
from mlgo.commands.training import held_out_corpus, problem_given, refuse_arguments, run_command
from mlgo.compiler.executor import available_cores
from mlgo.compiler.preflight import preflight as check_compiler
from mlgo.compiler.request import CompileLimits
from mlgo.corpus.corpus import Corpus
from mlgo.corpus.module_selection import chosen_modules
from mlgo.evaluation.corpora import evaluation
from mlgo.evaluation.corpora import tables as tables
from mlgo.evaluation.corpora.inline_thresholds import threshold_flags, threshold_of
from mlgo.evaluation.corpora.sides import DEFAULT, Side
from mlgo.policy.directory import load_policy
from mlgo.policy.greedy_model import write_greedy_model
from mlgo.problems.problem import Problem
from mlgo.run import files, locate
from mlgo.run import flag_values as given
from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.run.manifest import digest_of_bytes, digest_of_file
from mlgo.run.run_folder import RunFolder
from mlgo.run.tabular import encode_csv
from mlgo.score.code_size import COMDAT_WEIGHTED_CODE, ESTIMATED_CODE
from mlgo.score.problem_score import score_of
from mlgo.trace.setup import CompileSetup
from mlgo.training.settings import RunSettings

FLAGS = flags.FLAGS

define_compiler_flags()
flags.DEFINE_string("problem", "inlining_for_size", "A folder below mlgo/problems: what the policies decide.")
flags.DEFINE_multi_string("policy", [], "[NAME=]FOLDER of a policy; repeatable.")
flags.DEFINE_multi_string("corpus", [], "[NAME=]PATH of a corpus; repeatable. Default: the built-in held-out one.")
flags.DEFINE_list(
    "inline_thresholds", [], "For inlining: the default at these values of LLVM's -inline-threshold, too."
)
flags.DEFINE_string("output_dir", None, "Folder of the results. Default: out/evaluation in the workspace.")
flags.DEFINE_string("linker", None, "ld.lld. Default: the packaged one of this workspace.")
flags.DEFINE_string(
    "fail_if_worse_than",
    None,
    "PERCENT, such as 0.1%: exit code 12 when a policy is worse than the default by more than this in a corpus: in linked code, or where"
    " nothing is linked in the geometric mean.",
)
flags.DEFINE_float(
    "sampling_rate", 1.0, "Part of each corpus's modules to take, chosen by --seed.", lower_bound=0.0, upper_bound=1.0
)
flags.DEFINE_string(
    "module_filter",
    None,
    "Compare only modules in whose name this regular expression is found. Nothing is linked then.",
)
flags.DEFINE_bool("icf", False, "Whether the linker folds identical functions.")
flags.DEFINE_string("reward", None, "Which of the problem's rewards is compared per module. Default: its usual one.")
flags.DEFINE_integer("seed", RunSettings.seed, "Of the bootstraps and of the choice of modules.", lower_bound=0)
flags.DEFINE_float(
    "max_failure_ratio",
    RunSettings.max_failure_ratio,
    "Part of a corpus's modules that may fail.",
    lower_bound=0.0,
    upper_bound=1.0,
)
flags.DEFINE_integer(
    "compile_cpu_seconds", RunSettings.compile_cpu_seconds, "CPU time one compile may use.", lower_bound=1
)

#: How many regressions are listed for each corpus and policy.
_WORST = 5


def main(arguments: list[str]) -> int:
    """Evaluates; returns the exit code."""
    refuse_arguments(arguments)
    problem = problem_given(FLAGS.problem)
    corpora = {name: sampled(Corpus.load(path)) for name, path in _corpora(problem).items()}
    only = {name: filtered(corpus) for name, corpus in corpora.items()}
    policies = {
        name: load_policy(path, problem)
        for name, path in given.named_paths("--policy", FLAGS.policy, (DEFAULT,)).items()
    }
    digests = {name: digest_of_bytes(files.encode_json(record["sha256"])) for name, (_, record) in policies.items()}
    sides = [Side(name, digest) for name, digest in digests.items()] + threshold_sides(FLAGS.inline_thresholds, problem)
    if not sides:
        raise RunError(
            "--policy", "is not given: there is nothing to compare with the default", "Name the folder of a policy"
        )
    reward = _reward(problem)
    clang = clang_given()
    linker = _linker(problem)
    allowed = given.percent_given("--fail_if_worse_than", FLAGS.fail_if_worse_than)
    check_compiler(clang, problem)
    folder = RunFolder(locate.output_directory(FLAGS.output_dir, "evaluation"))
    folder.remove_work()
    configuration = {"problem": problem.name, "compile_cpu_seconds": FLAGS.compile_cpu_seconds}
    with executor_given(clang, FLAGS.workers) as executor:
        limits = CompileLimits(cpu_seconds=FLAGS.compile_cpu_seconds)
        setup = CompileSetup(
            clang, problem, limits, FLAGS.workers or available_cores(), FLAGS.max_failure_ratio, executor
        )
        inputs = {"clang": digest_of_file(clang)}
        whole = evaluation.Evaluation(folder, setup, inputs, configuration, FLAGS.seed, reward, linker, FLAGS.icf)

        @functools.cache  # One model for all corpora.
        def model_of(side: Side) -> pathlib.Path | None:
            return (
                write_greedy_model(policies[side.name][0], problem, folder.work, side.name)
                if side.name in policies
                else None
            )

        results = [whole.of_corpus(name, corpus, sides, model_of, only[name]) for name, corpus in corpora.items()]
    folder.remove_work()
    _report(
        folder.path, results, [side.name for side in sides], list(policies), reward, {**inputs, "policies": digests}
    )
    worse = [] if allowed is None else evaluation.worse_than(results, list(policies), allowed)
    if worse:
        print(f"Worse by more than {FLAGS.fail_if_worse_than}: {', '.join(worse)}")
    return ExitCode.OUTPUT_DIFFERS if worse else ExitCode.DONE


def sampled(corpus: Corpus) -> Corpus:
    """The part of `corpus` that --sampling_rate says."""
    return corpus.select(
        chosen_modules([module.name for module in corpus.modules], None, FLAGS.sampling_rate, FLAGS.seed)
    )


def filtered(corpus: Corpus) -> list[str] | None:
    """The modules that --module_filter says; None: it is not given."""
    if FLAGS.module_filter is None:
        return None
    return chosen_modules([module.name for module in corpus.modules], FLAGS.module_filter, 1.0, FLAGS.seed)


def threshold_sides(values: Sequence[str], problem: Problem) -> list[Side]:
    """The default at each value of the problem's threshold option.

    Raises: RunError: a value is no number, or the problem has no such option.
    """
    if values and problem.threshold_option is None:
        raise RunError("--inline_thresholds", f"is not supported for {problem.name}", "Remove it")
    return [Side(name, flags=flags_of) for name, flags_of in threshold_flags(values, problem.threshold_option).items()]


def _reward(problem: Problem) -> str:
    try:
        reward = score_of(problem).chosen_reward(FLAGS.reward)
    except ValueError as error:
        raise RunError(f"--reward={FLAGS.reward}", str(error), "Give one of them, or leave it out") from error
    if reward == ESTIMATED_CODE:
        what_is_wrong = "is an estimate made while training, and an evaluation measures the true sizes of the code"
        raise RunError(f"--reward={reward}", what_is_wrong, f"Leave it out, or give --reward={COMDAT_WEIGHTED_CODE}")
    return reward


def _corpora(problem: Problem) -> dict[str, pathlib.Path]:
    if FLAGS.corpus:
        return given.named_paths("--corpus", FLAGS.corpus, (DEFAULT,))
    path = held_out_corpus(problem)
    return {path.rpartition("/")[2]: locate.runfile(path)}


def _linker(problem: Problem) -> pathlib.Path | None:
    if not score_of(problem).links_images:
        return None
    return locate.program(FLAGS.linker, "--linker", "MLGO_PACKAGED_LINKER")


def _report(
    folder: pathlib.Path,
    results: Sequence[evaluation.CorpusResult],
    sides: Sequence[str],
    policies: Sequence[str],
    reward: str,
    digests: Mapping[str, Any],
) -> None:
    if not any(result.comparison.rows for result in results):
        raise RunError(
            f"{len(results)} corpora", "have no function or module to compare", "Give others", ExitCode.NOTHING_PRODUCED
        )
    what = "functions" if any(row.function for result in results for row in result.comparison.rows) else "modules"
    content = {
        **digests,
        "kind": "evaluation",
        "problem": FLAGS.problem,
        "reward": reward,
        "seed": FLAGS.seed,
        "icf": FLAGS.icf,
        "corpora": {result.corpus: result.to_json() for result in results},
    }
    files.write_json_atomically(folder / "result.json", content)
    for name, columns, rows in (
        ("modules", tables.COMPARED_COLUMNS, tables.compared_rows),
        ("functions", tables.FUNCTION_COLUMNS, tables.function_rows),
    ):
        files.write_atomically(folder / f"{name}.csv", encode_csv(list(columns), rows(results, sides)))
        files.write_atomically(folder / f"{name}.parquet", tables.to_parquet(columns, rows(results, sides)))
    files.write_atomically(folder / "summary.md", tables.markdown(results, sides, what).encode("utf-8"))
    worst = tables.worst_regressions(results, policies, _WORST)
    files.write_atomically(folder / "worst_regressions.md", "".join(map(_regression_text, worst)).encode("utf-8"))
    print(
        "\n".join(
            ["", "Against the compiler's default; minus is better:", "", *tables.table_lines(results, sides, what)]
        )
    )
    if worst:
        print("\nThe worst:")
    for regression in worst[:_WORST]:
        print(f"  {_described(regression)}")
    thresholds = [side for side in sides if threshold_of(side) is not None]
    for result in results:
        if failed := result.comparison.failed:
            print(
                f"{result.corpus}: left out, since they failed: {', '.join(f'{name} ({why})' for name, why in failed.items())}"
            )
        if (best := evaluation.best_side(result, thresholds)) is not None:
            print(
                f"{result.corpus}: the best of the thresholds is {threshold_of(best)}: {result.linked_summaries[best].percent()}"
            )
    print(f"\nResults: {folder / 'result.json'}, summary.md, modules and functions (.csv, .parquet)")
    if worst:
        print(f"Worst regressions, with the command that compiles each again: {folder / 'worst_regressions.md'}")


def _described(regression: tables.Regression) -> str:
    what = f"{regression.module}, {regression.function}" if regression.function else regression.module
    change = f"{regression.default_score:,.0f} -> {regression.score:,.0f}, {100.0 * (regression.ratio - 1.0):+.2f} %"
    return f"{regression.corpus}, {regression.policy}: {what}: {change}"


def _regression_text(regression: tables.Regression) -> str:
    """A paragraph of worst_regressions.md."""
    again = [
        f"--problem={FLAGS.problem}",
        *(f"--policy={value}" for value in FLAGS.policy if regression.policy in given.named_paths("--policy", [value])),
        *(f"--corpus={value}" for value in FLAGS.corpus if regression.corpus in given.named_paths("--corpus", [value])),
        *([f"--reward={FLAGS.reward}"] if FLAGS.reward else []),
        *([f"--sampling_rate={FLAGS.sampling_rate} --seed={FLAGS.seed}"] if FLAGS.sampling_rate < 1.0 else []),
        f"--module_filter={shlex.quote('^' + re.escape(regression.module) + '$')}",
        "--output_dir=out/evaluation_of_one",
    ]
    return f"{_described(regression)}\n\n    ./bazelw run //mlgo:evaluate -- {' '.join(again)}\n\n"


if __name__ == "__main__":
    run_command(main)
