"""Trains an inlining policy for small code and measures it.

Without flags it trains on the built-in corpus, compiled for size (-Oz), and writes to out/inlining in the workspace:

    ./bazelw run //mlgo:train_inlining

It compiles every module once with the development clang to record the decisions of -Oz and the size of its code, trains
a policy from there, chooses the best weights on modules that are not learned from, and compares them with -Oz on
held-out modules. After an interruption, the same command resumes and repeats at most one iteration. The result depends
on the corpora, the settings and --seed only, not on --workers or the machine's load.

    ./bazelw run //mlgo:train_inlining -- --algorithm=ppo --iterations=300 --output_dir=out/long
    ./bazelw run //mlgo:train_inlining -- --train_corpus=/data/train --held_out_corpus=/data/held_out
    ./bazelw run //mlgo:train_inlining -- --warm_start=out/inlining/policy --output_dir=out/further

The corpora must have been compiled with -Oz or -Os: the front end marks the functions that are to be small, and -Oz
over bitcode of -O2 changes nothing. A corpus is a folder with corpus_description.json ({"modules": ["a/b.cpp", ...]})
and, per module, NAME.bc (bitcode before optimisation) and NAME.cmd (cc1 arguments, each followed by a NUL). Relative
paths are relative to the directory of the command. Exit codes: 0 done, 2 wrong input or flags and nothing was
trained, 10 input empty, 11 too many modules failed, 130 interrupted.
"""

from mlgo.flags import training

DEFAULTS = training.Defaults(("inlining_for_size",), "//mlgo/corpus:llvm_small_oz", "inlining")

training.define_flags(DEFAULTS)

if __name__ == "__main__":
    training.run_main(DEFAULTS)
