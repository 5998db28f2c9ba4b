"""Tests of what the repository rules say when they fail."""

load("@bazel_skylib//lib:unittest.bzl", "asserts", "unittest")
load(":messages.bzl", "failed", "missing_entry", "no_python", "other_machine")

def _messages_impl(ctx):
    env = unittest.begin(ctx)
    asserts.equals(
        env,
        "third_party/debian/lock.json: no package zlib; known: a, b. Add it to packages.json and run ./bazelw run //third_party/debian:lock",
        missing_entry("package", "zlib", ["b", "a"]),
    )
    asserts.true(env, "known: none." in missing_entry("source", "x", []))
    asserts.true(env, "install the package python3" in no_python())
    asserts.equals(env, "@sysroot: debian: libc6 is gone", failed("sysroot", "debian: libc6 is gone\n"))
    asserts.equals(env, "@sysroot: debian: libc6 is gone", failed("sysroot", "debian: 3 of 9 archives\ndebian: libc6 is gone\n"))
    asserts.equals(env, [None, None], [other_machine("linux", arch) for arch in ["amd64", "x86_64"]])
    asserts.equals(
        env,
        "third_party/debian: the pinned packages are for Linux on x86-64, and this is linux on aarch64; build on another machine (docs/machines.md)",
        other_machine("linux", "aarch64"),
    )
    asserts.true(env, "this is mac os x on x86_64; build on" in other_machine("mac os x", "x86_64"))
    asserts.true(env, "run it again" in failed("sysroot", ""))
    return unittest.end(env)

messages_test = unittest.make(_messages_impl)
