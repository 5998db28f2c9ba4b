"""Trains an inlining policy that makes code small, and tells what it is worth.

Without flags it trains on the built-in corpus, compiled for size (-Oz), and writes to out/inlining in the workspace:

    ./bazelw run //mlgo:train_inlining

It compiles every module once with the development clang to record what -Oz itself decides and how large its code becomes,
trains a policy from there, chooses the best weights on modules set aside, and compares them with -Oz on held-out modules.
Ctrl-C or worse: the same command goes on, losing at most the current iteration. The result depends on the corpora, the
settings and --seed only, not on --workers or the machine's load.

    ./bazelw run //mlgo:train_inlining -- --algorithm=ppo --iterations=300 --modules_per_iteration=64 --output_dir=out/long
    ./bazelw run //mlgo:train_inlining -- --train_corpus=/data/train --held_out_corpus=/data/held_out
    ./bazelw run //mlgo:train_inlining -- --warm_start=out/inlining/policy --output_dir=out/further

The corpora must have been compiled with -Oz or -Os: which functions are to be small is decided by the front end, and -Oz over
bitcode of -O2 changes nothing. A corpus is a folder with corpus_description.json ({"modules": ["a/b.cpp", ...]}) and, per module,
NAME.bc (bitcode before optimisation) and NAME.cmd (cc1 arguments, each followed by a NUL), or a .zip, .tar, .tar.gz or .tar.zst
file of it. Relative paths are relative to where you type the command. Exit codes: 0 done, 2 something is not as it should be and
nothing was trained, 10 input empty, 11 too many modules failed, 130 interrupted.
"""

from mlgo.commands import training as command

DEFAULTS = command.Defaults(("inlining_for_size",), "mlgo/corpus/llvm_small_oz", "inlining")

command.define_flags(DEFAULTS)

if __name__ == "__main__":
    command.run_main(DEFAULTS)
