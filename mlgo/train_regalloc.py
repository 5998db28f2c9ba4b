"""Trains a register-allocation policy and measures it.

Without flags it trains eviction on the built-in corpus (LLVM's own libraries) and writes to out/regalloc in the
workspace:

    ./bazelw run //mlgo:train_regalloc

It compiles every module once with the development clang to record the decisions of the default heuristic, learns to
repeat them, improves on them (by PPO, unless --algorithm is given), chooses the best weights on modules that are not
learned from, and compares them with the default on held-out modules. After an interruption, the same command resumes
and repeats at most one iteration. The result depends on the corpora, the settings and --seed only, not on --workers or
the machine's load.

    ./bazelw run //mlgo:train_regalloc -- --iterations=300 --modules_per_iteration=64 --output_dir=out/long
    ./bazelw run //mlgo:train_regalloc -- --problem=regalloc_priority
    ./bazelw run //mlgo:train_regalloc -- --problem=regalloc_eviction+executed_cost
    ./bazelw run //mlgo:train_regalloc -- --train_corpus=/data/train --held_out_corpus=/data/held_out
    ./bazelw run //mlgo:train_regalloc -- --warm_start=models/regalloc_eviction/policy --output_dir=out/further
    ./bazelw run //mlgo:train_regalloc -- --gin_bindings="PpoConfig.learning_rate=1e-4"

A corpus is a folder with corpus_description.json ({"modules": ["a/b.cpp", ...]}) and, per module, NAME.bc (bitcode
before optimisation) and NAME.cmd (cc1 arguments, each followed by a NUL). Relative paths are relative to the directory
of the command. Exit codes: 0 done, 2 wrong input or flags and nothing was trained, 10 input empty, 11 too many modules
failed, 130 interrupted.
"""

from mlgo.flags import training

PROBLEMS = tuple(f"regalloc_{name}{cost}" for cost in ("", "+executed_cost") for name in ("eviction", "priority"))
DEFAULTS = training.Defaults(PROBLEMS, "//mlgo/corpus:llvm_small", "regalloc")

training.define_flags(DEFAULTS)

if __name__ == "__main__":
    training.run_main(DEFAULTS)
