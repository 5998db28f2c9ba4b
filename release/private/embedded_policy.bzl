"""A policy as a C++ library that defines llvm::RegAllocEvictModel."""

load("@rules_cc//cc:defs.bzl", "cc_library")
load("//release/private:aot.bzl", "aot_policy")

def embedded_policy(name, policy, visibility = None):
    """The policy compiled ahead of time, behind //release:embedded_model.

    Args:
      name: name of the library; `<name>_aot` is a folder with the generated header and object.
      policy: label of a SavedModel of an eviction policy.
      visibility: visibility of the library.
    """
    folder = name + "_aot"
    aot_policy(
        name = folder,
        cpp_class = "mlgo::EvictionPolicy",
        header = folder + "/eviction_policy.h",
        object = folder + "/eviction_policy.o",
        policy = policy,
        problem = "regalloc_eviction",
        visibility = ["//visibility:private"],
    )
    cc_library(
        name = folder + "_header",
        hdrs = [folder + "/eviction_policy.h"],
        includes = [folder],
        visibility = ["//visibility:private"],
        deps = ["//third_party/tensorflow:aot_runtime"],
    )
    cc_library(
        name = name,
        srcs = [
            folder + "/eviction_policy.o",
            Label("//release:embedded/RegAllocEvictModel.cpp"),
        ],
        copts = [
            "-O2",
            "-DNDEBUG",
            "-w",
        ],
        linkstatic = True,
        visibility = visibility,
        deps = [
            folder + "_header",
            Label("//release:embedded_model"),
        ],
    )
