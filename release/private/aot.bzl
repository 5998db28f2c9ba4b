"""The rule that runs TensorFlow's ahead-of-time compiler on a policy."""

load("//release/private:messages.bzl", "no_saved_model")

def policy_directory(label, files):
    """(directory, None) of the SavedModel among `files`, or (None, what is wrong).

    Args:
      label: the policy's label, for the message.
      files: list of File; a lone directory, or files of which one is called saved_model.pb.
    """
    models = [file for file in files if file.basename == "saved_model.pb"]
    if len(models) == 1:
        return models[0].dirname, None

    # What a lone file without extension holds, only the action can see; a source directory looks like one here.
    if len(files) == 1 and not models:
        return files[0].path, None
    return None, no_saved_model(label, [file.short_path for file in files])

def _aot_policy_impl(ctx):
    directory, wrong = policy_directory(ctx.attr.policy.label, ctx.files.policy)
    if wrong:
        fail(wrong)
    arguments = ctx.actions.args()
    arguments.add(directory, format = "--policy=%s")
    arguments.add(ctx.attr.problem, format = "--problem=%s")
    arguments.add(ctx.attr.cpp_class, format = "--cpp_class=%s")
    arguments.add(ctx.outputs.header, format = "--header=%s")
    arguments.add(ctx.outputs.object, format = "--object=%s")
    ctx.actions.run(
        executable = ctx.executable._aot,
        arguments = [arguments],
        inputs = ctx.files.policy,
        outputs = [ctx.outputs.header, ctx.outputs.object],
        mnemonic = "AotPolicy",
        progress_message = "Compiling the policy %{label} with TensorFlow",
    )
    return [DefaultInfo(files = depset([ctx.outputs.header, ctx.outputs.object]))]

aot_policy = rule(
    implementation = _aot_policy_impl,
    doc = "A policy's SavedModel as an object file and a C++ header.",
    attrs = {
        "cpp_class": attr.string(doc = "Name of the C++ class, with its namespace.", mandatory = True),
        "header": attr.output(doc = "The header with the class.", mandatory = True),
        "object": attr.output(doc = "The compiled policy.", mandatory = True),
        "policy": attr.label(doc = "The SavedModel.", allow_files = True, mandatory = True),
        "problem": attr.string(doc = "Folder below mlgo/problems.", mandatory = True),
        "_aot": attr.label(default = "//release:aot", executable = True, cfg = "exec"),
    },
)
