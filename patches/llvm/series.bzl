"""Our patches of LLVM as folders of files for `git am`: all of one major, and those that are proposed to LLVM."""

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

def _proposed_series_impl(ctx):
    folder = ctx.actions.declare_directory(ctx.label.name)
    files = ctx.files.patches + ctx.files.files
    arguments = ctx.actions.args()
    arguments.add(ctx.file.order, format = "--order=%s")
    arguments.add(folder.path, format = "--output=%s")
    arguments.add_all(files)
    ctx.actions.run(
        executable = ctx.executable._commits,
        arguments = [arguments],
        inputs = files + [ctx.file.order],
        outputs = [folder],
        mnemonic = "PatchSeries",
        progress_message = "Writing the patches that are proposed to LLVM for git am",
    )
    return [DefaultInfo(files = depset([folder]), runfiles = ctx.runfiles([folder]))]

proposed_series = rule(
    implementation = _proposed_series_impl,
    doc = "The folder `<name>`, with one file per commit.",
    attrs = {
        "files": attr.label(doc = "Messages and tests.", allow_files = True, mandatory = True),
        "order": attr.label(doc = "JSON file of the commits.", allow_single_file = [".json"], mandatory = True),
        "patches": attr.label(doc = "All patches of the newest major.", allow_files = [".patch"], mandatory = True),
        "_commits": attr.label(default = "//patches/llvm/proposed:commits", executable = True, cfg = "exec"),
    },
)
