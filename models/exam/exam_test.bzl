"""Tests of exam.bzl: the exam's libraries are in no other list."""

load("@bazel_skylib//lib:unittest.bzl", "asserts", "unittest")
load("//mlgo/corpus:training_sample.bzl", "TRAINING_SAMPLE")
load("//models:defs.bzl", "HELD_OUT_LIBRARIES", "PROGRAMS_WITH_TRAINING", "TARGET_PROGRAMS")
load("//third_party/corpora:corpora.bzl", "EXAM", "FIRST", "HELD_OUT", "TRAINING")
load(":exam.bzl", "EXAM_LIBRARIES", "exam_corpora", "measurement")

def _exam_test_impl(ctx):
    env = unittest.begin(ctx)
    names = exam_corpora().keys()
    asserts.equals(env, [8, 8], [len(libraries) for libraries in EXAM_LIBRARIES.values()])
    asserts.equals(env, sorted(names), sorted(EXAM))
    others = {
        "FIRST": FIRST,
        "HELD_OUT": HELD_OUT,
        "HELD_OUT_LIBRARIES": HELD_OUT_LIBRARIES,
        "PROGRAMS_WITH_TRAINING": PROGRAMS_WITH_TRAINING,
        "TRAINING": TRAINING,
        "TRAINING_SAMPLE": TRAINING_SAMPLE,
    } | {"TARGET_PROGRAMS of " + target: programs for target, programs in TARGET_PROGRAMS.items()}
    for name in names:
        for title, other in others.items():
            asserts.false(env, name in other, name + " of the exam is in " + title)
    packages = [entry.package for part in [FIRST, HELD_OUT, TRAINING] for entry in part.values()]
    for name, entry in EXAM.items():
        asserts.false(env, entry.package in packages, name + " is also another library's package")
    asserts.equals(env, "mlgo/evaluate", measurement("a", "//mlgo:evaluate", []).command)
    return unittest.end(env)

exam_test = unittest.make(_exam_test_impl)
