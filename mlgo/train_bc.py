"""Behavioural cloning: trains a policy that repeats the decisions of a trace, the "warm start" of ml-compiler-opt's
documents.

    ./bazelw run //mlgo:train_bc -- --trace=/data/trace --output_dir=/data/warmstart
    ./bazelw run //mlgo:train_bc -- --trace=/data/trace --output_dir=/data/warmstart --gin_bindings="BcConfig.epochs=20"

Input: a trace of //mlgo:generate_default_trace. Output, below --output_dir: policy/ (SavedModel, TFLite model, record),
which --warm_start of the training commands accepts, and the vocabulary, if none was given. --validation_modules modules
are not trained on. The share of their decisions that the policy repeats is printed and recorded. Equal input, flags and
seed give equal bytes. After an interruption, the same command resumes.

Exit codes: 0 done, 2 wrong input or flags, 10 the trace has no decision, 130 interrupted.
"""

from absl import flags

from mlgo.flags.learning import configurations_from_flags, define_settings_flags
from mlgo.flags.main import refuse_arguments, run_command
from mlgo.run import locate
from mlgo.run.exit_codes import ExitCode
from mlgo.trace.finished import open_trace
from mlgo.training.warm_start import clone_trace

FLAGS = flags.FLAGS

flags.DEFINE_string("trace", None, "Trace whose decisions are cloned.", required=True)
flags.DEFINE_string("output_dir", None, "Folder of the result.", required=True)
flags.DEFINE_string("vocabulary", None, "Folder with FEATURE.buckets files. Default: one is made from the trace.")
flags.DEFINE_alias("data_path", "trace")
flags.DEFINE_alias("root_dir", "output_dir")
define_settings_flags()


def main(arguments: list[str]) -> int:
    refuse_arguments(arguments)
    trace, problem, traced = open_trace(locate.user_path(FLAGS.trace), "--trace")
    configurations, _ = configurations_from_flags(problem.name)
    vocabulary = locate.user_path(FLAGS.vocabulary) if FLAGS.vocabulary else None
    output = locate.user_path(FLAGS.output_dir)
    figures = clone_trace(output, trace, traced, problem, vocabulary, configurations)
    print(
        f"repeats {figures['held_out_accuracy']:.2%} of the {figures['held_out_decisions']} decisions in"
        f" {figures['held_out_modules']} modules that it was not trained on (always the same one:"
        f" {figures['majority_accuracy']:.2%}) -> {output / 'policy'}"
    )
    return ExitCode.DONE


if __name__ == "__main__":
    run_command(main)
