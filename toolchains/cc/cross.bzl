"""`cross_toolchains`: the clang of @llvm as the C++ toolchain of every target in targets.bzl but the host's."""

load("@rules_cc//cc:defs.bzl", "cc_toolchain")
load(":config.bzl", "policy_toolchain_config")
load(":targets.bzl", "CROSS_TARGETS", "HOST", "TARGETS")

def _cross_toolchain(target):
    sysroot = "@sysroot_%s//:" % target
    private = ["//visibility:private"]

    # `//...` does not fetch these sysroots.
    manual = ["manual"]
    policy_toolchain_config(
        name = target + "_config",
        compiler = "@llvm//:clang",
        resource_directory = "@llvm//:resource_headers",
        sysroot = sysroot + "usr",
        tags = manual,
        target = target,
        visibility = private,
    )
    native.filegroup(
        name = target + "_compiler_files",
        srcs = ["@llvm//:clang", "@llvm//:runtime", sysroot + "usr"],
        tags = manual,
        visibility = private,
    )
    native.filegroup(
        name = target + "_files",
        srcs = [target + "_compiler_files", "@llvm//:linker_files", "@llvm//:all_tools"],
        tags = manual,
        visibility = private,
    )
    cc_toolchain(
        name = target + "_cc",
        all_files = target + "_files",
        ar_files = "@llvm//:archiver_files",
        as_files = target + "_compiler_files",
        compiler_files = target + "_compiler_files",
        dwp_files = "@llvm//:binary_files",
        linker_files = target + "_files",
        objcopy_files = "@llvm//:binary_files",
        strip_files = "@llvm//:binary_files",
        tags = manual,
        toolchain_config = target + "_config",
        visibility = private,
    )
    native.toolchain(
        name = target + "_toolchain",
        exec_compatible_with = TARGETS[HOST].constraints,
        target_compatible_with = TARGETS[target].constraints,
        toolchain = target + "_cc",
        toolchain_type = "@bazel_tools//tools/cpp:toolchain_type",
    )

def cross_toolchains():
    """Declares `NAME_toolchain` for each target but the host's."""
    for target in CROSS_TARGETS:
        _cross_toolchain(target)
