"""The rule behind `llvm_program`: a program in its tree, and links by which Bazel and people reach it."""

load("//toolchains/cc:bootstrap.bzl", "bootstrap_elsewhere")

def _installed_program_impl(ctx):
    binary = ctx.file.binary
    links = []
    for name in [ctx.label.name] + ctx.attr.aliases:
        link = ctx.actions.declare_file(name)
        ctx.actions.symlink(output = link, target_file = binary, is_executable = True)
        links.append(link)
    for name in ctx.attr.aliases:
        link = ctx.actions.declare_file("{}.llvm/bin/{}".format(ctx.label.name, name))
        ctx.actions.symlink(output = link, target_file = binary, is_executable = True)
        links.append(link)
    return [DefaultInfo(
        executable = links[0],
        files = depset([links[0]]),
        runfiles = ctx.runfiles(links + [binary] + ctx.files.resources),
    )]

installed_program = rule(
    implementation = _installed_program_impl,
    doc = "Links to a program that has to be found beside its own files.",
    # A dependent's toolchain may be made of this very program.
    cfg = bootstrap_elsewhere,
    attrs = {
        "aliases": attr.string_list(doc = "More names of the program, beside the link and in the tree."),
        "binary": attr.label(doc = "The program, in `<name>.llvm/bin`.", allow_single_file = True, mandatory = True),
        "resources": attr.label_list(doc = "What the program looks for relative to itself.", allow_files = True),
        "_allowlist_function_transition": attr.label(default = "@bazel_tools//tools/allowlists/function_transition_allowlist"),
    },
    executable = True,
)
