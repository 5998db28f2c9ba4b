"""`mlgo_cc_toolchain`: a clang made by `mlgo_clang` as Bazel's C++ toolchain.

    load("@mlgo//release:defs.bzl", "mlgo_clang")
    load("@mlgo//toolchains/cc:defs.bzl", "EVICTION", "mlgo_cc_toolchain")

    mlgo_clang(name = "clang", eviction_policy = "@mlgo//models/regalloc_eviction:policy")
    mlgo_cc_toolchain(name = "toolchain", clang = ":clang", copts = EVICTION)

and in MODULE.bazel, the packaged clang second: it builds the first one.

    register_toolchains("//:toolchain", "@mlgo//toolchains/cc:clang_toolchain", "@mlgo//toolchains/python:runtime_toolchain")
"""

load("@rules_cc//cc:defs.bzl", "cc_toolchain")
load("//llvm:slots.bzl", "SLOTS")
load(":bootstrap.bzl", "bootstrapped")
load(":config.bzl", "policy_toolchain_config")
load(":targets.bzl", "HOST", "TARGETS")

def _release_copts(problem):
    for slot in SLOTS.values():
        if slot["problem"] == problem:
            return ["-mllvm", "-{}=release".format(slot["advisor_flag"])]
    fail("{}: has no policy slot; add one to //llvm:slots.bzl".format(problem))

# The options that switch each embedded policy on. A clang without that policy rejects the option.
EVICTION = _release_copts("regalloc_eviction")
INLINING = _release_copts("inlining_for_size")
PRIORITY = _release_copts("regalloc_priority")

_HOST = [Label(constraint) for constraint in TARGETS[HOST].constraints]

def mlgo_cc_toolchain(name, clang, copts, visibility = None):
    """A C++ toolchain for Linux on the host's processor whose compiler is `clang`.

    Sysroot (Debian 12), flags, linker and archiver are those of //toolchains/cc:clang_toolchain. The toolchain stands back
    while `clang` itself is built, so that its definition is no circle.

    Args:
      name: name of the target to register.
      clang: label of an `mlgo_clang`.
      copts: flags for every action that generates code, for example EVICTION + PRIORITY of this file. They act when
        optimising: build with `-c opt`, or add "-O2" here. INLINING is for targets that are compiled for size:
        `cc_binary(copts = ["-Oz"] + INLINING)`, or `["-Oz"] + INLINING` here if all are.
      visibility: visibility of `name`.
    """
    private = ["//visibility:private"]
    bootstrapped(
        name = name + "_clang",
        program = clang,
        visibility = private,
    )
    policy_toolchain_config(
        name = name + "_config",
        compiler = name + "_clang",
        copts = copts,
        resource_directory = Label("@llvm//:resource_headers"),
        sysroot = Label("@sysroot//:usr"),
        visibility = private,
    )
    native.filegroup(
        name = name + "_files",
        srcs = [
            name + "_clang",
            Label("@llvm//:toolchain_files"),
        ],
        visibility = private,
    )
    native.filegroup(
        name = name + "_compiler_files",
        srcs = [
            name + "_clang",
            Label("@llvm//:resource_headers"),
            Label("@sysroot"),
        ],
        visibility = private,
    )
    native.filegroup(
        name = name + "_linker_files",
        srcs = [
            name + "_clang",
            Label("@llvm//:linker_files"),
        ],
        visibility = private,
    )
    cc_toolchain(
        name = name + "_cc",
        all_files = name + "_files",
        ar_files = Label("@llvm//:archiver_files"),
        as_files = name + "_compiler_files",
        compiler_files = name + "_compiler_files",
        dwp_files = Label("@llvm//:binary_files"),
        linker_files = name + "_linker_files",
        objcopy_files = Label("@llvm//:binary_files"),
        strip_files = Label("@llvm//:binary_files"),
        toolchain_config = name + "_config",
        visibility = private,
    )
    native.toolchain(
        name = name,
        exec_compatible_with = _HOST,
        target_compatible_with = _HOST,
        target_settings = [Label("//toolchains/cc:not_bootstrapping")],
        toolchain = name + "_cc",
        toolchain_type = Label("@bazel_tools//tools/cpp:toolchain_type"),
        visibility = visibility,
    )
