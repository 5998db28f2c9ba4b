"""The C++ library of a repository which third_party/corpora/extensions.bzl made."""

load("@rules_cc//cc:defs.bzl", "cc_library")
load(":corpora.bzl", "CORPORA")

def corpus_name(repository):
    """The key in CORPORA.

    Args:
      repository: canonical name, such as "@@_main~corpora~corpus_zstd" or "mlgo++corpora+corpus_zstd".

    Returns:
      The part after "corpus_".
    """
    return repository.rpartition("corpus_")[2]

def library():
    """Declares `library`, and what //mlgo/evaluation/programs builds programs from, as the table describes the repository."""
    entry = CORPORA[corpus_name(native.repository_name())]
    srcs = native.glob(entry.srcs, exclude = entry.exclude)
    cc_library(
        name = "library",
        srcs = srcs,
        # Not compiled against by anybody else, and some headers do not stand alone. Some sources are included by others.
        hdrs = [file for file in native.glob(entry.hdrs) if file not in srcs],
        copts = ["-w"],
        includes = entry.includes,
        local_defines = entry.defines,
        visibility = ["//visibility:public"],
    )
    native.filegroup(
        name = "sources",
        srcs = depset(srcs + native.glob(entry.hdrs + entry.program)).to_list(),
        visibility = ["//visibility:public"],
    )

    # By this file a command finds the tree.
    native.alias(
        name = "root",
        actual = "REPO.bazel",
        visibility = ["//visibility:public"],
    )
