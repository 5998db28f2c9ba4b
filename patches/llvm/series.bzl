"""Our patches of one major of LLVM as a folder of files for `git am`."""

def _patch_series_impl(ctx):
    folder = ctx.actions.declare_directory(ctx.label.name)
    arguments = ctx.actions.args()
    arguments.add(ctx.file._versions, format = "--versions=%s")
    arguments.add(ctx.attr.major, format = "--major=%s")
    arguments.add(folder.path, format = "--output=%s")
    arguments.add_all(ctx.files.patches)
    ctx.actions.run(
        executable = ctx.executable._series,
        arguments = [arguments],
        inputs = ctx.files.patches + [ctx.file._versions],
        outputs = [folder],
        mnemonic = "PatchSeries",
        progress_message = "Writing the patches of LLVM %s for git am" % ctx.attr.major,
    )
    return [DefaultInfo(files = depset([folder]), runfiles = ctx.runfiles([folder]))]

patch_series = rule(
    implementation = _patch_series_impl,
    doc = "The folder `<name>`, with one file per patch.",
    attrs = {
        "major": attr.string(doc = "Major of LLVM.", mandatory = True),
        "patches": attr.label(doc = "All patches of this major.", allow_files = [".patch"], mandatory = True),
        "_series": attr.label(default = ":write_series", executable = True, cfg = "exec"),
        "_versions": attr.label(default = "//third_party/llvm:versions.json", allow_single_file = True),
    },
)
