"""Tests of aspect.bzl: its pure functions, and what it registers for the targets of //mlgo/corpus/testdata."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts", "unittest")
load("@llvm//:chosen.bzl", "CHOSEN")
load("//mlgo/corpus:defs.bzl", "CorpusModulesInfo")
load(":aspect.bzl", "chosen", "kind_of", "message_not_clang", "outside", "source_of")

def _source_of_test_impl(ctx):
    env = unittest.begin(ctx)
    asserts.equals(env, "a/m.c", source_of(["clang", "-O2", "-c", "a/m.c", "-o", "m.o"]))
    asserts.equals(env, None, source_of(["clang", "-fsyntax-only", "a/m.h"]))
    asserts.equals(env, None, source_of(["clang", "-c", "a/m.c"]))
    return unittest.end(env)

_source_of_test = unittest.make(_source_of_test_impl)

def _kind_of_test_impl(ctx):
    env = unittest.begin(ctx)
    for path, kind in {
        "a.S": "assembly",
        "a.b/m.s": "assembly",
        "a.c": None,
        "a.cc": None,
        "a.f90": "other",
        "lib.pic.a": "object",
        "m.C": None,
        "m.o": "object",
    }.items():
        asserts.equals(env, kind, kind_of(path), path)
    return unittest.end(env)

_kind_of_test = unittest.make(_kind_of_test_impl)

def _chosen_test_impl(ctx):
    env = unittest.begin(ctx)
    both = [
        struct(source = "a.c", output = "a.pic.o"),
        struct(source = "a.c", output = "a.o"),
        struct(source = "b.c", output = "b.o"),
    ]
    for compiles in [both, both[::-1]]:
        asserts.equals(env, "a.o", chosen(compiles, False)["a.c"].output)
        asserts.equals(env, "a.pic.o", chosen(compiles, True)["a.c"].output)
        asserts.equals(env, "b.o", chosen(compiles, True)["b.c"].output)
    return unittest.end(env)

_chosen_test = unittest.make(_chosen_test_impl)

def _outside_test_impl(ctx):
    env = unittest.begin(ctx)
    files = [struct(path = path) for path in ["s/usr", "s/usr/include/a.h", "s/usr2/a.h", "a.c"]]
    asserts.equals(env, ["s/usr", "s/usr2/a.h", "a.c"], [file.path for file in outside(files, ["s/usr", "bin/clang"])])
    asserts.equals(env, files, outside(files, []))
    return unittest.end(env)

_outside_test = unittest.make(_outside_test_impl)

def _message_test_impl(ctx):
    env = unittest.begin(ctx)
    asserts.equals(
        env,
        "//x:y: its C++ toolchain's compiler is gcc, and a corpus is made by clang " + CHOSEN["major"] +
        ", which also compiles it. Register " +
        "@mlgo//toolchains/cc:clang_toolchain, or build with --extra_toolchains=@mlgo//toolchains/cc:clang_toolchain",
        message_not_clang("//x:y", "gcc"),
    )
    return unittest.end(env)

_message_test = unittest.make(_message_test_impl)

def _modules_test_impl(ctx):
    env = analysistest.begin(ctx)
    info = analysistest.target_under_test(env)[CorpusModulesInfo]
    modules = sorted(["{} {}".format(module.source.rpartition("/")[2], module.owner.rpartition("/")[2]) for module in info.modules.to_list()])
    asserts.equals(env, ctx.attr.modules, modules)
    asserts.equals(env, ctx.attr.skipped, sorted([source.kind + " " + source.source.rpartition("/")[2] for source in info.skipped.to_list()]))
    return analysistest.end(env)

_modules_test = analysistest.make(
    _modules_test_impl,
    attrs = {
        "modules": attr.string_list(doc = "Sources with the targets that compile them."),
        "skipped": attr.string_list(doc = "Kinds and names of the others."),
    },
)

def _refused_test_impl(ctx):
    env = analysistest.begin(ctx)
    asserts.expect_failure(env, ctx.attr.said)
    return analysistest.end(env)

_refused_test = analysistest.make(
    _refused_test_impl,
    expect_failure = True,
    config_settings = {"//command_line_option:extra_toolchains": ["//mlgo/corpus/private:gcc_toolchain"]},
    attrs = {"said": attr.string(doc = "Part of the message.")},
)

def aspect_test_suite(name, corpus, modules, skipped):
    """Declares the tests.

    Args:
      name: of the suite.
      corpus: label of an mlgo_corpus.
      modules: what it must hold, "SOURCE TARGET" each, sorted.
      skipped: which sources have no bitcode, "KIND SOURCE" each, sorted.
    """
    _modules_test(name = name + "_modules", size = "small", target_under_test = corpus, modules = modules, skipped = skipped)
    _refused_test(name = name + "_refused", size = "small", target_under_test = corpus, said = "compiler is gcc, and a corpus is made by clang " + CHOSEN["major"])
    unittest.suite(name, _source_of_test, _kind_of_test, _chosen_test, _outside_test, _message_test)
