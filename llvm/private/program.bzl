"""The rule behind `llvm_program`: a linked program in its installation tree, and links to it."""

load("//toolchains/cc:bootstrap.bzl", "bootstrap_elsewhere")

visibility(["//llvm/..."])

def _copied(ctx, file, path):
    copy = ctx.actions.declare_file(path)
    ctx.actions.run_shell(
        arguments = [file.path, copy.path],
        command = "cp -L \"$1\" \"$2\"",
        inputs = [file],
        mnemonic = "CopyBesideProgram",
        outputs = [copy],
        progress_message = "Copying %{output}",
    )
    return copy

def _installed_program_impl(ctx):
    tree = ctx.label.name + ".llvm/bin/"
    program = ctx.actions.declare_file(tree + ctx.attr.program)
    ctx.actions.run_shell(
        arguments = [ctx.file.binary.path, program.path],
        # Not a hard link: it changes the input's ctime, for which Bazel keeps the output out of the remote cache. -L: a sandbox shows symbolic links.
        command = "cp -L \"$1\" \"$2\"",
        inputs = [ctx.file.binary],
        mnemonic = "InstallProgram",
        outputs = [program],
        progress_message = "Installing %{output}",
    )
    links = []
    in_tree = {tree + name: None for name in ctx.attr.aliases + ctx.attr.tools}
    for path in [ctx.label.name] + ctx.attr.aliases + in_tree.keys():
        link = ctx.actions.declare_file(path)
        ctx.actions.symlink(output = link, target_file = program, is_executable = True)
        links.append(link)
    copies = [_copied(ctx, file, tree + file.basename) for file in ctx.files.beside]
    copies += [_copied(ctx, file, "{}.llvm/share/mlgo/{}".format(ctx.label.name, file.basename)) for file in ctx.files.shared]
    return [
        DefaultInfo(
            executable = links[0],
            files = depset([links[0]]),
            runfiles = ctx.runfiles(links + copies + [program] + ctx.files.resources),
        ),
        # For rules that need the bytes and not the tree: a build of these alone makes no copy.
        OutputGroupInfo(linked = depset([ctx.file.binary])),
    ]

installed_program = rule(
    implementation = _installed_program_impl,
    doc = "Puts a program into the tree `<name>.llvm`, which contains nothing but it and its files, and links to it.",
    # A dependent's toolchain may be made of this program.
    cfg = bootstrap_elsewhere,
    attrs = {
        "aliases": attr.string_list(doc = "More names of the program, beside the link and in the tree."),
        "beside": attr.label_list(doc = "Files that are copied into `<name>.llvm/bin`.", allow_files = True),
        # Not linked in the tree itself: Bazel leaves parameter files and runfiles beside the output of a cc_binary.
        "binary": attr.label(doc = "The linked program.", allow_single_file = True, mandatory = True),
        "program": attr.string(doc = "File name of the program in `<name>.llvm/bin`.", mandatory = True),
        "resources": attr.label_list(doc = "Files that the program looks for relative to itself.", allow_files = True),
        "shared": attr.label_list(doc = "Files that are copied into `<name>.llvm/share/mlgo`.", allow_files = True),
        "tools": attr.string_list(doc = "More names of the program in the tree."),
        "_allowlist_function_transition": attr.label(default = "@bazel_tools//tools/allowlists/function_transition_allowlist"),
    },
    executable = True,
)
