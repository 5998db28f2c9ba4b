"""`build_options`: the options of Bazel that decide what the current build makes, as a file.

A command that starts Bazel itself (mlgo/run/labels.py) gives them to it, and so gets files of its own configuration.
"""

load("@bazel_skylib//rules:common_settings.bzl", "BuildSettingInfo")

def _value(target):
    return str(target[BuildSettingInfo].value) if BuildSettingInfo in target else str(target.label)

def _build_options_impl(ctx):
    options = ["--compilation_mode=" + ctx.var["COMPILATION_MODE"]]
    for option, values in {
        "conlyopt": ctx.fragments.cpp.conlyopts,
        "copt": ctx.fragments.cpp.copts,
        "cxxopt": ctx.fragments.cpp.cxxopts,
        "linkopt": ctx.fragments.cpp.linkopts,
    }.items():
        options += ["--{}={}".format(option, value) for value in values]
    for name, target in zip(ctx.attr.names, ctx.attr.settings):
        options.append("--{}={}".format(name, _value(target)))
    output = ctx.actions.declare_file(ctx.label.name + ".json")
    ctx.actions.write(output, json.encode(options + ctx.attr.options) + "\n")
    files = depset([output])
    return [DefaultInfo(files = files, runfiles = ctx.runfiles(transitive_files = files))]

_build_options = rule(
    implementation = _build_options_impl,
    doc = "Writes NAME.json, a list of the options.",
    attrs = {
        "names": attr.string_list(doc = "The label of each setting as the command line has it.", mandatory = True),
        "options": attr.string_list(doc = "Further options."),
        "settings": attr.label_list(doc = "Flags of the project; of a label flag, what it stands for.", mandatory = True),
    },
    fragments = ["cpp"],
)

def build_options(name, settings, options = [], **kwargs):
    """The options of the current build.

    Args:
      name: name of the target; NAME.json is a list of words.
      settings: labels of the project's flags that users set.
      options: further words.
      **kwargs: common attributes.
    """

    # A label flag resolves to its value, so its own name has to be given beside it.
    _build_options(name = name, names = settings, settings = settings, options = options, **kwargs)
