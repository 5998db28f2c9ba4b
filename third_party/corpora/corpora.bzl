"""The libraries that `//mlgo/corpus` ships as corpora. One entry here, and one name in third_party/debian/packages.json, adds another.

`FIRST` are those of the shipped policies. `TRAINING` and `HELD_OUT` came later: a policy may learn from the former, and must never see the latter.
`EXAM` is looked at once for each released policy (//models/exam), by its command only.
"""

load(":entry.bzl", "library_entry")
load(":exam.bzl", _EXAM = "EXAM")
load(":held_out.bzl", _HELD_OUT = "HELD_OUT")
load(":training.bzl", _TRAINING = "TRAINING")

# Each of another character: compression in C (zstd, brotli), an interpreter with one big switch (lua), a database with a parser and a
# virtual machine (sqlite), automata in C++ (re2), C++ with templates and exceptions (yaml_cpp), floating point and geometry (box2d).
FIRST = {
    "box2d": library_entry("box2d", "MIT", ["src/**/*.cpp"], includes = ["include", "src"]),
    "brotli": library_entry("brotli", "MIT", ["c/common/*.c", "c/dec/*.c", "c/enc/*.c", "c/tools/*.c"], includes = ["c/include"]),
    "lua": library_entry("lua5.4", "MIT", ["src/*.c"], defines = ["LUA_USE_LINUX"]),
    "re2": library_entry("re2", "BSD-3-Clause", ["re2/*.cc", "util/rune.cc", "util/strutil.cc"], includes = ["."], program = ["libre2.symbols"]),
    "sqlite": library_entry("sqlite3", "blessing", [], build_file = "//third_party/corpora:sqlite.BUILD.bazel"),
    "yaml_cpp": library_entry("yaml-cpp", "MIT", ["src/**/*.cpp"], includes = ["include"]),
    "zstd": library_entry("libzstd", "BSD-3-Clause OR GPL-2.0-only", ["lib/**/*.c", "lib/**/*.S"], includes = ["lib"], exclude = ["lib/dll/**"], defines = ["ZSTD_LEGACY_SUPPORT=1", "ZSTD_MULTITHREAD"], program = ["programs/*.c"]),
}

TRAINING = _TRAINING
HELD_OUT = _HELD_OUT
EXAM = _EXAM
CORPORA = FIRST | TRAINING | HELD_OUT | EXAM
