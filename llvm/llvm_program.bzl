"""How an LLVM program is linked from LLVM's archives and the few units that we compile, without rebuilding LLVM.

    llvm_units(name = "ml_units", srcs = ["@llvm_source//:llvm/lib/Analysis/TFLiteUtils.cpp"])
    llvm_program(name = "clang", deps = [":ml_units"])

`own_units` are the same for sources of this project, with warnings as errors; `own_test` tests them.

The linker searches an archive only for symbols that no object defines, so the units of `llvm_units` replace those of the archives.
"""

load("@llvm//:chosen.bzl", "CHOSEN")
load("@rules_cc//cc:defs.bzl", "cc_binary", "cc_library", "cc_test")
load("//llvm/private:copied_directory.bzl", "copied_directory")
load("//llvm/private:program.bzl", "installed_program")
load("//third_party/llvm:copts.bzl", "LLVM_COPTS", "OWN_COPTS")

_DEFINES = [
    "_GNU_SOURCE",
    "__STDC_CONSTANT_MACROS",
    "__STDC_FORMAT_MACROS",
    "__STDC_LIMIT_MACROS",
]

# Of the system, which LLVM's archives need.
_LIBRARIES = [
    "-lpthread",
    "-ldl",
]

# A fixed address saves 500,000 relocations at start-up: 10 ms instead of 15 (the packaged clang: 23).
_LINKOPTS = [
    "-no-pie",
    "-Wl,--gc-sections",
] + _LIBRARIES

def _units(name, srcs, deps, local_defines, copts, tags, visibility):
    cc_library(
        name = name,
        srcs = srcs,
        copts = copts,
        linkstatic = True,
        local_defines = _DEFINES + local_defines,
        tags = tags,
        visibility = visibility,
        deps = deps + [
            Label("//third_party/llvm:headers"),
            Label("@llvm_source//:codegen_private_headers"),
        ],
        alwayslink = True,
    )

def llvm_units(name, srcs, deps = [], local_defines = [], copts = [], tags = [], visibility = None):
    """Units of LLVM or clang that replace those of the archives.

    Args:
      name: name of the library.
      srcs: sources, usually labels in @llvm_source.
      deps: libraries that the units include, besides LLVM's public headers and CodeGen's private ones.
      local_defines: macros of these units, such as `LLVM_HAVE_TFLITE=1`.
      copts: more compiler flags.
      tags: tags of `name`, such as `manual` for units that only some configurations link.
      visibility: visibility of `name`.
    """
    _units(name, srcs, deps, local_defines, LLVM_COPTS + copts, tags, visibility)

def own_units(name, srcs, deps = [], local_defines = [], visibility = None):
    """Units of this project that are compiled beside LLVM's. Warnings are errors.

    Args:
      name: name of the library.
      srcs: sources and private headers.
      deps: libraries that the units include, as of `llvm_units`.
      local_defines: macros of these units.
      visibility: visibility of `name`.
    """
    _units(name, srcs, deps, local_defines, OWN_COPTS, [], visibility)

def own_test(name, deps, uses_llvm = False, visibility = None):
    """A small test of units of this project. `//llvm/decisions/testing:check` is among its libraries.

    Args:
      name: name of the test, whose source is `<name>.cpp`.
      deps: what it tests.
      uses_llvm: whether it is linked with LLVM's archives.
      visibility: of the test, for one that runs it in another way.
    """
    cc_test(
        name = name,
        size = "small",
        srcs = [name + ".cpp"],
        copts = OWN_COPTS,
        linkopts = _LIBRARIES if uses_llvm else [],
        linkstatic = True,
        visibility = visibility,
        deps = deps + [Label("//llvm/decisions/testing:check")] + ([Label("//third_party/llvm:archives")] if uses_llvm else []),
    )

def llvm_program(
        name,
        deps,
        archives = Label("//third_party/llvm:clang_archives"),
        program = None,
        aliases = [],
        tools = [],
        resource_directory = None,
        beside = [],
        linkopts = [],
        visibility = None):
    """An LLVM program that runs where it is built, from runfiles, and from any copy of its tree.

    Makes `<name>`, a link to the program, and the tree `<name>.llvm` with LLVM's installation layout:

        <name>.llvm/bin/<program>, and beside it the aliases
        <name>.llvm/lib/clang/<major>   clang's headers and run-time libraries, with `resource_directory`
        <name>.llvm/share/mlgo          the IR2Vec vocabulary

    clang searches its headers relative to its own file, hence the link and the tree.

    Args:
      name: name of the target.
      deps: `llvm_units`, in link order.
      archives: all other code: //third_party/llvm:archives for a program without clang's parts. A build from source compiles these
        archives, so fewer archives save time.
      program: file name of the program; default: `name`.
      aliases: more names of the program in the tree and beside the link; `clang++` selects another driver mode.
      tools: more names of the program in the tree alone.
      resource_directory: label of the directory that becomes `lib/clang/<major>`.
      beside: labels of files that are copied into `bin/`, such as configuration files of clang.
      linkopts: more flags of the linker.
      visibility: visibility of `name`.
    """
    private = ["//visibility:private"]
    tree = name + ".llvm"
    binary = "{}.linked/{}".format(name, program or name)
    cc_binary(
        name = binary,
        features = ["strip_all"],
        linkopts = _LINKOPTS + linkopts,
        linkstatic = True,
        malloc = Label("@tcmalloc//:tcmalloc"),
        visibility = private,
        deps = deps + [archives],
    )
    resources = []
    if resource_directory:
        copied_directory(
            name = name + "_resources",
            src = resource_directory,
            out = tree + "/lib/clang/" + CHOSEN["major"],
            visibility = private,
        )
        resources.append(name + "_resources")
    installed_program(
        name = name,
        aliases = aliases,
        beside = beside,
        binary = binary,
        program = program or name,
        resources = resources,
        shared = [Label("//llvm/embeddings:shared_files")],
        tools = tools,
        visibility = visibility,
    )
