"""Configuration of the C++ toolchains: clang and lld on a sysroot of Debian's packages, independent of the machine they run on."""

load("@rules_cc//cc:action_names.bzl", "ACTION_NAMES")
load(
    "@rules_cc//cc:cc_toolchain_config_lib.bzl",
    "action_config",
    "feature",
    "flag_group",
    "flag_set",
    "tool",
    "tool_path",
    "with_feature_set",
)
load("@rules_cc//cc/common:cc_common.bzl", "cc_common")
load(":targets.bzl", "HOST", "TARGETS")

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

# Compile actions that generate code: what a policy decides about.
_GENERATE_CODE = [
    ACTION_NAMES.c_compile,
    ACTION_NAMES.cpp_compile,
    ACTION_NAMES.cpp_module_codegen,
    ACTION_NAMES.linkstamp_compile,
    ACTION_NAMES.lto_backend,
]

def _features(target, linker, copts):
    """The toolchain's features.

    Args:
      target: flags of every compile and link: for what, with whose headers and libraries.
      linker: flags that name the linker.
      copts: more flags for whatever generates code.
    """
    return [
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
            ] + ([_flags(_GENERATE_CODE, copts)] if copts else []),
        ),
        feature(
            name = "default_link_flags",
            enabled = True,
            flag_sets = [
                _flags(_LINK, target + linker + [
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
        # No names of functions: 29 MB of clang. Among a target's `linkopts` the flag would come before Bazel's -Wl,-S, and of the two the last counts.
        feature(
            name = "strip_all",
            flag_sets = [_flags(_LINK, ["-Wl,--strip-all"])],
        ),
    ]

def _info(ctx, identifier, linker, target = HOST, copts = [], **tools):
    """What both rules below have in common; `target` is a key of TARGETS, and `tools` says where the programs lie."""
    chosen = TARGETS[target]
    sysroot = ctx.file.sysroot.dirname
    resources = ctx.file.resource_directory.path
    gcc = [sysroot + "/" + chosen.gcc] if chosen.gcc else []
    flags = [
        "--target=" + chosen.triple,
        "--sysroot=" + sysroot + chosen.root,
    ] + ["--gcc-install-dir=" + folder for folder in gcc] + [
        "-resource-dir=" + resources,
        "-no-canonical-prefixes",
        "--no-default-config",
    ] + chosen.flags
    return cc_common.create_cc_toolchain_config_info(
        ctx = ctx,
        toolchain_identifier = identifier,
        target_system_name = chosen.triple,
        target_cpu = chosen.bazel_cpu,
        target_libc = chosen.libc,
        compiler = "clang",
        abi_version = "gcc",
        abi_libc_version = chosen.libc,
        cxx_builtin_include_directories = [
            "%workspace%/" + directory
            for directory in [
                resources + "/include",
                sysroot + "/" + chosen.include,
            ] + [folder + "/include" for folder in gcc]
        ],
        features = _features(flags, linker, copts),
        **tools
    )

def _clang_toolchain_config_impl(ctx):
    # Tool paths are taken relative to the toolchain's package, which is the top of the LLVM tree.
    tools = ctx.file.clang.short_path.split("/", 2)[2].rpartition("/")[0]
    return _info(
        ctx,
        identifier = "clang_debian12_" + HOST,
        linker = ["-fuse-ld=lld"],
        tool_paths = [
            tool_path(name = name, path = tools + "/" + program)
            for name, program in _TOOLS.items()
        ] + [tool_path(name = name, path = "/bin/false") for name in ["dwp", "gcov", "llvm-cov", "llvm-profdata"]],
    )

# What Bazel lets an action take its files, libraries and options from; it would be implied had we named paths and not files.
_IMPLIED_BY_COMPILE = [
    "legacy_compile_flags",
    "user_compile_flags",
    "sysroot",
    "unfiltered_compile_flags",
    "compiler_input_flags",
    "compiler_output_flags",
]
_IMPLIED_BY_LINK = [
    "strip_debug_symbols",
    "linkstamps",
    "output_execpath_flags",
    "runtime_library_search_directories",
    "library_search_directories",
    "libraries_to_link",
    "user_link_flags",
    "legacy_link_flags",
    "linker_param_file",
    "sysroot",
]

def _actions(names, program, implies, flag_sets = []):
    return [
        action_config(action_name = name, tools = [tool(tool = program)], implies = implies, flag_sets = flag_sets)
        for name in names
    ]

def _strip_flags():
    return [flag_set(flag_groups = [
        flag_group(flags = ["-S", "-p", "-o", "%{output_file}"]),
        flag_group(flags = ["%{stripopts}"], iterate_over = "stripopts"),
        flag_group(flags = ["%{input_file}"]),
    ])]

def _policy_toolchain_config_impl(ctx):
    clang = ctx.file.compiler
    return _info(
        ctx,
        identifier = "mlgo_clang_debian12_" + ctx.attr.target,
        linker = ["--ld-path=" + ctx.file._linker.path],
        target = ctx.attr.target,
        copts = ctx.attr.copts,
        # Files and not paths: paths must not leave the toolchain's package, which may be in another module.
        action_configs = (
            _actions(_COMPILE, clang, _IMPLIED_BY_COMPILE) +
            _actions(_LINK_EXECUTABLE, clang, _IMPLIED_BY_LINK + ["force_pic_flags"]) +
            _actions(_LINK_SHARED, clang, _IMPLIED_BY_LINK + ["shared_flag"]) +
            _actions([ACTION_NAMES.cpp_link_static_library], ctx.file._archiver, ["archiver_flags", "linker_param_file"]) +
            _actions([ACTION_NAMES.strip], ctx.file._strip, [], _strip_flags()) +
            _actions([ACTION_NAMES.objcopy_embed_data], ctx.file._objcopy, [])
        ),
    )

_TREES = {
    "resource_directory": attr.label(doc = "clang's own headers.", allow_single_file = True, mandatory = True),
    "sysroot": attr.label(doc = "The directory `usr` of the sysroot.", allow_single_file = True, mandatory = True),
}

clang_toolchain_config = rule(
    implementation = _clang_toolchain_config_impl,
    doc = "Flags and tools of the packaged clang's toolchain; every path in them is relative to Bazel's execution root.",
    attrs = dict(
        _TREES,
        clang = attr.label(doc = "The clang program in the LLVM tree; the other tools lie beside it.", allow_single_file = True, mandatory = True),
    ),
    provides = [CcToolchainConfigInfo],
)

policy_toolchain_config = rule(
    implementation = _policy_toolchain_config_impl,
    doc = "The same flags with another clang, wherever it is built, and `copts`; linker and archiver are those of the LLVM that it is made of.",
    attrs = dict(
        _TREES,
        compiler = attr.label(doc = "The clang program.", allow_single_file = True, cfg = "exec", mandatory = True),
        copts = attr.string_list(doc = "Flags that switch its policies on."),
        target = attr.string(doc = "What it compiles for, whose `sysroot` must be given.", default = HOST, values = TARGETS.keys()),
        _archiver = attr.label(default = "@llvm//:llvm-ar", allow_single_file = True, cfg = "exec"),
        _linker = attr.label(default = "@llvm//:ld.lld", allow_single_file = True, cfg = "exec"),
        _objcopy = attr.label(default = "@llvm//:llvm-objcopy", allow_single_file = True, cfg = "exec"),
        _strip = attr.label(default = "@llvm//:llvm-strip", allow_single_file = True, cfg = "exec"),
    ),
    provides = [CcToolchainConfigInfo],
)
