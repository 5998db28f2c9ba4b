"""Data and environment of //mlgo:evaluate_programs, for the command and for targets that run it where there is no Bazel."""

load("//platforms:emulators.bzl", "EMULATORS")
load("//third_party/corpora:exam_programs.bzl", _EXAM_PROGRAMS = "EXAM_PROGRAMS")
load("//toolchains/cc:targets.bzl", "TARGETS")

# Packages of the programs that //mlgo/evaluation/programs describes.
_PACKAGES = [
    "box2d",
    "brotli",
    "lua",
    "re2",
    "sqlite",
    "yaml_cpp",
    "zstd",
]

# Packages of programs that are built only on request: those of libraries that policies may learn from, and held-out ones.
_EXTRA_PACKAGES = [
    "bzip2",
    "cmark",
    "expat",
    "graphite2",
    "harfbuzz",
    "libwebp",
    "lz4",
    "mbedtls",
    "mujs",
    "ninja",
    "opus",
    "pcre2",
    "tidy_html5",
    "xz",
    "zlib",
]

# Tools that build and run programs, besides the compilers under comparison.
PACKAGED_PROGRAMS_TOOLS = [
    "@llvm//:clang",
    "@llvm//:ld.lld",
    "@llvm//:llvm-cxxfilt",
    "@llvm//:runtime",
    "@sysroot",
    "@sysroot//:usr",
    "@valgrind//:tools",
    "@valgrind//:valgrind",
]

def _data_of(packages):
    return PACKAGED_PROGRAMS_TOOLS + [
        "@corpora//:{}_{}".format(package, part)
        for package in packages
        for part in ("root", "sources")
    ]

def _env_of(packages):
    return PROGRAMS_TOOLS_ENV | {
        "MLGO_PROGRAM_PACKAGE_" + package: "$(rlocationpath @corpora//:{}_root)".format(package)
        for package in packages
    }

PROGRAMS_TOOLS_ENV = {
    "MLGO_PACKAGED_CLANG": "$(rlocationpath @llvm//:clang)",
    "MLGO_PACKAGED_CXXFILT": "$(rlocationpath @llvm//:llvm-cxxfilt)",
    "MLGO_PACKAGED_LINKER": "$(rlocationpath @llvm//:ld.lld)",
    "MLGO_SYSROOT": "$(rlocationpath @sysroot//:usr)",
    "MLGO_VALGRIND": "$(rlocationpath @valgrind//:valgrind)",
}

# The command fetches the packages of the programs that it builds: by their labels, when it uses them.
PROGRAMS_LABELS = {
    "MLGO_PROGRAM_PACKAGE_" + package: "@corpora//:{}_root".format(package)
    for package in _PACKAGES + _EXTRA_PACKAGES + _EXAM_PROGRAMS.keys()
}

PROGRAMS_DATA = _data_of(_PACKAGES)

PROGRAMS_ENV = _env_of(_PACKAGES)

# The same with the programs of --programs=all.
ALL_PROGRAMS_DATA = _data_of(_PACKAGES + _EXTRA_PACKAGES)

ALL_PROGRAMS_ENV = _env_of(_PACKAGES + _EXTRA_PACKAGES)

# The same with the programs of --programs=exam, and nothing else.
EXAM_PROGRAMS_DATA = _data_of(_EXAM_PROGRAMS.keys())

EXAM_PROGRAMS_ENV = _env_of(_EXAM_PROGRAMS.keys())

_COUNT_PLUGIN = "//mlgo/evaluation/programs/plugin:libcount_plugin.so"

# What --target takes besides x86_64.
_TARGETS_ENV = {
    "MLGO_PROGRAM_TARGETS": json.encode({
        name: dict(
            triple = TARGETS[name].triple,
            gcc = TARGETS[name].gcc,
            flags = TARGETS[name].flags,
            emulator_flags = emulator.flags,
        )
        for name, emulator in EMULATORS.items()
    }),
}

# The command fetches a target's sysroot and emulator when it uses them.
TARGETS_LABELS = _TARGETS_ENV | {"MLGO_COUNT_PLUGIN": _COUNT_PLUGIN} | {
    "MLGO_SYSROOT_" + name: "@sysroot_%s//:usr" % name
    for name in EMULATORS
} | {
    "MLGO_EMULATOR_" + name: emulator.program
    for name, emulator in EMULATORS.items()
}

# What --pgo takes. The command fetches the library when it uses it.
PROFILE_LABELS = {
    "MLGO_PACKAGED_PROFDATA": "@llvm//:llvm-profdata",
    "MLGO_PROFILE_RUNTIME": "@profile_runtime//:archive",
}

PROFILE_DATA = PROFILE_LABELS.values()

PROFILE_ENV = {name: "$(rlocationpath %s)" % label for name, label in PROFILE_LABELS.items()}

def target_data(name):
    """Data of a target that runs the command with --target=`name`."""
    return ["@sysroot_%s//:usr" % name, EMULATORS[name].program, "@qemu//:runtime", _COUNT_PLUGIN]

def target_env(name):
    """Environment of a target that runs the command with --target=`name`."""
    return _TARGETS_ENV | {
        "MLGO_COUNT_PLUGIN": "$(rlocationpath %s)" % _COUNT_PLUGIN,
        "MLGO_EMULATOR_" + name: "$(rlocationpath %s)" % EMULATORS[name].program,
        "MLGO_SYSROOT_" + name: "$(rlocationpath @sysroot_%s//:usr)" % name,
    }
