"""`chromium_corpus`: targets of Chromium as an mlgo corpus, with the arguments that a release is built with.

`chromium_project`: the same as attributes, for rules that build something else.
"""

load("@llvm//:chosen.bzl", "CHOSEN")
load("//mlgo/corpus:defs.bzl", "mlgo_gn_corpus")

# What a release of Chromium sets, and what a compiler and a C++ library that are not Chromium's own need. Source of both:
# debian/rules of the source package, and build/config/*.gni of the tree.
_ARGUMENTS = {
    "chrome_pgo_phase": "0",
    "clang_base_path": "\"//mlgo_toolchain/llvm\"",
    # Chromium's plugins and warnings are for its own clang.
    "clang_use_chrome_plugins": "false",
    "clang_version": "\"{}\"".format(CHOSEN["major"]),
    "clang_warning_suppression_file": "\"\"",
    # One toolchain for everything: compilers as the environment names them.
    "custom_toolchain": "\"//build/toolchain/linux/unbundle:default\"",
    "host_cpu": "\"x64\"",
    "host_toolchain": "\"//build/toolchain/linux/unbundle:default\"",
    "is_cfi": "false",
    "is_debug": "false",
    "is_official_build": "true",
    "symbol_level": "0",
    "target_sysroot": "\"//mlgo_toolchain/sysroot\"",
    "treat_warnings_as_errors": "false",
    "use_custom_libcxx": "false",
    "use_glib": "false",
    "use_sysroot": "true",
}

_TOOLCHAIN = "../../mlgo_toolchain"

# What lies there. clang finds its headers from where it is started.
_TOOLCHAIN_FILES = dict(
    {"@llvm//:" + tool: "llvm/bin/" + tool for tool in ["clang", "clang++", "ld.lld", "lld", "llvm-ar", "llvm-nm"]},
    **{
        # Where clang_base_path has it; Chromium's targets name it as an input.
        "@clang_builtins//:archive": "llvm/lib/clang/{}/lib/linux/libclang_rt.builtins-x86_64.a".format(CHOSEN["major"]),
        "@libcxx19//:libcxx": "libcxx",
        "@llvm//:resource_include": "llvm/lib/clang/{}/include".format(CHOSEN["major"]),
        "@sysroot//:lib": "sysroot/lib",
        "@sysroot//:lib64": "sysroot/lib64",
        "@sysroot//:usr": "sysroot/usr",
    }
)

# The driver adds it to links with -fprofile-generate.
_TOOLCHAIN_FILES_OF_INSTRUMENTATION = {
    "@profile_runtime//:archive": "llvm/lib/clang/{}/lib/linux/libclang_rt.profile-x86_64.a".format(CHOSEN["major"]),
}

_PROFILE = "profile.profdata"

# Every compile with a profile depends on the file that says which profile of Google's to download. The profile stands for it.
_NAME_OF_PROFILE = "chrome/build/linux.pgo.txt"

# The options of every compile, after Chromium's own.
_CXX = "-nostdinc++ -isystem {}/libcxx/include/c++/v1".format(_TOOLCHAIN)
_LINK = "-nostdlib++ -L{}/libcxx/lib -l:libc++.a -l:libc++abi.a".format(_TOOLCHAIN)

# Debian's libc++.a holds libc++abi. Chromium links with --lto-O0 what it does not ship; what it ships with 2.
_LINK_WITH_THINLTO = "-nostdlib++ -L{}/libcxx/lib -Wl,--push-state,--no-whole-archive -l:libc++.a -Wl,--pop-state -Wl,--lto-O2".format(_TOOLCHAIN)

# For links during the build. Debian's patches name its own linker; the link's table of contents is read with GNU's name of the tool.
_TOOLCHAIN_FILES_OF_LINKS = {
    "//third_party/chromium:ld.lld": "llvm/bin/ld.lld-19",
    "@llvm//:llvm-readelf": "llvm/bin/readelf",
}

# What //base and all above it need. Parts of it are written in Rust: their C++ sides are generated, by tools that are built on the way.
_BASE_ARGUMENTS = {
    "rust_bindgen_root": "\"//mlgo_toolchain/rust\"",
    "rust_sysroot_absolute": "\"//mlgo_toolchain/rust\"",
    "rustc_version": "\"rustc-1.85.0\"",
}

