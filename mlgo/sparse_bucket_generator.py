"""Makes a vocabulary: the quantiles of every feature over a trace, by which policies normalise features.

    ./bazelw run //mlgo:sparse_bucket_generator -- --trace=/data/trace --output_dir=/data/vocabulary
    ./bazelw run //mlgo:sparse_bucket_generator -- --trace=/data/trace --output_dir=/data/vocabulary \\
        --sampling_fraction=0.1

Input: a trace of //mlgo:generate_default_trace, of any size: memory use is constant. Output: one file FEATURE.buckets
per feature, ascending numbers, one per line, as in ml-compiler-opt; --vocabulary of the training commands accepts the
folder. --seed selects the observations; equal input, flags and seed give equal bytes. After an interruption, the same
command resumes.

Exit codes: 0 done, 2 wrong input or flags, 10 the trace has no decision, 130 interrupted.
"""

from absl import flags

from mlgo.flags.compiling import define_gin_flags
from mlgo.flags.main import refuse_arguments, run_command
from mlgo.identity.code import run_identity
from mlgo.run import locate
from mlgo.run.determinism import DEFAULT_SEED
from mlgo.run.exit_codes import ExitCode
from mlgo.run.run_folder import RunFolder
from mlgo.trace.finished import open_trace
from mlgo.trace.vocabulary import VocabularyConfig, build_vocabulary

FLAGS = flags.FLAGS

flags.DEFINE_string("trace", None, "Trace whose features are counted.", required=True)
flags.DEFINE_alias("input", "trace")
flags.DEFINE_string("output_dir", None, "Folder of the vocabulary.", required=True)
flags.DEFINE_float(
    "sampling_fraction", VocabularyConfig.sampling_fraction, "Fraction of the observations that are read.", 0.0, 1.0
)
flags.DEFINE_integer("num_buckets", VocabularyConfig.quantiles, "Quantiles per feature.", lower_bound=2)
flags.DEFINE_integer(
    "sample_size",
    VocabularyConfig.sample_size,
    "Approximate upper limit of the observations kept in memory.",
    lower_bound=1,
)
flags.DEFINE_integer("parallelism", None, "Ignored: modules are read ahead by a few threads.", lower_bound=1)
define_gin_flags()
flags.DEFINE_integer("seed", DEFAULT_SEED, "Seed of the choice of observations.", lower_bound=0)


def main(arguments: list[str]) -> int:
    refuse_arguments(arguments)
    trace, problem, manifest = open_trace(locate.user_path(FLAGS.trace), "--trace")
    config = VocabularyConfig(FLAGS.num_buckets, FLAGS.sample_size, max(FLAGS.sampling_fraction, 1e-12))
    folder = RunFolder(locate.user_path(FLAGS.output_dir))
    folder.claim(run_identity({"trace": manifest.digest, "configuration": {**config.__dict__, "seed": FLAGS.seed}}))
    counts = build_vocabulary(folder.path, trace, problem, config, FLAGS.seed)
    print(f"vocabulary of {counts['features']} features from {counts['modules']} modules -> {folder.path}")
    return ExitCode.DONE


if __name__ == "__main__":
    run_command(main)
