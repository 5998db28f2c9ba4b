"""`mlgo_gn_programs`, `mlgo_linked_programs`: executables of a gn project that //mlgo:evaluate_programs measures."""

load("//mlgo/corpus/private:gn.bzl", "GN_PROJECT_ATTRIBUTES", "GnProgramInfo", "described_project", "gn_project", "only_file", "runfile")

def _gn_programs_impl(ctx):
    project = gn_project(ctx)
    content = dict(
        project.content,
        descriptions = [runfile(file) for file in ctx.files.descriptions],
        srcs = [runfile(file) for file in ctx.files.srcs],
    )
    files = depset(ctx.files.srcs + ctx.files.descriptions + ctx.files.data, transitive = [project.files])
    return described_project(ctx, content, files)

mlgo_gn_programs = rule(
    implementation = _gn_programs_impl,
    executable = True,
    doc = "Describes executables of a gn project for //mlgo:evaluate_programs, which needs the label, or as data the rlocationpath, in " +
          "MLGO_GN_PROGRAMS. The rule builds nothing: the command gets compile commands from gn and ninja and runs them with each compiler.",
    attrs = dict(GN_PROJECT_ATTRIBUTES, **{
        "srcs": attr.label_list(
            doc = "Files that are visible to gn in //mlgo_programs; BUILD.gn declares an executable for each description.",
            allow_files = True,
            mandatory = True,
        ),
        "descriptions": attr.label_list(
            doc = "NAME.json for the executable NAME: the fields of mlgo/evaluation/programs/README.md, without sources.",
            allow_files = [".json"],
            mandatory = True,
        ),
        "data": attr.label_list(doc = "Files that descriptions name as inputs.", allow_files = True),
    }),
)

def _linked_programs_impl(ctx):
    program = ctx.attr.corpus[GnProgramInfo]
    tree = only_file(ctx, ctx.attr.tree, "tree")
    content = {
        "corpus": runfile(program.corpus),
        "descriptions": [runfile(file) for file in ctx.files.descriptions],
        "folder": runfile(program.directory),
        "program": program.name,
        "training": runfile(ctx.file.training) if ctx.file.training else None,
        "tree": runfile(tree),
    }
    files = [program.corpus, program.directory, tree] + ctx.files.training + ctx.files.descriptions + ctx.files.data
    return described_project(ctx, content, depset(files))

mlgo_linked_programs = rule(
    implementation = _linked_programs_impl,
    executable = True,
    doc = "Describes what one linked program executes for //mlgo:evaluate_programs, in MLGO_GN_PROGRAMS like mlgo_gn_programs. The rule builds " +
          "corpus and program; each side of an evaluation makes objects of the corpus's modules and links them in place of the build's own.",
    attrs = {
        "corpus": attr.label(doc = "Of mlgo_gn_corpus(program = ...).", providers = [GnProgramInfo], mandatory = True),
        "tree": attr.label(doc = "The sources: one folder, from which patterns of inputs count.", allow_files = True, mandatory = True),
        "descriptions": attr.label_list(
            doc = "NAME.json for the row NAME of the tables: the fields of mlgo/evaluation/programs/README.md, without sources.",
            allow_files = [".json"],
            mandatory = True,
        ),
        "training": attr.label(
            doc = "JSON with `inputs` and `runs` in the same form: what the instrumented program does for the profile of all rows (--pgo).",
            allow_single_file = [".json"],
        ),
        "data": attr.label_list(doc = "Files that descriptions name as inputs.", allow_files = True),
    },
)
