"""What we change in LLVM's Bazel overlay, and how it learns version and targets, as functions that a test reads."""

# llvm/CMakeLists.txt: LLVM_ALL_TARGETS.
ALL_TARGETS = [
    "AArch64",
    "AMDGPU",
    "ARM",
    "AVR",
    "BPF",
    "Hexagon",
    "Lanai",
    "LoongArch",
    "MSP430",
    "Mips",
    "NVPTX",
    "PowerPC",
    "RISCV",
    "SPIRV",
    "Sparc",
    "SystemZ",
    "VE",
    "WebAssembly",
    "X86",
    "XCore",
]

_CC_RULES = (
    "load(\"@rules_cc//cc:defs.bzl\", \"cc_binary\", \"cc_library\")\n",
    "load(\"@mlgo//third_party/llvm/from_source:cc_rules.bzl\", \"cc_binary\", \"cc_library\")\n",
)

# File of the overlay -> (what stands there once or more often, what takes its place).
EDITS = {
    "clang/BUILD.bazel": [
        _CC_RULES,
        # No static analyser: 190 units that decide nothing about code. One unit includes headers of it all the same.
        ("\":options\",\n        \":static_analyzer_frontend\",\n        \"//llvm:Option\"", "\":options\",\n        \"//llvm:Option\""),
        ("\":static_analyzer_frontend\",\n        \"//llvm:AllTargetsAsmParsers\"", "\"//llvm:AllTargetsAsmParsers\""),
        ("[\"include/clang/FrontendTool/*.h\"]", "[\"include/clang/FrontendTool/*.h\", \"include/clang/StaticAnalyzer/Frontend/*.h\"]"),
    ],
    "clang/include/clang/Config/config.h": [("#define CLANG_ENABLE_STATIC_ANALYZER 1", "#define CLANG_ENABLE_STATIC_ANALYZER 0")],
    "llvm/BUILD.bazel": [
        _CC_RULES,
        # opt takes no plugins here; exported symbols would keep the linker from dropping what nothing uses.
        ("[\"-Wl,--export-dynamic\"]", "[]"),
    ],
    # The triple that Debian's clang compiles for by default.
    "llvm/config.bzl": [("\"x86_64-unknown-linux-gnu\"", "\"x86_64-pc-linux-gnu\"")],
    # TableGen is made of the same objects as the compilers, not of 250 more: both run on this kind of machine.
    "mlir/tblgen.bzl": [(
        "generate `out`.\",\n            executable = True,\n            cfg = \"exec\",\n",
        "generate `out`.\",\n            executable = True,\n            cfg = \"target\",\n",
    )],
}

def edited(name, text, edits):
    """The text of an overlay file with our changes, or an error.

    Args:
        name: its path, for the error.
        text: what the tarball has.
        edits: list of (old, new).
    Returns: (text, None), or (None, one sentence).
    """
    for old, new in edits:
        if old not in text:
            return None, "{}: the tarball's copy does not hold {}; correct EDITS in third_party/llvm/from_source/edits.bzl for this version of LLVM".format(
                "utils/bazel/llvm-project-overlay/" + name,
                repr(old.strip()),
            )
        text = text.replace(old, new)
    return text, None

# LLVM's name of the target of the machines that the build runs on.
_NATIVE = "X86"

def wanted_targets(value):
    """The targets that MLGO_LLVM_TARGETS asks for.

    Args:
        value: names joined by commas, `all`, or None or "" for the host's.
    Returns: (sorted list, None), or (None, one sentence).
    """
    if not value:
        return [_NATIVE], None
    if value == "all":
        return ALL_TARGETS, None
    names = [name.strip() for name in value.split(",")]
    unknown = [name for name in names if name not in ALL_TARGETS]
    if unknown:
        return None, "MLGO_LLVM_TARGETS={}: LLVM has no target {}; write some of {}, joined by commas, or `all`".format(
            value,
            " or ".join([repr(name) for name in unknown]),
            ", ".join(ALL_TARGETS),
        )
    if _NATIVE not in names:
        return None, "MLGO_LLVM_TARGETS={0}: {1} is missing, the target of the machines that this build runs on; add {1}".format(value, _NATIVE)
    return sorted({name: None for name in names}), None

def version(cmake):
    """LLVM's version out of cmake/Modules/LLVMVersion.cmake.

    Args:
        cmake: the file's text.
    Returns: dict of LLVM_VERSION_{MAJOR,MINOR,PATCH,SUFFIX}, LLVM_VERSION and PACKAGE_VERSION to strings; fails if one is missing.
    """
    found = {"LLVM_VERSION_SUFFIX": ""}
    for line in cmake.splitlines():
        words = line.strip().removeprefix("set(").removesuffix(")").split(" ")
        if line.strip().startswith("set(LLVM_VERSION_") and len(words) == 2:
            found[words[0]] = words[1]
    for part in ["MAJOR", "MINOR", "PATCH"]:
        if "LLVM_VERSION_" + part not in found:
            fail("cmake/Modules/LLVMVersion.cmake: no LLVM_VERSION_{}; correct `version` in third_party/llvm/from_source/edits.bzl".format(part))
    number = "{LLVM_VERSION_MAJOR}.{LLVM_VERSION_MINOR}.{LLVM_VERSION_PATCH}".format(**found)
    return found | {"LLVM_VERSION": number, "PACKAGE_VERSION": number + found["LLVM_VERSION_SUFFIX"]}
