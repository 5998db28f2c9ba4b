"""`chromium_corpus` under its former name. Load it from //mlgo/corpus/chromium:defs.bzl."""

load("//mlgo/corpus/chromium:defs.bzl", _chromium_corpus = "chromium_corpus")

chromium_corpus = _chromium_corpus
