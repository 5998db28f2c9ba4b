"""Fuzzing targets: `cc_fuzz_test` for C++, `py_fuzz_test` for Python."""

load("@rules_cc//cc:defs.bzl", "cc_binary", "cc_library", "cc_test")
load("@rules_python//python:defs.bzl", "py_test")

_SANITIZERS = [
    "-O1",
    "-g1",
    "-fsanitize=address,undefined,fuzzer-no-link",
    "-fno-sanitize-recover=all",
    # It needs one more archive, and the code under test has no virtual functions.
    "-fno-sanitize=vptr",
]

def _corpus(name):
    """The folder with the inputs of a target, relative to the workspace; and its files."""
    folder = "tests/fuzzing/corpus/" + name.removesuffix("_fuzz")
    return folder, native.glob(["corpus/{}/*".format(name.removesuffix("_fuzz"))])

def cc_fuzz_test(name, srcs, deps = []):
    """A libFuzzer program with sanitizers for addresses and undefined behaviour, and NAME_test, which runs its corpus.

    The corpus lies in corpus/X, where `name` is X_fuzz. For an hour of search:

        ./bazelw run //tests/fuzzing:X_fuzz -- -max_total_time=3600 $PWD/tests/fuzzing/corpus/X

    Args:
      name: ends in "_fuzz".
      srcs: they include the code under test as text, for the sanitizers see only what is compiled with them.
      deps: libraries with that text.
    """
    folder, files = _corpus(name)
    cc_library(
        name = name + "_code",
        testonly = True,
        srcs = srcs,
        copts = _SANITIZERS,
        deps = deps + [
            "//third_party/llvm:older_glibc",
            "@profile_runtime//:fuzzing",
        ],
        alwayslink = True,
    )
    cc_binary(
        name = name,
        testonly = True,
        deps = [name + "_code"],
    )
    cc_test(
        name = name + "_test",
        size = "small",
        args = ["-runs=0", folder],
        data = files,
        linkstatic = True,
        deps = [name + "_code"],
    )

def py_fuzz_test(name, deps):
    """A target of tests/fuzzing/search.py: the source is NAME.py.

    The corpus lies in corpus/X, where `name` is X_fuzz. `bazel test` runs it, and a fixed number of mutations of it.
    For an hour of search, which puts what it finds into that folder:

        ./bazelw run //tests/fuzzing:X_fuzz -- --minutes=60

    Args:
      name: ends in "_fuzz".
      deps: what the source imports, without the harness.
    """
    folder, files = _corpus(name)
    py_test(
        name = name,
        size = "small",
        srcs = [name + ".py"],
        args = ["--corpus=" + folder],
        data = files,
        deps = deps + [":search"],
    )
