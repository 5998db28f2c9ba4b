"""A rule that hands on what a library's users include, and nothing of what they would link."""

load("@rules_cc//cc/common:cc_common.bzl", "cc_common")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")

def _headers_of_impl(ctx):
    merged = cc_common.merge_cc_infos(cc_infos = [dep[CcInfo] for dep in ctx.attr.deps])
    return [CcInfo(compilation_context = merged.compilation_context)]

headers_of = rule(
    implementation = _headers_of_impl,
    doc = "Headers, include paths and defines of `deps`; a unit that is compiled against them waits for no library.",
    attrs = {
        "deps": attr.label_list(doc = "Libraries.", providers = [CcInfo], mandatory = True),
    },
    provides = [CcInfo],
)
