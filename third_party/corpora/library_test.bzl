"""Tests of library.bzl and of the table."""

load("@bazel_skylib//lib:unittest.bzl", "asserts", "unittest")
load(":corpora.bzl", "CORPORA", "EXAM", "FIRST", "HELD_OUT", "TRAINING")
load(":exam_programs.bzl", "EXAM_PROGRAMS")
load(":library.bzl", "corpus_name")

def _library_test_impl(ctx):
    env = unittest.begin(ctx)
    for repository in ["@@_main~corpora~corpus_zstd", "mlgo++corpora+corpus_zstd", "@corpus_zstd"]:
        asserts.equals(env, "zstd", corpus_name(repository))
    for name, entry in CORPORA.items():
        asserts.true(env, entry.srcs or entry.build_file, name + " has no sources")
        asserts.true(env, "corpus_" not in name, name + " cannot be found again")
        parts = [part for part in [FIRST, TRAINING, HELD_OUT, EXAM] if name in part]
        asserts.equals(env, 1, len(parts), name + " is in several parts of the table")
    packages = [entry.package for entry in CORPORA.values()]
    for name, entry in EXAM_PROGRAMS.items():
        asserts.false(env, name in CORPORA or entry.package in packages, name + " is a corpus, too")
    return unittest.end(env)

library_test = unittest.make(_library_test_impl)
