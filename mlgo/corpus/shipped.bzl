"""The corpora of //third_party/corpora, each at -O2 and at -Oz, whole and in parts."""

load("//third_party/corpora:corpora.bzl", "CORPORA")
load("//toolchains/cc:targets.bzl", "BARE_TARGETS", "LINUX_TARGETS", "platform_of")
load(":defs.bzl", "mlgo_corpus", "mlgo_corpus_part")

# The front end writes into functions what they are optimised for, so that each level is a corpus of its own. The first one's name has no suffix.
LEVELS = ["O2", "Oz"]
PARTS = ["train", "held_out"]

def corpus_names(name):
    """The targets of a corpus of that name: dict from target to level, whole corpora only."""
    return {name if level == "O2" else name + "_" + level.lower(): level for level in LEVELS}

def corpus_of(name, deps, licence, bare_metal = False):
    """A corpus at every level and for every target, and the two parts of each.

    `zstd`, `zstd_train`, `zstd_held_out`, `zstd_oz`, `zstd_oz_train`, ..., then `zstd_aarch64`, `zstd_aarch64_train`, ..., `zstd_oz_riscv64_held_out`.
    All are `manual`: `//...` does not fetch and compile these libraries.

    Args:
      name: of the corpus at -O2.
      deps: C++ targets whose sources it is made of.
      licence: SPDX expression of sources that name none.
      bare_metal: whether they compile without an operating system too.
    """
    for corpus, level in corpus_names(name).items():
        _corpus_and_parts(corpus, deps, licence, level, None)
        for target in LINUX_TARGETS + (BARE_TARGETS if bare_metal else []):
            _corpus_and_parts(corpus + "_" + target, deps, licence, level, "//platforms:" + platform_of(target))

def _corpus_and_parts(corpus, deps, licence, level, platform):
    mlgo_corpus(
        name = corpus,
        level = level,
        licence = licence,
        platform = platform,
        tags = ["manual"],
        deps = deps,
    )
    for part in PARTS:
        mlgo_corpus_part(
            name = corpus + "_" + part,
            corpus = corpus,
            part = part,
            tags = ["manual"],
        )

def shipped_corpora():
    """Declares all of them."""
    for name, entry in CORPORA.items():
        corpus_of(name, ["@corpora//:" + name], entry.licence, entry.bare_metal)
