"""The names under which release programs are also the linker and LLVM's tools for archives and objects."""

# Links in bin/, beside clang. main.cpp maps names to mains; linker_main.cpp those of LINKER_TOOLS.
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

# Links in bin/, beside a linker that is there without clang.
LINKER_TOOLS = [
    "llvm-ar",
    "llvm-nm",
    "llvm-ranlib",
]
