"""Records what the compiler's own heuristic, or a policy, decides in every module of a corpus, and the scores it reaches.

    ./bazelw run //mlgo:generate_default_trace -- --data_path=/data/corpus --output_path=/data/trace --sampling_rate=0.2
    ./bazelw run //mlgo:generate_default_trace -- --problem=regalloc_eviction --data_path=/data/corpus --output_path=/data/trace
    ./bazelw run //mlgo:generate_default_trace -- --data_path=/data/corpus --output_path=/data/policy_trace \\
        --policy_path=out/inlining/policy

Input: a corpus, as //mlgo:extract_ir writes it, a folder or an archive. Output, below --output_path/trace/default: per
module NAME modules/NAME.json (how it fared; [decisions, score] per function) and modules/NAME.arrays (all decisions: named arrays
in one Zstandard file, see mlgo/trace/arrays.py); manifest.json comes last and says that the trace is whole. There is no TFRecord file:
//mlgo:sparse_bucket_generator and //mlgo:train_bc read --output_path. Ctrl-C or worse: the same command goes on.

    ./bazelw run //mlgo:generate_default_trace -- --data_path=/data/corpus --output_path=/data/policy_trace \\
        --policy_path=out/inlining/policy --output_performance_path=/data/performance.csv

also compiles under the default and writes a line per module and function: module,function,default_score,score; a module's size stands
under an empty function name. //mlgo:evaluate compares with intervals, and links.

Exit codes: 0 done, 2 something is not as it should be and nothing was compiled, 10 no module has a decision, 11 too many modules
failed, 130 interrupted.
"""

import pathlib
from collections.abc import Mapping
from typing import Any

from absl import flags

from mlgo.commands.compiling import clang_given, define_compiler_flags, executor_given
from mlgo.commands.training import problem_given, refuse_arguments, run_command
from mlgo.compiler.executor import available_cores
from mlgo.compiler.preflight import preflight as check_compiler
from mlgo.compiler.request import CompileLimits
from mlgo.corpus.corpus import Corpus
from mlgo.corpus.module_selection import chosen_modules
from mlgo.policy.directory import load_policy
from mlgo.policy.greedy_model import write_greedy_model
from mlgo.run import files, locate
from mlgo.run.exit_codes import ExitCode
from mlgo.run.manifest import digest_of_bytes, digest_of_file
from mlgo.run.run_folder import RunFolder
from mlgo.run.tabular import encode_csv
from mlgo.score.function_scores import FunctionScore
from mlgo.score.problem_score import score_of
from mlgo.trace.setup import CompileSetup
from mlgo.trace.trace import Trace, trace_corpus
from mlgo.training import preflight
from mlgo.training.settings import RunSettings

FLAGS = flags.FLAGS

#: The stage below --output_path that holds the trace.
STAGE = "trace/default"

define_compiler_flags("clang_path", "num_workers")
flags.DEFINE_string("problem", "inlining_for_size", "A folder below mlgo/problems: whose decisions are recorded.")
flags.DEFINE_string("data_path", None, "The corpus.", required=True)
flags.DEFINE_string("output_path", None, "Folder of the trace.", required=True)
flags.DEFINE_string("policy_path", None, "Folder of a policy that decides. Default: the compiler's own heuristic does.")
flags.DEFINE_string(
    "output_performance_path", None, "CSV file for the scores of every module and function, beside the default's."
)
flags.DEFINE_float(
    "sampling_rate", 1.0, "Part of the modules to compile, chosen by --seed.", lower_bound=0.0, upper_bound=1.0
)
flags.DEFINE_string("module_filter", None, "Compile only modules in whose name this regular expression is found.")
flags.DEFINE_integer("seed", RunSettings.seed, "Of the choice of modules.", lower_bound=0)
flags.DEFINE_float(
    "max_failure_ratio",
    RunSettings.max_failure_ratio,
    "Part of the modules that may fail.",
    lower_bound=0.0,
    upper_bound=1.0,
)
flags.DEFINE_integer(
    "compile_cpu_seconds", RunSettings.compile_cpu_seconds, "CPU time one compile may use.", lower_bound=1
)


