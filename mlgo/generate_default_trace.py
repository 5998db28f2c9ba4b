"""Records the decisions in every module of a corpus, and the scores, under the compiler's heuristic or a policy.

    ./bazelw run //mlgo:generate_default_trace -- --corpus=/data/corpus --output_dir=/data/trace \\
        --problem=regalloc_eviction --sampling_rate=0.2
    ./bazelw run //mlgo:generate_default_trace -- --corpus=/data/corpus --output_dir=/data/policy_trace \\
        --policy=out/inlining/policy --output_performance_path=/data/performance.csv

Input: a corpus of //mlgo:extract_ir, a folder. Output, below --output_dir/trace/default: per module NAME
modules/NAME.json (outcome, and [decisions, score] per function) and modules/NAME.arrays (all decisions: named arrays in
one Zstandard file, see mlgo/trace/arrays.py), and, written last, manifest.json. //mlgo:sparse_bucket_generator and
//mlgo:train_bc read --output_dir. With --output_format=tfrecord also default_trace.tfrecord, for ml-compiler-opt: a
tf.train.SequenceExample per function, or for inlining per module, with the features, the decision and the reward
compared with the default. The same command resumes an interrupted one, or adds the file to a finished trace.

--output_performance_path also compiles under the default, and writes one line per module and function:
module,function,default_score,score. A module's size has an empty function name. For confidence intervals and linked
images, see //mlgo:evaluate.

--data_path, --output_path, --policy_path, --clang_path and --num_workers, as ml-compiler-opt's documents name them, are
aliases of --corpus, --output_dir, --policy, --clang and --workers.

Exit codes: 0 done, 2 a flag or an input is not usable, 10 no module has a decision, 11 too many modules failed,
130 interrupted.
"""

import pathlib
import tempfile

from absl import flags

from mlgo.compiler.executor import available_cores
from mlgo.flags import compiling
from mlgo.flags.main import problem_from_flags, refuse_arguments, run_command
from mlgo.policy.directory import policy_folder
from mlgo.problems.problem import problem_names
from mlgo.run import locate
from mlgo.run.determinism import DEFAULT_SEED
from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.trace.outcomes import DEFAULT_MAX_FAILURE_RATIO
from mlgo.trace.setup import CompileSetup
from mlgo.training.default_trace import Selection, record_trace

FLAGS = flags.FLAGS

compiling.define_compiler_flags()
compiling.define_gin_flags()
flags.DEFINE_string("problem", "inlining_for_size", f"Problem whose decisions to record: {', '.join(problem_names())}.")
flags.DEFINE_string("corpus", None, "Path or label of the corpus.", required=True)
flags.DEFINE_string(
    "output_dir", None, "Folder of the trace. Default: none is kept, and --output_performance_path is required."
)
flags.DEFINE_string("policy", None, "Folder of the policy that makes the decisions. Default: the compiler's heuristic.")
flags.DEFINE_string("output_performance_path", None, "CSV file for all scores beside the default's. Default: none.")
flags.DEFINE_enum(
    "output_format",
    "arrays",
    ("arrays", "tfrecord"),
    "arrays: the trace as mlgo reads it. tfrecord: also as ml-compiler-opt reads it.",
)
flags.DEFINE_float("sampling_rate", 1.0, "Part of the modules to compile, a random sample.", 0.0, 1.0)
compiling.define_module_filter("Compile only modules")
flags.DEFINE_integer("seed", DEFAULT_SEED, "Seed of the sample.", lower_bound=0)
flags.DEFINE_float("max_failure_ratio", DEFAULT_MAX_FAILURE_RATIO, "Part of the modules that may fail.", 0.0, 1.0)
compiling.define_compile_limit()
flags.DEFINE_alias("data_path", "corpus")
flags.DEFINE_alias("output_path", "output_dir")
flags.DEFINE_alias("policy_path", "policy")
flags.DEFINE_alias("compilation_timeout", "compile_cpu_seconds")


def main(arguments: list[str]) -> int:
    refuse_arguments(arguments)
    problem = problem_from_flags(FLAGS.problem)
    corpus = compiling.corpus_from_flags(locate.user_path(FLAGS.corpus), problem)
    selection = Selection(FLAGS.sampling_rate, FLAGS.module_filter, FLAGS.seed)
    policy, performance = (path and locate.user_path(path) for path in (FLAGS.policy, FLAGS.output_performance_path))
    policy = policy and policy_folder(policy)
    if not FLAGS.output_dir and (performance is None or FLAGS.output_format != "arrays"):
        remedy = "Give the folder of the trace, or --output_performance_path alone"
        raise RunError("--output_dir", "is not given", remedy)
    clang, workers = compiling.clang_from_flags(), FLAGS.workers or available_cores()
    with tempfile.TemporaryDirectory(prefix="mlgo-trace-") as unkept:
        output = locate.user_path(FLAGS.output_dir) if FLAGS.output_dir else pathlib.Path(unkept)
        with compiling.executor_from_flags(clang, FLAGS.workers) as executor:
            setup = CompileSetup(
                clang, problem, compiling.limits_from_flags(), workers, FLAGS.max_failure_ratio, executor
            )
            as_tfrecord = FLAGS.output_format == "tfrecord"
            print(record_trace(corpus, selection, setup, output, policy, performance, as_tfrecord))
    return ExitCode.DONE


if __name__ == "__main__":
    run_command(main)