_BASE_TOOLCHAIN_FILES = {
    "//third_party/chromium:double_conversion": "archives/libdouble-conversion.a",
    "@chromium_rust//:rust": "rust",
    "@chromium_system_libraries//:libraries": "system",
}

# The browser as Debian builds it (debian/rules), without the system services whose headers are not in its sysroot.
_BROWSER_ARGUMENTS = dict(
    {
        "ffmpeg_branding": "\"Chrome\"",
        "system_libdir": "\"lib/x86_64-linux-gnu\"",
    } | {name: "true" for name in [
        "disable_fieldtrial_testing_config",
        "enable_widevine",
        "icu_use_data_file",
        "proprietary_codecs",
        "use_system_freetype",
        "use_system_harfbuzz",
        "use_system_lcms2",
        "use_system_libjpeg",
        "use_system_libopenjpeg2",
        "use_system_libpng",
        "use_system_zlib",
        "v8_enable_backtrace",
    ]} | {name: "false" for name in [
        "angle_build_tests",
        "angle_has_histograms",
        "build_dawn_tests",
        "enable_enterprise_companion",
        "enable_hangout_services_extension",
        "enable_nocompile_tests",
        "enable_perfetto_unittests",
        "enable_screen_ai_browsertests",
        "enable_vr",
        "optimize_webui",
        "rtc_use_pipewire",
        "rtc_video_psnr",
        "safe_browsing_use_unrar",
        "skia_enable_skshaper_tests",
        "tint_build_unittests",
        "use_alsa",
        "use_cups",
        "use_gio",
        "use_gtk",
        "use_kerberos",
        "use_libpci",
        "use_pulseaudio",
        "use_qt5",
        "use_qt6",
        "use_system_libtiff",
        "use_udev",
        "use_vaapi",
        "webnn_use_litert",
        "webnn_use_tflite",
    ]},
)

# In place of @sysroot, and a program that gn starts.
_BROWSER_TOOLCHAIN_FILES = {
    "@chromium_complete//:pkg_config": "programs/pkg-config",
    "@chromium_complete//:sysroot_lib": "sysroot/lib",
    "@chromium_complete//:sysroot_lib64": "sysroot/lib64",
    "@chromium_complete//:sysroot_usr": "sysroot/usr",
}

# Where debian/rules puts them.
_DEVTOOLS = "third_party/devtools-frontend/src/"
_BROWSER_PLACED = {
    "@chromium_complete//:rollup3": _DEVTOOLS + "node_modules/rollup3",
    "@chromium_complete//:esbuild": _DEVTOOLS + "third_party/esbuild/esbuild",
    "@chromium_complete//:esbuild_package": _DEVTOOLS + "node_modules/esbuild",
    "@chromium_complete//:gperf": "third_party/gperf/cipd/bin/gperf",
    "@chromium_complete//:rollup": "third_party/node/node_modules/rollup",
    "@chromium_complete//:node": "third_party/node/linux/node-linux-x64/bin/node",
}

# Scripts there compare where they lie with paths in the build folder, or find placed files from there.
_BROWSER_COPIED = [
    _DEVTOOLS + "scripts",
    "tools/metrics",
    "tools/protoc_wrapper",
    "tools/typescript",
]

# Placed programs are links: Node.js is to look for packages where it is told to, not where links lead.
_NODE_OPTIONS = "--preserve-symlinks --preserve-symlinks-main"

# d8 in release mode as V8's own checkout builds it, with these differences.
V8_ARGUMENTS = {
    # Valgrind, which counts what d8 executes, cannot reserve the larger cage, nor the sandbox's terabyte of address space.
    "cppgc_enable_larger_cage": "false",
    "v8_enable_sandbox": "false",
    # Temporal is written in Rust; ICU, zlib, PartitionAlloc and FuzzTest would add modules that are not V8's.
    "enable_rust": "false",
    "icu_use_data_file": "false",
    "v8_enable_fuzztest": "false",
    "v8_enable_i18n_support": "false",
    "v8_enable_partition_alloc": "false",
    "v8_enable_temporal_support": "false",
    "v8_use_zlib": "false",
    # Sources that include the same headers are compiled together, as V8 offers it for machines with few cores.
    "v8_enable_cluster_build": "true",
    # The snapshot is a part of d8.
    "v8_use_external_startup_data": "false",
}