def main(arguments: list[str]) -> int:
    """Traces; returns the exit code."""
    refuse_arguments(arguments)
    problem = problem_given(FLAGS.problem)
    corpus = Corpus.load(locate.user_path(FLAGS.data_path))
    names = chosen_modules(
        [module.name for module in corpus.modules], FLAGS.module_filter, FLAGS.sampling_rate, FLAGS.seed
    )
    policy = FLAGS.policy_path and locate.user_path(FLAGS.policy_path)
    network, record = load_policy(policy, problem) if policy else (None, None)
    clang, chosen = clang_given("clang_path"), corpus.select(names)
    limits = CompileLimits(cpu_seconds=FLAGS.compile_cpu_seconds)
    folder = RunFolder(locate.user_path(FLAGS.output_path))
    preflight.check_disk_space(folder.path, [chosen])
    check_compiler(clang, problem)
    inputs = {"corpus": corpus.digest, "clang": digest_of_file(clang)}
    if record is not None:
        inputs["policy"] = digest_of_bytes(files.encode_json(record["sha256"]))
    configuration = {
        "problem": problem.name,
        "sampling_rate": FLAGS.sampling_rate,
        "module_filter": FLAGS.module_filter,
        "seed": FLAGS.seed,
        "max_failure_ratio": FLAGS.max_failure_ratio,
        "compile_cpu_seconds": FLAGS.compile_cpu_seconds,
    }
    folder.claim({"inputs": inputs, "configuration": configuration})
    with executor_given(clang, FLAGS.num_workers) as executor:
        workers = FLAGS.num_workers or available_cores()
        setup = CompileSetup(clang, problem, limits, workers, FLAGS.max_failure_ratio, executor)

        def work(stage: pathlib.Path) -> Mapping[str, Any]:
            model = write_greedy_model(network, problem, folder.work, "policy") if network else None
            return trace_corpus(stage, chosen, setup, "trace", model)

        counts = folder.stage(STAGE, inputs, configuration, work).summary
        if FLAGS.output_performance_path:
            _write_performance(
                locate.user_path(FLAGS.output_performance_path), folder, chosen, setup, inputs, configuration
            )
    folder.remove_work()
    print(
        f"traced {counts['traced']} of {len(names)} modules, {counts['no decisions']} without decisions, {counts['failed']} failed;"
        f" {counts['decisions']} decisions -> {folder.path / STAGE}"
    )
    return ExitCode.DONE


def _write_performance(
    path: pathlib.Path,
    folder: RunFolder,
    corpus: Corpus,
    setup: CompileSetup,
    inputs: Mapping[str, str],
    configuration: Mapping[str, Any],
) -> None:
    """Compiles `corpus` under the default too, unless that is what was traced, and writes both sides' scores."""
    default = STAGE
    if "policy" in inputs:
        default = "trace/without_policy"
        without = {name: digest for name, digest in inputs.items() if name != "policy"}

        def work(stage: pathlib.Path) -> Mapping[str, Any]:
            return trace_corpus(stage, corpus, setup, "trace of the default", keep_decisions=False)

        folder.stage(default, without, configuration, work)
    sides = [Trace.load(folder.path / stage, corpus).records for stage in (default, STAGE)]
    measure = score_of(setup.problem).measure({name: record.functions for name, record in sides[0].items()})
    files.write_atomically(
        path, performance_csv(*({n: measure.compared(n, r.functions) for n, r in side.items()} for side in sides))
    )


def performance_csv(
    default: Mapping[str, Mapping[str, FunctionScore]], found: Mapping[str, Mapping[str, FunctionScore]]
) -> bytes:
    """module,function,default_score,score of whatever has a score on both sides, with a header; sorted."""
    rows = (
        (module, function, default[module][function].score, found[module][function].score)
        for module in sorted(default)
        for function in sorted(default[module].keys() & found[module].keys())
    )
    return encode_csv(["module", "function", "default_score", "score"], rows)


if __name__ == "__main__":
    run_command(main)
