"""Makes a vocabulary: quantiles of every feature over a trace, from which policies take how they normalise features.

    ./bazelw run //mlgo:sparse_bucket_generator -- --input=/data/trace --output_dir=/data/vocabulary
    ./bazelw run //mlgo:sparse_bucket_generator -- --input=/data/trace --output_dir=/data/vocabulary --sampling_fraction=0.1

Input: what //mlgo:generate_default_trace has written, of any size: memory stays the same. Output: one file FEATURE.buckets per
feature, ascending numbers, one a line, as ml-compiler-opt has them; --vocabulary of the training commands takes the folder. The
observations are chosen by --seed; equal input, flags and seed give equal bytes. Ctrl-C or worse: the same command goes on.

Exit codes: 0 done, 2 something is not as it should be, 10 the trace holds no decision, 130 interrupted.
"""

from absl import flags

from mlgo.commands.training import refuse_arguments, run_command
from mlgo.run import locate
from mlgo.run.exit_codes import ExitCode
from mlgo.run.run_folder import RunFolder
from mlgo.trace.finished import open_trace
from mlgo.trace.vocabulary import VocabularyConfig, build_vocabulary
from mlgo.training.settings import RunSettings

FLAGS = flags.FLAGS

flags.DEFINE_string("input", None, "The trace.", required=True)
flags.DEFINE_string("output_dir", None, "Folder of the vocabulary.", required=True)
flags.DEFINE_float(
    "sampling_fraction", VocabularyConfig.sampling_fraction, "Part of the observations that are looked at.", 0.0, 1.0
)
flags.DEFINE_integer("num_buckets", VocabularyConfig.quantiles, "Quantiles per feature.", lower_bound=2)
flags.DEFINE_integer(
    "sample_size", VocabularyConfig.sample_size, "About how many observations are kept at most.", lower_bound=1
)
flags.DEFINE_integer("seed", RunSettings.seed, "Of the choice of observations.", lower_bound=0)


def main(arguments: list[str]) -> int:
    """Makes the vocabulary; returns the exit code."""
    refuse_arguments(arguments)
    trace, problem, manifest = open_trace(locate.user_path(FLAGS.input), "--input")
    config = VocabularyConfig(FLAGS.num_buckets, FLAGS.sample_size, max(FLAGS.sampling_fraction, 1e-12))
    folder = RunFolder(locate.user_path(FLAGS.output_dir))
    folder.claim({"trace": manifest.digest, "configuration": {**config.__dict__, "seed": FLAGS.seed}})
    counts = build_vocabulary(folder.path, trace, problem, config, FLAGS.seed)
    print(f"vocabulary of {counts['features']} features from {counts['modules']} modules -> {folder.path}")
    return ExitCode.DONE


if __name__ == "__main__":
    run_command(main)
