"""Rules that make an mlgo corpus from C and C++ sources.

    mlgo_corpus_from_sources(name = "mine", srcs = [...], hdrs = [...], deps = [...], copts = ["-O2"])
    mlgo_corpus_part(name = "mine_train", corpus = ":mine", part = "train")

Each of the two is a directory as mlgo/corpus/README.md describes it, with `name` as its path in the package.
"""

load("//mlgo/corpus/private:from_sources.bzl", _CorpusModulesInfo = "CorpusModulesInfo", _mlgo_corpus_from_sources = "mlgo_corpus_from_sources", _mlgo_corpus_part = "mlgo_corpus_part")

CorpusModulesInfo = _CorpusModulesInfo
mlgo_corpus_from_sources = _mlgo_corpus_from_sources
mlgo_corpus_part = _mlgo_corpus_part
