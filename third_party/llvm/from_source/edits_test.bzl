"""Tests of what we change in LLVM's overlay, and of what is read out of requests and of LLVM's own files."""

load("@bazel_skylib//lib:unittest.bzl", "asserts", "unittest")
load(":edits.bzl", "EDITS", "edited", "version", "wanted_targets")

def _edited_impl(ctx):
    env = unittest.begin(ctx)
    asserts.equals(env, ("a c c", None), edited("x", "a b b", [("b", "c")]))
    asserts.equals(env, ("three", None), edited("x", "one", [("one", "two"), ("two", "three")]))

    text, error = edited("llvm/BUILD.bazel", "a", [("a", "b"), ("load(x)\n", "")])
    asserts.equals(env, None, text)
    asserts.true(env, error.startswith("utils/bazel/llvm-project-overlay/llvm/BUILD.bazel: the tarball's copy does not hold \"load(x)\"; "), error)
    asserts.true(env, error.endswith("edits.bzl for this version of LLVM"), error)

    # An edit that finds its own result would hide that the tarball has changed.
    for name, edits in EDITS.items():
        for old, new in edits:
            asserts.false(env, old in new, "{}: {} is in what takes its place".format(name, repr(old)))
    return unittest.end(env)

def _targets_impl(ctx):
    env = unittest.begin(ctx)
    for unset in [None, ""]:
        asserts.equals(env, (["X86"], None), wanted_targets(unset))
    asserts.equals(env, (["AArch64", "X86"], None), wanted_targets("X86, AArch64,X86"))
    every, error = wanted_targets("all")
    asserts.equals(env, None, error)
    asserts.equals(env, 20, len(every))
    asserts.equals(env, sorted(every), every)

    for value, piece in [
        ("X86,Arm64", "MLGO_LLVM_TARGETS=X86,Arm64: LLVM has no target \"Arm64\"; write some of AArch64, "),
        ("x86", "no target \"x86\""),
        ("X86,", "no target \"\""),
        ("X86,A,B", "no target \"A\" or \"B\""),
        ("AArch64", "MLGO_LLVM_TARGETS=AArch64: X86 is missing"),
    ]:
        names, error = wanted_targets(value)
        asserts.equals(env, None, names)
        asserts.true(env, piece in error, error)
        asserts.false(env, "\n" in error)
    return unittest.end(env)

_CMAKE = """
if(NOT DEFINED LLVM_VERSION_MAJOR)
  set(LLVM_VERSION_MAJOR 22)
endif()
  set(LLVM_VERSION_MINOR 1)
  set(LLVM_VERSION_PATCH 8)
"""

def _version_impl(ctx):
    env = unittest.begin(ctx)
    found = version(_CMAKE)
    asserts.equals(env, ["22", "1", "8", ""], [found["LLVM_VERSION_" + part] for part in ["MAJOR", "MINOR", "PATCH", "SUFFIX"]])
    asserts.equals(env, "22.1.8", found["LLVM_VERSION"])
    asserts.equals(env, "22.1.8rc1", version(_CMAKE + "  set(LLVM_VERSION_SUFFIX rc1)\n")["PACKAGE_VERSION"])
    return unittest.end(env)

edited_test = unittest.make(_edited_impl)
targets_test = unittest.make(_targets_impl)
version_test = unittest.make(_version_impl)
