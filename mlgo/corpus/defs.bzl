"""Rules and an aspect that make an mlgo corpus of C and C++ code.

    mlgo_corpus(name = "mine", deps = [":my_program"])
    mlgo_corpus_part(name = "mine_train", corpus = ":mine", part = "train")
    mlgo_corpus_from_sources(name = "few", srcs = [...], hdrs = [...], deps = [...], copts = ["-O2"])
    mlgo_corpus_sample(name = "sample", corpus = ":mine", sources = ["src/a.cc"])
    mlgo_combined_corpus(name = "all", corpora = {":mine_train": "mine", ":few": "few"})
    mlgo_gn_corpus(name = "browser", tree = "@chromium//:tree", targets = ["//base"], gn_args = {"clang_embed_bitcode": "true"}, ...)

    mlgo_gn_corpus(name = "shell_corpus", targets = ["//:shell"], program = "shell", ...)     # and keeps the program that it links,
    mlgo_gn_program(name = "shell", corpus = ":shell_corpus")                                # which this one is

Each corpus is a directory as mlgo/corpus/README.md describes it, with `name` as its path in the package. Without a rule:

    bazel build -c opt --aspects=@mlgo//mlgo/corpus:defs.bzl%corpus_aspect --output_groups=mlgo_corpus //my:program

makes the directory bazel-bin/my/program.mlgo_corpus.
"""

load("//mlgo/corpus/private:aspect.bzl", _corpus_aspect = "corpus_aspect")
load("//mlgo/corpus/private:corpus.bzl", _mlgo_combined_corpus = "mlgo_combined_corpus", _mlgo_corpus = "mlgo_corpus", _mlgo_corpus_part = "mlgo_corpus_part", _mlgo_corpus_sample = "mlgo_corpus_sample")
load("//mlgo/corpus/private:from_sources.bzl", _mlgo_corpus_from_sources = "mlgo_corpus_from_sources")
load("//mlgo/corpus/private:gn.bzl", _mlgo_gn_corpus = "mlgo_gn_corpus", _mlgo_gn_program = "mlgo_gn_program")
load("//mlgo/corpus/private:modules.bzl", _CorpusModulesInfo = "CorpusModulesInfo")

CorpusModulesInfo = _CorpusModulesInfo
corpus_aspect = _corpus_aspect
mlgo_combined_corpus = _mlgo_combined_corpus
mlgo_corpus = _mlgo_corpus
mlgo_corpus_from_sources = _mlgo_corpus_from_sources
mlgo_corpus_part = _mlgo_corpus_part
mlgo_corpus_sample = _mlgo_corpus_sample
mlgo_gn_corpus = _mlgo_gn_corpus
mlgo_gn_program = _mlgo_gn_program
