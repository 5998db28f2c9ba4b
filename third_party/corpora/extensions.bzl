"""Module extension `corpora`: the sources of the table in corpora.bzl, each a repository, all reached through @corpora.

    corpora = use_extension("//third_party/corpora:extensions.bzl", "corpora")
    use_repo(corpora, "corpora")

`@corpora//:zstd` is the C++ library, `@corpora//:zstd_sources` the files that it and the package's program are made of, and
`@corpora//:zstd_root` their tree, or a file at its top. Programs of exam_programs.bzl have the latter two. Nothing is fetched until one is asked for.
`@corpora//:samples.bzl` has what samples.json says.
"""

load("//third_party/debian:messages.bzl", "missing_entry")
load("//third_party/debian:repositories.bzl", "debian_repository")
load(":corpora.bzl", "CORPORA")
load(":exam_programs.bzl", "EXAM_PROGRAMS")

_ALIAS = """alias(
    name = "{alias}",
    actual = "{actual}",
    visibility = ["//visibility:public"],
)
"""

def _hub_impl(rctx):
    aliases = [_ALIAS.format(alias = alias, actual = actual) for alias, actual in rctx.attr.aliases.items()]
    rctx.file("BUILD.bazel", "\n".join(aliases), executable = False)
    rctx.file("REPO.bazel", "", executable = False)
    samples = json.decode(rctx.read(rctx.attr._samples))
    rctx.file("samples.bzl", "".join(["{} = {}\n".format(name, repr(sources)) for name, sources in samples.items()]), executable = False)

_hub = repository_rule(
    implementation = _hub_impl,
    doc = "One repository for all libraries and programs.",
    attrs = {
        "aliases": attr.string_dict(doc = "Name of a target -> label that it stands for.", mandatory = True),
        "_samples": attr.label(default = Label("//third_party/corpora:samples.json")),
    },
)

def _corpora_impl(mctx):
    sources = json.decode(mctx.read(Label("//third_party/debian:lock.json")))["sources"]
    aliases = {name: "@corpus_%s//:library" % name for name in CORPORA}
    for name, entry in (CORPORA | EXAM_PROGRAMS).items():
        if entry.package not in sources:
            fail(missing_entry("source", entry.package, sources.keys()))
        debian_repository(
            name = "corpus_" + name,
            kind = "source",
            entries = [json.encode(dict(sources[entry.package], name = entry.package))],
            build_file = Label(entry.build_file or "//third_party/corpora:library.BUILD.bazel"),
            patches = [Label("//patches/corpora:" + entry.patch)] if entry.patch else [],
        )
        for part in ["root", "sources"]:
            aliases["{}_{}".format(name, part)] = "@corpus_{}//:{}".format(name, part)
    _hub(name = "corpora", aliases = aliases)

corpora = module_extension(
    implementation = _corpora_impl,
    doc = "The libraries of corpora.bzl and the programs of exam_programs.bzl.",
)
