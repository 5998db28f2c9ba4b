"""`mlgo_gn_programs`: executables of a gn project that //mlgo:evaluate_programs measures."""

load("//mlgo/corpus/private:gn.bzl", "GN_PROJECT_ATTRIBUTES", "only_file")

def _runfile(file):
    """The rlocation path of `file`."""
    return file.short_path[3:] if file.short_path.startswith("../") else "_main/" + file.short_path

def _gn_programs_impl(ctx):
    tree = only_file(ctx, ctx.attr.tree, "tree")
    toolchain = {name: only_file(ctx, target, "toolchain") for target, name in ctx.attr.toolchain.items()}
    programs = [ctx.executable.gn, ctx.executable.ninja, ctx.executable.python]
    output = ctx.actions.declare_file(ctx.label.name + ".json")
    ctx.actions.write(output, json.encode_indent({
        "descriptions": [_runfile(file) for file in ctx.files.descriptions],
        "env": ctx.attr.env,
        "gn": _runfile(ctx.executable.gn),
        "gn_args": ctx.attr.gn_args,
        "fingerprints": [_runfile(file) for file in ctx.files.fingerprints],
        "ninja": _runfile(ctx.executable.ninja),
        "path": ctx.attr.path,
        "python": _runfile(ctx.executable.python),
        "srcs": [_runfile(file) for file in ctx.files.srcs],
        "toolchain": {name: _runfile(file) for name, file in toolchain.items()},
        "tree": _runfile(tree),
    }, indent = " ") + "\n", is_executable = True)
    needed = depset(
        [tree] + toolchain.values() + programs + ctx.files.fingerprints + ctx.files.srcs + ctx.files.descriptions + ctx.files.data,
        transitive = [target[DefaultInfo].files for target in ctx.attr.tools],
    )

    # Of an executable, Bazel puts the runfiles beside it when the command asks for the label alone.
    return [DefaultInfo(executable = output, runfiles = ctx.runfiles([output], transitive_files = needed))]

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
