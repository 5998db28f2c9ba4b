"""Module extension `corpora`: the sources of the table in corpora.bzl, each a repository, all reached through @corpora.

    corpora = use_extension("//third_party/corpora:extensions.bzl", "corpora")
    use_repo(corpora, "corpora")

`@corpora//:zstd` is the C++ library, `@corpora//:zstd_sources` the files that it and the package's program are made of, and
`@corpora//:zstd_root` their tree, or a file at its top. Nothing is fetched until one is asked for.
"""

load("//third_party/debian:messages.bzl", "missing_entry")
load("//third_party/debian:repositories.bzl", "debian_repository")
load(":corpora.bzl", "CORPORA")

_ALIAS = """alias(
    name = "{name}",
    actual = "@corpus_{name}//:library",
    visibility = ["//visibility:public"],
)

alias(
    name = "{name}_sources",
    actual = "@corpus_{name}//:sources",
    visibility = ["//visibility:public"],
)

alias(
    name = "{name}_root",
    actual = "@corpus_{name}//:root",
    visibility = ["//visibility:public"],
)
"""

def _hub_impl(rctx):
    rctx.file("BUILD.bazel", "\n".join([_ALIAS.format(name = name) for name in rctx.attr.names]), executable = False)
    rctx.file("REPO.bazel", "", executable = False)

_hub = repository_rule(
    implementation = _hub_impl,
    doc = "One name for all libraries.",
    attrs = {"names": attr.string_list(doc = "Of the libraries.", mandatory = True)},
)

def _corpora_impl(mctx):
    sources = json.decode(mctx.read(Label("//third_party/debian:lock.json")))["sources"]
    for name, entry in CORPORA.items():
        if entry.package not in sources:
            fail(missing_entry("source", entry.package, sources.keys()))
        debian_repository(
            name = "corpus_" + name,
            kind = "source",
            entries = [json.encode(dict(sources[entry.package], name = entry.package))],
            build_file = Label(entry.build_file or "//third_party/corpora:library.BUILD.bazel"),
            patches = [Label("//patches/corpora:" + entry.patch)] if entry.patch else [],
        )
    _hub(name = "corpora", names = sorted(CORPORA))

corpora = module_extension(
    implementation = _corpora_impl,
    doc = "The libraries of corpora.bzl.",
)
