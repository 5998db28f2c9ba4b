"""The sources that samples of corpora take (third_party/corpora/samples.json), drawn once.

`LLVM_SAMPLE`, to train on: 130 of the 1,757 units of //mlgo/corpus:llvm with 15 to 900 kB of bitcode that no held-out corpus has, drawn at random.

`TRAINING_SAMPLE` and `LLVM_TRAINING_SAMPLE` are the part of each project in //mlgo/corpus:diverse and :diverse_oz, so that no project dominates it. Drawn
at random (Python's random.Random(20).sample): 16 sources of 4 kB or more of each training library that has more than 16, and 40 of LLVM's training part.
Smaller libraries are taken whole.
"""

load("@corpora//:samples.bzl", _LLVM_SAMPLE = "LLVM_SAMPLE", _LLVM_TRAINING_SAMPLE = "LLVM_TRAINING_SAMPLE", _TRAINING_SAMPLE = "TRAINING_SAMPLE")

LLVM_SAMPLE = _LLVM_SAMPLE

LLVM_TRAINING_SAMPLE = _LLVM_TRAINING_SAMPLE

TRAINING_SAMPLE = _TRAINING_SAMPLE
