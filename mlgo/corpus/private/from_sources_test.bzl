"""Tests of from_sources.bzl."""

load("@bazel_skylib//lib:unittest.bzl", "asserts", "unittest")
load(":from_sources.bzl", "message_same_name")

def _message_test_impl(ctx):
    env = unittest.begin(ctx)
    asserts.equals(
        env,
        "//x:y: sources a/m.c and external/r/a/m.c have the same module name a/m.c. Remove one of them from `srcs`.",
        message_same_name("//x:y", "a/m.c", "external/r/a/m.c", "a/m.c"),
    )
    return unittest.end(env)

_message_test = unittest.make(_message_test_impl)

def from_sources_test_suite(name):
    """Declares the tests.

    Args:
      name: of the suite.
    """
    unittest.suite(name, _message_test)
