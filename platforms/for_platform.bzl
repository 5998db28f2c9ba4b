"""`for_platform`: a program built for a platform, whatever the build's own platform is."""

def _transition_impl(_settings, attr):
    return {"//command_line_option:platforms": str(attr.platform)}

_to_platform = transition(
    implementation = _transition_impl,
    inputs = [],
    outputs = ["//command_line_option:platforms"],
)

def _for_platform_impl(ctx):
    # A rule with a transition of an attribute sees a list.
    program = ctx.attr.program[0][DefaultInfo].files_to_run.executable
    image = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.symlink(output = image, target_file = program)
    return [DefaultInfo(files = depset([image]))]

for_platform = rule(
    implementation = _for_platform_impl,
    doc = "The image of `program`, built for `platform`; a file for `data` of tests, under this rule's name.",
    attrs = {
        "platform": attr.label(doc = "Such as //platforms:linux_aarch64.", mandatory = True),
        "program": attr.label(doc = "A cc_binary.", cfg = _to_platform, mandatory = True),
        "_allowlist_function_transition": attr.label(default = "@bazel_tools//tools/allowlists/function_transition_allowlist"),
    },
)
