"""A rule that has a program made of Debian's packages even where LLVM is built from source."""

_FROM_SOURCE = str(Label("//third_party/llvm:from_source"))

def _packages_impl(_settings, _attr):
    return {_FROM_SOURCE: False}

_packages = transition(
    implementation = _packages_impl,
    inputs = [],
    outputs = [_FROM_SOURCE],
)

def _of_packages_impl(ctx):
    link = ctx.actions.declare_file(ctx.label.name)
    program = ctx.attr.program[0][DefaultInfo]
    ctx.actions.symlink(output = link, target_file = program.files_to_run.executable, is_executable = True)
    return [DefaultInfo(
        executable = link,
        files = depset([link]),
        runfiles = ctx.runfiles([link]).merge(program.default_runfiles),
    )]

of_packages = rule(
    implementation = _of_packages_impl,
    doc = "A link to `program`, built with //third_party/llvm:from_source off.",
    attrs = {
        "program": attr.label(doc = "The program.", cfg = _packages, mandatory = True),
        "_allowlist_function_transition": attr.label(default = "@bazel_tools//tools/allowlists/function_transition_allowlist"),
    },
    executable = True,
)
