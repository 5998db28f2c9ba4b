"""Tests of what the repository rules say when they fail."""

load("@bazel_skylib//lib:unittest.bzl", "asserts", "unittest")
load(":messages.bzl", "compile_failed", "install_failed")

def _messages_impl(ctx):
    env = unittest.begin(ctx)
    asserts.equals(env, "@pip: pip: demo is gone; pin anew", install_failed("pip", "pip: demo is gone; pin anew\n"))
    asserts.true(env, "glibc >= 2.36" in install_failed("pip", ""))
    asserts.equals(env, "@python311: interpreter: disk full; free space", compile_failed("python311", "interpreter: disk full; free space\n"))
    asserts.true(env, "glibc >= 2.36" in compile_failed("python311", " "))
    return unittest.end(env)

messages_test = unittest.make(_messages_impl)
