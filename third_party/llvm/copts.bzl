"""How LLVM's units are compiled, ours and those of a build from source."""

# As LLVM's CMake build compiles Release on Debian, whatever Bazel's compilation mode: bit identity must not depend on it.
LLVM_COPTS = [
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
    "-w",
]
