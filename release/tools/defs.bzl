"""The names under which a release clang is also the linker and LLVM's tools for archives and objects."""

# Links in bin/, beside clang. main.cpp maps names to mains.
TOOLS = [
    "clang++",
    "clang-cpp",
    "ld.lld",
    "llvm-addr2line",
    "llvm-ar",
    "llvm-nm",
    "llvm-objcopy",
    "llvm-profdata",
    "llvm-ranlib",
    "llvm-size",
    "llvm-strip",
    "llvm-symbolizer",
]