_SYSTEM_HEADERS = "-isystem {}/system/include".format(_TOOLCHAIN)

# The first one has the archives that Debian's are replaced by.
_SYSTEM_ARCHIVES = "-L{0}/archives -L{0}/system/lib/x86_64-linux-gnu".format(_TOOLCHAIN)

# A library that is linked for its modules exports what it has; hidden symbols without callers would be dropped.
_EXPORTED = "-fvisibility=default"

def environment(linked, with_base = False, with_browser = False, program = None):
    """What the toolchain //build/toolchain/linux/unbundle reads.

    Args:
      linked: for a ThinLTO link.
      with_base: the targets need what //base needs.
      with_browser: the targets need what //chrome needs.
      program: that is linked; None: a library.

    Returns:
      Environment variables; paths count from the build folder.
    """
    compile = (" " + _SYSTEM_HEADERS if with_base else "") + (" " + _EXPORTED if linked and not program else "")
    link = _SYSTEM_ARCHIVES + " " if with_base else ""
    return ({"NODE_OPTIONS": _NODE_OPTIONS} if with_browser else {}) | {
        # By name: Debian's gn cannot say that a tool depends on the file of its archiver.
        "AR": "llvm-ar",
        "CC": _TOOLCHAIN + "/llvm/bin/clang",
        "CFLAGS": compile.strip(),
        "CXX": _TOOLCHAIN + "/llvm/bin/clang++",
        "CXXFLAGS": _CXX + compile,
        "LDFLAGS": link + (_LINK_WITH_THINLTO if linked else _LINK),
        "NM": "llvm-nm",
    }

def gn_arguments(linked, chrome_pgo_phase, profile, given, with_base = False, with_browser = False):
    """The arguments of a corpus.

    Args:
      linked: take modules of a ThinLTO link, not objects with bitcode inside.
      chrome_pgo_phase: 0 for none, 1 for programs that write counts for a profile, 2 to use a profile.
      profile: name of the profile below //mlgo_toolchain, or "".
      given: arguments that count before all others.
      with_base: the targets need what //base needs.
      with_browser: the targets need what //chrome needs.

    Returns:
      Names and values as gn writes them.
    """
    arguments = dict(_ARGUMENTS, chrome_pgo_phase = str(chrome_pgo_phase), use_thin_lto = "true" if linked else "false")
    if linked:
        arguments.update({
            "lld_emit_index": "true",
            "thin_lto_enable_cache": "false",
        })
    else:
        arguments["clang_embed_bitcode"] = "true"
    if with_base:
        arguments.update(_BASE_ARGUMENTS)
    if with_browser:
        arguments.update(_BROWSER_ARGUMENTS)
    if profile:
        arguments["pgo_data_path"] = "\"//mlgo_toolchain/{}\"".format(profile)
    arguments.update(given)
    return arguments

