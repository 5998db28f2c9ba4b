"""How LLVM's units are compiled, ours and those of a build from source."""

# As LLVM's CMake build compiles Release on Debian, whatever Bazel's compilation mode: bit identity must not depend on it.
_COPTS = [
    "-O2",
] + select({
    Label("//third_party/llvm:with_assertions"): ["-UNDEBUG"],
    "//conditions:default": ["-DNDEBUG"],
}) + [
    "-fno-exceptions",
    "-fvisibility-inlines-hidden",
    "-fno-semantic-interposition",
    "-ffunction-sections",
    "-fdata-sections",
]

# Of our own sources. LLVM's headers are system headers to them (`includes` of //third_party/llvm:headers), which warn of nothing.
WARNINGS = [
    "-Wall",
    "-Wextra",
    "-Wdocumentation",
    "-Werror",
]

# LLVM's sources, whose warnings are upstream's.
LLVM_COPTS = _COPTS + ["-w"]

OWN_COPTS = _COPTS + WARNINGS
