"""`moved_directory`: a directory under a former name."""

def _moved_directory_impl(ctx):
    directory = ctx.actions.declare_directory(ctx.label.name)
    ctx.actions.symlink(output = directory, target_file = ctx.file.actual)
    return [DefaultInfo(files = depset([directory]), runfiles = ctx.runfiles([directory]))]

moved_directory = rule(
    implementation = _moved_directory_impl,
    doc = "A directory that another target makes. Unlike an alias, it also has the former path below bazel-bin.",
    attrs = {"actual": attr.label(doc = "The target that makes the directory.", allow_single_file = True, mandatory = True)},
)
