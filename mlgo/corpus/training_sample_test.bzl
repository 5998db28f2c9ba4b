"""Tests of training_sample.bzl."""

load("@bazel_skylib//lib:unittest.bzl", "asserts", "unittest")
load("//third_party/corpora:corpora.bzl", "HELD_OUT", "TRAINING")
load(":training_sample.bzl", "LLVM_TRAINING_SAMPLE", "TRAINING_SAMPLE")

def _training_sample_test_impl(ctx):
    env = unittest.begin(ctx)
    for name, sources in TRAINING_SAMPLE.items():
        asserts.true(env, name in TRAINING, name + " is no training library")
        asserts.false(env, name in HELD_OUT, name + " is held out")
        asserts.equals(env, 16, len({source: None for source in sources}), name + " has another number of sources")
    asserts.equals(env, 40, len({source: None for source in LLVM_TRAINING_SAMPLE}))
    return unittest.end(env)

training_sample_test = unittest.make(_training_sample_test_impl)