def chromium_corpus(
        name,
        tree = "@chromium_libraries",
        targets = ["//third_party/abseil-cpp:absl", "//third_party/boringssl", "//third_party/re2"],
        gn_args = {},
        chrome_pgo_phase = 0,
        profile = None,
        linked = False,
        with_base = False,
        with_browser = False,
        with_programs = False,
        program = None,
        srcs = {},
        **kwargs):
    """A corpus of targets of Chromium, compiled by the packaged clang.

    Args:
      name: of the corpus.
      tree: repository of a tree: @chromium_libraries, @chromium_base, @chromium_complete, or one of a `chromium.tree` tag.
      targets: gn labels; the tree must have all that they need.
      gn_args: further arguments, values as gn writes them; they count before ours.
      chrome_pgo_phase: 1 instruments programs, which then write the counts for a profile; 2 uses `profile`. The source package has no
        profiles, so the default is 0.
      profile: label of an indexed profile (.profdata) that this LLVM reads; it is carried into the corpus.
      linked: link with ThinLTO, as a library or as `program`, and take the modules as they are after importing.
      with_base: add what //base and all above it need: Rust, system libraries, and the tools that link generators of code.
      with_browser: add what //chrome needs besides: Node.js, rollup, esbuild, gperf, and headers of system libraries.
      with_programs: the targets are, or are made by, programs that the build links; with_base includes it.
      program: path, in gn's folder, of a program that the targets link. It is kept (mlgo_gn_program), unless `linked`.
      srcs: files that the build sees in //mlgo_programs, each with its name there; BUILD.gn declares targets of yours.
      **kwargs: common attributes; not `path` and `env` of mlgo_gn_corpus.
    """
    if bool(profile) != (chrome_pgo_phase == 2):
        fail("%s: chrome_pgo_phase = 2 needs a profile, and a profile needs it. Give both, or neither." % name)
    project = chromium_project(tree, gn_args, linked, chrome_pgo_phase, profile, with_base, with_browser, with_programs, program)
    if srcs:
        # No fingerprints: Ninja compiles those that changed.
        project["placed"] = project["placed"] | {file: "mlgo_programs/" + name for file, name in srcs.items()}
    mlgo_gn_corpus(
        name = name,
        # Chromium's links of shared libraries take whole archives, except of Rust's library, which does not link as a whole.
        library_flags = ["-Wl,-Bsymbolic"],
        licence = kwargs.pop("licence", "BSD-3-Clause AND Apache-2.0"),
        linked = linked,
        program = program or "",
        tags = kwargs.pop("tags", []) + ["manual"],
        targets = targets,
        **(project | kwargs)
    )

def chromium_project(
        tree,
        gn_args,
        linked = False,
        chrome_pgo_phase = 0,
        profile = None,
        with_base = False,
        with_browser = False,
        with_programs = False,
        program = None):
    """The attributes of mlgo_gn_corpus and mlgo_gn_programs that describe Chromium and how it is compiled.

    Args:
      tree: see chromium_corpus, as all others.
      gn_args: see there.
      linked: see there.
      chrome_pgo_phase: see there.
      profile: see there.
      with_base: see there.
      with_browser: see there.
      with_programs: see there.
      program: see there.

    Returns:
      Names and values of attributes.
    """
    with_base = with_base or with_browser
    toolchain = dict(_TOOLCHAIN_FILES, **(_TOOLCHAIN_FILES_OF_LINKS if linked or with_base or with_programs else {}))
    if with_base:
        toolchain.update(_BASE_TOOLCHAIN_FILES)
    if chrome_pgo_phase == 1:
        toolchain.update(_TOOLCHAIN_FILES_OF_INSTRUMENTATION)
    if with_browser:
        toolchain = {label: path for label, path in toolchain.items() if not path.startswith("sysroot/")} | _BROWSER_TOOLCHAIN_FILES
    if profile:
        toolchain[profile] = _PROFILE
    return dict(
        copied = _BROWSER_COPIED if with_browser else [],
        env = environment(linked, with_base, with_browser, program),
        gn = "@gn_tools//:gn",
        gn_args = gn_arguments(linked, chrome_pgo_phase, _PROFILE if profile else "", gn_args, with_base, with_browser),
        fingerprints = [
            tree + "//:source.json",
            Label("//third_party/chromium:toolchain"),
        ] + ([
            "@chromium_rust//:fingerprints.json",
            Label("//third_party/chromium:system_libraries"),
        ] if with_base else []) + ([
            "@chromium_complete//:browser_packages",
            Label("//toolchains/python:requirements_node_lock.txt"),
        ] if with_browser else []),
        ninja = "@gn_tools//:ninja",
        path = ["llvm/bin"] + (["programs"] if with_browser else []),
        placed = (_BROWSER_PLACED if with_browser else {}) | ({profile: _NAME_OF_PROFILE} if profile else {}),
        toolchain = toolchain,
        tools = [
            "@gn_tools//:runtime",
            "@llvm//:all_tools",
            "@python311//:files",
            "@sysroot",
        ] + (["@chromium_complete//:runtime"] if with_browser else []),
        tree = tree + "//:tree",
    )
