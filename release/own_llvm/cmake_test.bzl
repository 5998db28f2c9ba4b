"""Tests of the texts of the CMake files."""

load("@bazel_skylib//lib:unittest.bzl", "asserts", "unittest")
load(":cmake.bzl", "cache_file")

def _cache_file_impl(ctx):
    env = unittest.begin(ctx)
    lines = cache_file({"eviction_policy": "RegAllocEvictModel", "inlining_policy": None}).splitlines()
    object = "set(LLVM_OVERRIDE_MODEL_OBJECT_REGALLOCEVICTMODEL \"${CMAKE_CURRENT_LIST_DIR}/RegAllocEvictModel.o\" CACHE FILEPATH \"\" FORCE)"
    asserts.true(env, object in lines, "the object is named by the variable that LLVM reads")
    asserts.true(env, "set(LLVM_INLINER_MODEL_PATH none CACHE STRING \"\" FORCE)" in lines, "without a policy LLVM makes up none")
    asserts.false(env, "INLINERSIZEMODEL" in "".join(lines), "an absent policy has no files")
    return unittest.end(env)

cache_file_test = unittest.make(_cache_file_impl)

def cmake_tests(name):
    """The suite of all tests here."""
    unittest.suite(name, cache_file_test)
