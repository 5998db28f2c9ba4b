"""Trains a policy for any problem with any algorithm; the general form of train_inlining and train_regalloc.

    ./bazelw run //mlgo:train_locally -- --problem=inlining_for_size --train_corpus=/data/code --output_dir=/data/ppo
    ./bazelw run //mlgo:train_locally -- --problem=inlining_for_size --train_corpus=/data/code --output_dir=/data/es \\
        --algorithm=es --modules_per_iteration=100 --iterations=300 --held_out_corpus=/data/other_code
    ./bazelw run //mlgo:train_locally -- --problem=regalloc_eviction+executed_cost.1,0.5,2 --train_corpus=/data/code \\
        --output_dir=/data/further --warm_start=/data/ppo/policy --gin_bindings="PpoConfig.learning_rate=1e-4"

Input: a corpus of //mlgo:extract_ir, a folder or an archive. Output, below --output_dir: policy/ (SavedModel, TFLite
model, record), metrics.jsonl, tensorboard/ and the intermediate stages. Some modules of the training corpus choose the
policy and are not learned from. --held_out_corpus measures the result. After an interruption, the same command resumes
and repeats at most one iteration. The result depends on the corpora, the settings and --seed only.

Exit codes: 0 done, 2 wrong input or flags and nothing was trained, 10 input empty, 11 too many modules failed, 130
interrupted.
"""

from absl import flags

from mlgo.flags import training

DEFAULTS = training.Defaults()

training.define_flags(DEFAULTS)
# Names in ml-compiler-opt's documents.
flags.DEFINE_alias("root_dir", "output_dir")
flags.DEFINE_alias("data_path", "train_corpus")
flags.DEFINE_alias("held_out_path", "held_out_corpus")
flags.DEFINE_alias("num_modules", "modules_per_iteration")
flags.DEFINE_alias("warmstart_policy_dir", "warm_start")

if __name__ == "__main__":
    training.run_main(DEFAULTS)
