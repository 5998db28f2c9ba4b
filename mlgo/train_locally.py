"""Trains a policy on a corpus, with any problem and any algorithm; the general form of train_inlining and train_regalloc.

    ./bazelw run //mlgo:train_locally -- --problem=inlining_for_size --root_dir=/data/model --data_path=/data/corpus
    ./bazelw run //mlgo:train_locally -- --problem=inlining_for_size --root_dir=/data/model --data_path=/data/corpus \\
        --algorithm=es --num_modules=100 --iterations=300 --held_out_path=/data/other_corpus
    ./bazelw run //mlgo:train_locally -- --problem=regalloc_eviction --root_dir=/data/model --data_path=/data/corpus \\
        --warmstart_policy_dir=/data/warmstart/policy --gin_bindings="PpoConfig.learning_rate=1e-4"

Input: a corpus, as //mlgo:extract_ir writes it, a folder or an archive. Output, below --root_dir: policy/ (SavedModel, TFLite model,
record), metrics.jsonl, tensorboard/ and the stages in between. Part of the corpus's modules choose the policy and are not learned
from; --held_out_path names a corpus to measure the result on. Ctrl-C or worse: the same command goes on, losing at most the
current iteration. The result depends on the corpora, the settings and --seed only.

Exit codes: 0 done, 2 something is not as it should be and nothing was trained, 10 input empty, 11 too many modules failed, 130
interrupted.
"""

from absl import flags

from mlgo.commands import training as command
from mlgo.commands.compiling import cache_given, clang_given, define_compiler_flags
from mlgo.run import locate
from mlgo.training.estimated_reward import estimation_given
from mlgo.training.run_inputs import RunInputs

FLAGS = flags.FLAGS

define_compiler_flags()
command.define_learning_flags()
flags.DEFINE_string("problem", None, "What to learn: a folder below mlgo/problems.", required=True)
flags.DEFINE_string("root_dir", None, "Folder of the run.", required=True)
flags.DEFINE_string("data_path", None, "Corpus to learn from.", required=True)
flags.DEFINE_string("held_out_path", None, "Corpus to measure the result on; no module may be in both. Default: none.")
flags.DEFINE_string(
    "vocabulary", None, "Folder with FEATURE.buckets files. Default: one is made from the default trace."
)
flags.DEFINE_alias("num_modules", "modules_per_iteration")
flags.DEFINE_alias("warmstart_policy_dir", "warm_start")


def main(arguments: list[str]) -> int:
    """Trains; returns the exit code."""
    command.refuse_arguments(arguments)
    problem = command.problem_given(FLAGS.problem)
    configurations, policy = command.configurations_given(problem.name)
    inputs = RunInputs(
        clang=clang_given(),
        train_corpus=locate.user_path(FLAGS.data_path),
        held_out_corpus=locate.user_path(FLAGS.held_out_path) if FLAGS.held_out_path else None,
        vocabulary=locate.user_path(FLAGS.vocabulary) if FLAGS.vocabulary else None,
        policy=policy,
        output=locate.user_path(FLAGS.root_dir),
        cache=cache_given(),
        imitated=command.imitated_given(configurations.run.algorithm),
        estimation=estimation_given(problem, configurations.run.reward),
    )
    return command.train(inputs, configurations, FLAGS.workers)


if __name__ == "__main__":
    command.run_command(main)
