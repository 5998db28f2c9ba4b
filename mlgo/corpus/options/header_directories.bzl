"""The folders of headers of a C++ library, as files."""

load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")

def _header_directories_impl(ctx):
    return [DefaultInfo(files = ctx.attr.library[CcInfo].compilation_context.headers)]

header_directories = rule(
    implementation = _header_directories_impl,
    doc = "The headers of a library: what its `hdrs` names, files or folders.",
    attrs = {
        "library": attr.label(doc = "The library.", mandatory = True, providers = [CcInfo]),
    },
)
