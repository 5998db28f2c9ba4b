"""The rule that writes the table of a tool's flags."""

load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")

visibility(["//release/tools/..."])

def _tool_options_impl(ctx):
    headers = ctx.attr._headers[CcInfo].compilation_context
    arguments = ctx.actions.args()
    arguments.add("-gen-opt-parser-defs")
    arguments.add(ctx.file.src.dirname, format = "-I%s")
    arguments.add_all(headers.system_includes, format_each = "-I%s")
    arguments.add("-o", ctx.outputs.out)
    arguments.add(ctx.file.src)
    ctx.actions.run(
        executable = ctx.file._tblgen,
        arguments = [arguments],
        inputs = depset([ctx.file.src] + ctx.files._includes, transitive = [headers.headers]),
        outputs = [ctx.outputs.out],
        mnemonic = "ToolOptions",
        progress_message = "Writing the flags of %{label}",
        tools = ctx.files._runtime,
        toolchain = None,
    )
    return [DefaultInfo(files = depset([ctx.outputs.out]))]

tool_options = rule(
    implementation = _tool_options_impl,
    doc = "The C++ table of the flags that a .td file defines.",
    attrs = {
        "out": attr.output(doc = "The table.", mandatory = True),
        "src": attr.label(doc = "The definitions.", allow_single_file = [".td"], mandatory = True),
        "_headers": attr.label(default = "@llvm//:headers", providers = [CcInfo]),
        "_includes": attr.label(default = "@llvm_source//:tool_option_includes"),
        "_runtime": attr.label(default = "@llvm//:runtime", cfg = "exec"),
        "_tblgen": attr.label(default = "@llvm//:llvm-tblgen", cfg = "exec", allow_single_file = True),
    },
)
