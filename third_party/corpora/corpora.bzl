"""The libraries that `//mlgo/corpus` ships as corpora. One entry here, and one name in third_party/debian/packages.json, adds another."""

def _library(package, licence, srcs, includes = [], exclude = [], defines = [], hdrs = ["**/*.h"], program = [], build_file = None):
    """One library.

    Args:
      package: Debian source package, in third_party/debian/lock.json.
      licence: SPDX expression of its sources.
      srcs: patterns of the sources, one module each.
      includes: include directories.
      exclude: patterns of sources that are not part of it.
      defines: macros, without -D.
      hdrs: patterns of what the sources include.
      program: patterns of what a program of the package needs besides (//mlgo/evaluation/programs).
      build_file: BUILD file with a cc_library `library`, for one that patterns cannot describe.

    Returns:
      The entry.
    """
    return struct(
        package = package,
        licence = licence,
        srcs = srcs,
        includes = includes,
        exclude = exclude,
        defines = defines,
        hdrs = hdrs,
        program = program,
        build_file = build_file,
    )

# Each of another character: compression in C (zstd, brotli), an interpreter with one big switch (lua), a database with a parser and a
# virtual machine (sqlite), automata in C++ (re2), C++ with templates and exceptions (yaml_cpp), floating point and geometry (box2d).
CORPORA = {
    "box2d": _library("box2d", "MIT", ["src/**/*.cpp"], includes = ["include", "src"]),
    "brotli": _library("brotli", "MIT", ["c/common/*.c", "c/dec/*.c", "c/enc/*.c", "c/tools/*.c"], includes = ["c/include"]),
    "lua": _library("lua5.4", "MIT", ["src/*.c"], defines = ["LUA_USE_LINUX"]),
    "re2": _library("re2", "BSD-3-Clause", ["re2/*.cc", "util/rune.cc", "util/strutil.cc"], includes = ["."]),
    "sqlite": _library("sqlite3", "blessing", [], build_file = "//third_party/corpora:sqlite.BUILD.bazel"),
    "yaml_cpp": _library("yaml-cpp", "MIT", ["src/**/*.cpp"], includes = ["include"]),
    "zstd": _library("libzstd", "BSD-3-Clause OR GPL-2.0-only", ["lib/**/*.c", "lib/**/*.S"], includes = ["lib"], exclude = ["lib/dll/**"], defines = ["ZSTD_LEGACY_SUPPORT=1", "ZSTD_MULTITHREAD"], program = ["programs/*.c"]),
}
