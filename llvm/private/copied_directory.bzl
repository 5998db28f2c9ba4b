"""A copy of a directory. skylib's `copy_directory` disables caching of its action; this rule does not."""

visibility(["//llvm/...", "//toolchains/python"])

def _copied_directory_impl(ctx):
    copy = ctx.actions.declare_directory(ctx.attr.out)
    ctx.actions.run_shell(
        arguments = [ctx.file.src.path, copy.path],
        # A sandbox shows symbolic links in place of files.
        command = "cp -RL \"$1/.\" \"$2\"",
        inputs = [ctx.file.src],
        mnemonic = "CopyDirectory",
        outputs = [copy],
        progress_message = "Copying %{input}",
    )
    return [DefaultInfo(files = depset([copy]), runfiles = ctx.runfiles([copy]))]

copied_directory = rule(
    implementation = _copied_directory_impl,
    doc = "Makes the directory `out`, a copy of `src`.",
    attrs = {
        "out": attr.string(doc = "Path of the copy, below the package.", mandatory = True),
        "src": attr.label(doc = "A directory.", allow_single_file = True, mandatory = True),
    },
)
