"""`mlgo_corpus` and `mlgo_corpus_part`: directories of modules that other rules or the aspect compiled."""

load("//toolchains/cc:llvm_toolchain.bzl", "FLAG", "FOR_CORPUS")
load(":aspect.bzl", "corpus_aspect")
load(":modules.bzl", "ASSEMBLE", "CorpusModulesInfo", "LEVELS", "NO_LICENCE", "assemble", "corpus_modules", "corpus_providers", "module_struct")

visibility(["//mlgo/corpus/..."])

_PLATFORMS = "//command_line_option:platforms"

def _release_impl(settings, attr):
    return {
        "//command_line_option:compilation_mode": "opt",
        "//command_line_option:conlyopt": [],
        "//command_line_option:copt": [],
        "//command_line_option:cxxopt": [],
        _PLATFORMS: [attr.platform] if attr.platform else settings[_PLATFORMS],
        FLAG: FOR_CORPUS,
    }

# A corpus does not depend on the compilation mode of the command line.
_release = transition(
    implementation = _release_impl,
    inputs = [_PLATFORMS],
    outputs = [
        "//command_line_option:compilation_mode",
        "//command_line_option:conlyopt",
        "//command_line_option:copt",
        "//command_line_option:cxxopt",
        _PLATFORMS,
        FLAG,
    ],
)

def _with_licence(module, licence):
    if module.licence != NO_LICENCE:
        return module
    return module_struct(
        source = module.source,
        owner = module.owner,
        file = module.file,
        bitcode = module.bitcode,
        command = module.command,
        licence = licence,
        reads = module.reads,
    )

def _directory(ctx, info, part = None):
    directory = assemble(ctx, info, ctx.label.name, program = ctx.attr._assemble[DefaultInfo].files_to_run, part = part)
    return corpus_providers(ctx, info, directory)

def _corpus_impl(ctx):
    infos = [dep[CorpusModulesInfo] for dep in ctx.attr.deps]
    info = corpus_modules([], transitive = infos)
    if ctx.attr.licence:
        info = CorpusModulesInfo(
            modules = depset([_with_licence(module, ctx.attr.licence) for module in info.modules.to_list()]),
            files = info.files,
            skipped = info.skipped,
        )
    return _directory(ctx, info)

mlgo_corpus = rule(
    implementation = _corpus_impl,
    doc = "A corpus directory of everything that C++ targets link, compiled as by `-c opt`, whatever the command line says.",
    attrs = {
        "deps": attr.label_list(
            doc = "C++ targets: libraries, programs, tests.",
            aspects = [corpus_aspect],
            cfg = _release,
            mandatory = True,
            allow_empty = False,
        ),
        "level": attr.string(doc = "Optimisation level in place of each target's own, such as Oz.", values = LEVELS, default = ""),
        "licence": attr.string(doc = "SPDX expression of sources that name none."),
        "platform": attr.label(doc = "What the sources are compiled for, such as //platforms:linux_aarch64; by default the build's platform."),
        "_allowlist_function_transition": attr.label(default = "@bazel_tools//tools/allowlists/function_transition_allowlist"),
        "_assemble": ASSEMBLE,
    },
)

def _part_impl(ctx):
    return _directory(ctx, ctx.attr.corpus[CorpusModulesInfo], ctx.attr.part)

mlgo_corpus_part = rule(
    implementation = _part_impl,
    doc = "The modules of a corpus to train on, or those to judge by; mlgo/corpus/split.py says which is which.",
    attrs = {
        "corpus": attr.label(doc = "A corpus of any rule here.", providers = [CorpusModulesInfo], mandatory = True),
        "part": attr.string(doc = "Which part.", values = ["train", "held_out"], mandatory = True),
        "_assemble": ASSEMBLE,
    },
)

def _sample_impl(ctx):
    info = ctx.attr.corpus[CorpusModulesInfo]
    modules = info.modules.to_list()
    wanted = {source: True for source in ctx.attr.sources}
    absent = [source for source in wanted if source not in {module.source: True for module in modules}]
    if absent:
        fail("%s: %s has no source %s" % (ctx.label, ctx.attr.corpus.label, ", ".join(absent)))
    return _directory(ctx, corpus_modules([module for module in modules if module.source in wanted]))

mlgo_corpus_sample = rule(
    implementation = _sample_impl,
    doc = "Some modules of a corpus, by the names of their sources; the others are not compiled.",
    attrs = {
        "corpus": attr.label(doc = "A corpus of any rule here.", providers = [CorpusModulesInfo], mandatory = True),
        "sources": attr.string_list(doc = "Paths of sources as the corpus names them.", mandatory = True, allow_empty = False),
        "_assemble": ASSEMBLE,
    },
)

def _combined_impl(ctx):
    directory = ctx.actions.declare_directory(ctx.label.name)
    arguments = ctx.actions.args()
    arguments.add_all([directory], expand_directories = False)
    inputs = []
    for corpus, name in ctx.attr.corpora.items():
        files = corpus[DefaultInfo].files.to_list()
        if len(files) != 1 or not files[0].is_directory:
            fail("%s: %s is not a corpus, which is one directory" % (ctx.label, corpus.label))
        arguments.add_all(files, format_each = name + "=%s", expand_directories = False)
        inputs.extend(files)
    ctx.actions.run(
        executable = ctx.executable._combine,
        arguments = [arguments],
        inputs = inputs,
        outputs = [directory],
        mnemonic = "CorpusCombine",
        progress_message = "Combining corpus %{label}",
    )
    return [DefaultInfo(files = depset([directory]), runfiles = ctx.runfiles([directory]))]

mlgo_combined_corpus = rule(
    implementation = _combined_impl,
    doc = "Several corpora as one: the module NAME of the corpus with the value PROJECT is PROJECT/NAME. Learning balances between projects.",
    attrs = {
        "corpora": attr.label_keyed_string_dict(
            doc = "Corpora of any rule here, each with the name of its project.",
            mandatory = True,
            allow_empty = False,
        ),
        "_combine": attr.label(default = "//mlgo/corpus:combine", executable = True, cfg = "exec"),
    },
)
