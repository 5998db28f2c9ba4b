"""Tests of modules.bzl."""

load("@bazel_skylib//lib:unittest.bzl", "asserts", "unittest")
load(":modules.bzl", "owner_name", "source_name")

def _source_name_test_impl(ctx):
    env = unittest.begin(ctx)
    for path, name in {
        "../+debian+llvm_source/llvm/lib/IR/Type.cpp": "llvm/lib/IR/Type.cpp",
        "../_main~debian~llvm_source/llvm/lib/IR/Type.cpp": "llvm/lib/IR/Type.cpp",
        "bazel-out/k8-opt/bin/external/r/a/gen.cc": "a/gen.cc",
        "bazel-out/k8-opt/bin/mlgo/gen.cc": "mlgo/gen.cc",
        "external/r/a/m.cc": "a/m.cc",
        "mlgo/a.c": "mlgo/a.c",
    }.items():
        asserts.equals(env, name, source_name(path))
    return unittest.end(env)

_source_name_test = unittest.make(_source_name_test_impl)

def _owner_name_test_impl(ctx):
    env = unittest.begin(ctx)
    for repository, package, expected in [
        ("", "a/b", "a/b/lib"),
        ("", "", "lib"),
        ("_main~corpora~corpus_zstd", "", "corpus_zstd/lib"),
        ("mlgo++corpora+corpus_zstd", "x", "corpus_zstd/x/lib"),
        ("zlib+", "x", "zlib/x/lib"),
        ("zlib~", "x", "zlib/x/lib"),
        ("zlib~1.3.1", "x", "zlib~1.3.1/x/lib"),
    ]:
        asserts.equals(env, expected, owner_name(struct(repo_name = repository, package = package, name = "lib")))
    return unittest.end(env)

_owner_name_test = unittest.make(_owner_name_test_impl)

def modules_test_suite(name):
    """Declares the tests.

    Args:
      name: of the suite.
    """
    unittest.suite(name, _source_name_test, _owner_name_test)
