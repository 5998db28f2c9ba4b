"""Rule that lists every file the C++ toolchain reads when it compiles a source."""

load("@rules_cc//cc:action_names.bzl", "CPP_COMPILE_ACTION_NAME")
load("@rules_cc//cc:find_cc_toolchain.bzl", "find_cpp_toolchain", "use_cc_toolchain")
load("@rules_cc//cc/common:cc_common.bzl", "cc_common")

def _included_files_impl(ctx):
    toolchain = find_cpp_toolchain(ctx)
    features = cc_common.configure_features(ctx = ctx, cc_toolchain = toolchain)
    output = ctx.actions.declare_file(ctx.label.name + ".d")
    variables = cc_common.create_compile_variables(
        cc_toolchain = toolchain,
        feature_configuration = features,
        source_file = ctx.file.src.path,
        user_compile_flags = ["-M", "-MF", output.path, "-Wno-unused-command-line-argument"],
    )
    ctx.actions.run(
        executable = cc_common.get_tool_for_action(feature_configuration = features, action_name = CPP_COMPILE_ACTION_NAME),
        arguments = cc_common.get_memory_inefficient_command_line(
            feature_configuration = features,
            action_name = CPP_COMPILE_ACTION_NAME,
            variables = variables,
        ),
        inputs = depset([ctx.file.src], transitive = [toolchain.all_files]),
        outputs = [output],
        mnemonic = "CppIncludedFiles",
    )
    return [DefaultInfo(files = depset([output]), runfiles = ctx.runfiles([output]))]

included_files = rule(
    implementation = _included_files_impl,
    doc = "Makes NAME.d, what `-M` prints for a source with the toolchain's own flags.",
    attrs = {
        "src": attr.label(doc = "The C++ source.", allow_single_file = [".cc", ".cpp"], mandatory = True),
        "_cc_toolchain": attr.label(default = "@rules_cc//cc:current_cc_toolchain"),
    },
    fragments = ["cpp"],
    toolchains = use_cc_toolchain(),
)
