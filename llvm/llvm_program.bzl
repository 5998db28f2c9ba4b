"""How a program of LLVM is linked from LLVM's archives and the few units we compile again, without rebuilding LLVM.

    llvm_units(name = "ml_units", srcs = ["@llvm_source//:llvm/lib/Analysis/TFLiteUtils.cpp"])
    llvm_program(name = "clang", deps = [":ml_units"])

An object defines a symbol before an archive is asked for it, so the units of `llvm_units` take the place of the archives' own.
"""

load("@rules_cc//cc:defs.bzl", "cc_binary", "cc_library")
load("//llvm/private:directory.bzl", "copied_directory")
load("//llvm/private:program.bzl", "installed_program")
load("//third_party/llvm:copts.bzl", "LLVM_COPTS")

_DEFINES = [
    "_GNU_SOURCE",
    "__STDC_CONSTANT_MACROS",
    "__STDC_FORMAT_MACROS",
    "__STDC_LIMIT_MACROS",
]

# At a fixed address start-up needs no 500,000 relocations: 10 ms instead of 15 (the packaged clang: 23).
_LINKOPTS = [
    "-no-pie",
    "-Wl,--gc-sections",
    "-Wl,--strip-all",
    "-lpthread",
    "-ldl",
]

def llvm_units(name, srcs, deps = [], local_defines = [], copts = [], visibility = None):
    """Units of LLVM or clang that are linked into a program in place of the archives' own.

    Args:
      name: name of the library.
      srcs: sources, usually labels in @llvm_source.
      deps: what they include besides LLVM's public headers and CodeGen's private ones.
      local_defines: switches, such as `LLVM_HAVE_TFLITE=1`, that do not reach who depends on this.
      copts: more compiler flags.
      visibility: who may link them; the package alone by default.
    """
    cc_library(
        name = name,
        srcs = srcs,
        copts = LLVM_COPTS + copts,
        linkstatic = True,
        local_defines = _DEFINES + local_defines,
        visibility = visibility,
        deps = deps + [
            Label("//third_party/llvm:headers"),
            Label("@llvm_source//:codegen_private_headers"),
        ],
        alwayslink = True,
    )

def llvm_program(name, deps, archives = Label("//third_party/llvm:clang_archives"), program = None, aliases = [], resource_directory = None, visibility = None):
    """A program of LLVM that runs where it is built, from runfiles, and from wherever its tree is copied.

    Makes `<name>`, a link to the program, and the tree `<name>.llvm` laid out as LLVM installs itself:

        <name>.llvm/bin/<program>, and beside it the aliases
        <name>.llvm/lib/clang/22   clang's own headers and run-time libraries, when asked for

    A clang looks for its headers relative to where it really lies, hence the link and the tree.

    Args:
      name: name of the target.
      deps: `llvm_units`.
      archives: what everything else comes from: //third_party/llvm:archives for a program without clang's parts. A build from source
        makes them, so that asking for less saves time.
      program: file name of the program; `name` by default.
      aliases: more names of it in the tree and beside the link; clang takes `clang++` for another driver mode.
      resource_directory: label of the directory that becomes `lib/clang/22`.
      visibility: visibility of `name`.
    """
    tree = name + ".llvm"
    binary = "{}/bin/{}".format(tree, program or name)
    cc_binary(
        name = binary,
        linkopts = _LINKOPTS,
        linkstatic = True,
        malloc = Label("@tcmalloc//:tcmalloc"),
        visibility = ["//visibility:private"],
        deps = deps + [archives],
    )
    resources = []
    if resource_directory:
        copied_directory(
            name = name + "_resources",
            src = resource_directory,
            out = tree + "/lib/clang/22",
            visibility = ["//visibility:private"],
        )
        resources.append(name + "_resources")
    installed_program(
        name = name,
        aliases = aliases,
        binary = binary,
        resources = resources,
        visibility = visibility,
    )
