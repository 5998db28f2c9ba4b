"""Configuration of the C++ toolchain: clang 22 and lld on a Debian sysroot, independent of the machine they run on."""

load("@rules_cc//cc:action_names.bzl", "ACTION_NAMES")
load(
    "@rules_cc//cc:cc_toolchain_config_lib.bzl",
    "feature",
    "flag_group",
    "flag_set",
    "tool_path",
    "with_feature_set",
)

_COMPILE = [
    ACTION_NAMES.assemble,
    ACTION_NAMES.c_compile,
    ACTION_NAMES.clif_match,
    ACTION_NAMES.cpp_compile,
    ACTION_NAMES.cpp_header_parsing,
    ACTION_NAMES.cpp_module_codegen,
    ACTION_NAMES.cpp_module_compile,
    ACTION_NAMES.linkstamp_compile,
    ACTION_NAMES.lto_backend,
    ACTION_NAMES.preprocess_assemble,
]
_COMPILE_CXX = [
    ACTION_NAMES.cpp_compile,
    ACTION_NAMES.cpp_header_parsing,
    ACTION_NAMES.cpp_module_codegen,
    ACTION_NAMES.cpp_module_compile,
    ACTION_NAMES.linkstamp_compile,
]
_LINK_EXECUTABLE = [ACTION_NAMES.cpp_link_executable]
_LINK_SHARED = [ACTION_NAMES.cpp_link_dynamic_library, ACTION_NAMES.cpp_link_nodeps_dynamic_library]
_LINK = _LINK_EXECUTABLE + _LINK_SHARED

# Bazel's name of a tool -> ours.
_TOOLS = {
    "ar": "llvm-ar",
    "cpp": "clang",
    "gcc": "clang",
    "ld": "ld.lld",
    "nm": "llvm-nm",
    "objcopy": "llvm-objcopy",
    "objdump": "llvm-objdump",
    "strip": "llvm-strip",
}

def _flags(actions, flags, with_features = []):
    return flag_set(
        actions = actions,
        flag_groups = [flag_group(flags = flags)],
        with_features = with_features,
    )

def _in(mode):
    return [with_feature_set(features = [mode])]

def _config_impl(ctx):
    sysroot = ctx.file.sysroot.dirname
    resources = ctx.file.resource_directory.path

    # Tool paths are taken relative to the toolchain's package, which is the top of the LLVM tree.
    tools = ctx.file.clang.short_path.split("/", 2)[2].rpartition("/")[0]
    target = [
        "--target=x86_64-linux-gnu",
        "--sysroot=" + sysroot,
        "--gcc-install-dir=" + sysroot + "/usr/lib/gcc/x86_64-linux-gnu/12",
        "-resource-dir=" + resources,
        "-no-canonical-prefixes",
        "--no-default-config",
    ]
    features = [
        feature(name = "supports_pic", enabled = True),
        # No `supports_dynamic_linker`: libraries are linked statically into programs, tests too, since each shared one would hold
        # a C++ library of its own.
        feature(name = "supports_start_end_lib", enabled = True),
        feature(name = "no_stripping"),
        feature(name = "dbg"),
        feature(name = "fastbuild"),
        feature(name = "opt"),
        feature(
            name = "default_compile_flags",
            enabled = True,
            flag_sets = [
                _flags(_COMPILE, target + [
                    "-Wall",
                    "-fno-omit-frame-pointer",
                    # What depends on where and when: the working directory and the date.
                    "-ffile-compilation-dir=.",
                    "-Wno-builtin-macro-redefined",
                    "-D__DATE__=\"redacted\"",
                    "-D__TIMESTAMP__=\"redacted\"",
                    "-D__TIME__=\"redacted\"",
                ]),
                _flags(_COMPILE_CXX, ["-std=c++17"]),
                _flags(_COMPILE, ["-g"], _in("dbg")),
                _flags(_COMPILE, ["-g0", "-O2", "-DNDEBUG", "-ffunction-sections", "-fdata-sections"], _in("opt")),
            ],
        ),
        feature(
            name = "default_link_flags",
            enabled = True,
            flag_sets = [
                _flags(_LINK, target + [
                    "-fuse-ld=lld",
                    "-static-libgcc",
                    "-Wl,--build-id=sha1",
                    "-Wl,-z,relro,-z,now",
                ]),
                _flags(_LINK_SHARED, ["-Wl,--exclude-libs,libstdc++.a"]),
                _flags(_LINK, ["-Wl,--gc-sections"], _in("opt")),
            ],
        ),
        # The C++ library is linked statically: a program needs glibc and nothing else. It comes after the objects that use it.
        feature(
            name = "default_link_libs",
            enabled = True,
            flag_sets = [_flags(_LINK, ["-l:libstdc++.a", "-lm"])],
        ),
    ]
    return cc_common.create_cc_toolchain_config_info(
        ctx = ctx,
        toolchain_identifier = "clang22_debian12_x86_64",
        target_system_name = "x86_64-linux-gnu",
        target_cpu = "k8",
        target_libc = "glibc_2.36",
        compiler = "clang",
        abi_version = "gcc",
        abi_libc_version = "glibc_2.36",
        cxx_builtin_include_directories = [
            "%workspace%/" + directory
            for directory in [
                resources + "/include",
                sysroot + "/usr/include",
                sysroot + "/usr/lib/gcc/x86_64-linux-gnu/12/include",
            ]
        ],
        features = features,
        tool_paths = [
            tool_path(name = name, path = tools + "/" + program)
            for name, program in _TOOLS.items()
        ] + [tool_path(name = name, path = "/bin/false") for name in ["dwp", "gcov", "llvm-cov", "llvm-profdata"]],
    )

clang_toolchain_config = rule(
    implementation = _config_impl,
    doc = "Flags and tools of the toolchain; every path in them is relative to Bazel's execution root.",
    attrs = {
        "clang": attr.label(doc = "The clang program in the LLVM tree; the other tools lie beside it.", allow_single_file = True, mandatory = True),
        "resource_directory": attr.label(doc = "clang's own headers.", allow_single_file = True, mandatory = True),
        "sysroot": attr.label(doc = "The directory `usr` of the sysroot.", allow_single_file = True, mandatory = True),
    },
    provides = [CcToolchainConfigInfo],
)
