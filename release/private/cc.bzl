"""Compiles generated C++ within a rule."""

load("@rules_cc//cc:find_cc_toolchain.bzl", "find_cpp_toolchain")
load("@rules_cc//cc/common:cc_common.bzl", "cc_common")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load("//llvm/private:slots.bzl", "GENERATED_COPTS")

visibility(["//release/..."])

def generated_library(ctx, contexts, srcs = [], hdrs = [], objects = [], includes = []):
    """A CcInfo of generated sources, headers and objects.

    Args:
      ctx: of a rule with `toolchains = use_cc_toolchain()`, `fragments = ["cpp"]` and the attribute `_cc_toolchain`.
      contexts: CcInfo of the libraries that the sources use.
      srcs: units to compile.
      hdrs: public headers.
      objects: object files to add.
      includes: include directories of `hdrs`.
    """
    toolchain = find_cpp_toolchain(ctx)
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )
    compilation, outputs = cc_common.compile(
        name = ctx.label.name,
        actions = ctx.actions,
        cc_toolchain = toolchain,
        compilation_contexts = [info.compilation_context for info in contexts],
        feature_configuration = features,
        includes = includes,
        public_hdrs = hdrs,
        srcs = srcs,
        user_compile_flags = GENERATED_COPTS,
    )
    if objects:
        ready = cc_common.create_compilation_outputs(objects = depset(objects), pic_objects = depset(objects))
        outputs = cc_common.merge_compilation_outputs(compilation_outputs = [outputs, ready])
    linking, _ = cc_common.create_linking_context_from_compilation_outputs(
        name = ctx.label.name,
        actions = ctx.actions,
        cc_toolchain = toolchain,
        compilation_outputs = outputs,
        disallow_dynamic_library = True,
        feature_configuration = features,
        linking_contexts = [info.linking_context for info in contexts],
    )
    return CcInfo(compilation_context = compilation, linking_context = linking)
