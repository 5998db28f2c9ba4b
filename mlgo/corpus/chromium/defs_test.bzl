"""Tests of the arguments that a corpus of Chromium is built with."""

load("@bazel_skylib//lib:unittest.bzl", "asserts", "unittest")
load(":defs.bzl", "V8_ARGUMENTS", "chromium_project", "environment", "gn_arguments")

def _defs_test_impl(ctx):
    env = unittest.begin(ctx)
    embedded = gn_arguments(False, 0, "", {})
    asserts.equals(env, "true", embedded["clang_embed_bitcode"])
    asserts.equals(env, "false", embedded["use_thin_lto"])
    asserts.true(env, "rust_sysroot_absolute" not in embedded)
    asserts.equals(env, "\"//mlgo_toolchain/rust\"", gn_arguments(False, 0, "", {}, with_base = True)["rust_sysroot_absolute"])
    asserts.true(env, "pgo_data_path" not in embedded and "lld_emit_index" not in embedded)
    linked = gn_arguments(True, 2, "profile.profdata", {"symbol_level": "1"})
    asserts.equals(env, "true", linked["lld_emit_index"])
    asserts.equals(env, "true", linked["use_thin_lto"])
    asserts.equals(env, "2", linked["chrome_pgo_phase"])
    asserts.equals(env, "\"//mlgo_toolchain/profile.profdata\"", linked["pgo_data_path"])
    asserts.equals(env, "1", linked["symbol_level"])
    asserts.true(env, "clang_embed_bitcode" not in linked)
    asserts.true(env, "/system/include" in environment(False, with_base = True)["CFLAGS"])
    browser = gn_arguments(False, 0, "", {"use_gtk": "true"}, with_browser = True)
    asserts.equals(env, "\"lib/x86_64-linux-gnu\"", browser["system_libdir"])
    asserts.equals(env, ["true", "false"], [browser["use_gtk"], browser["use_qt6"]])
    asserts.true(env, "use_gtk" not in gn_arguments(False, 0, "", {}, with_base = True))
    asserts.true(env, "NODE_OPTIONS" not in environment(False, with_base = True))
    asserts.true(env, "--preserve-symlinks" in environment(False, with_browser = True)["NODE_OPTIONS"])
    for is_linked in [True, False]:
        asserts.false(env, "/system/" in environment(is_linked)["CXXFLAGS"] + environment(is_linked)["LDFLAGS"])
        asserts.equals(env, is_linked, "-fvisibility=default" in environment(is_linked)["CXXFLAGS"])
        asserts.equals(env, is_linked, "--lto-O2" in environment(is_linked)["LDFLAGS"])
        for value in environment(is_linked).values():
            asserts.false(env, value.startswith("/"), value)

    # V8 alone: no Rust and no ICU, and a linker under the name that Debian's patches give it.
    shell = chromium_project("@chromium_v8", V8_ARGUMENTS, with_programs = True)
    asserts.equals(env, "false", shell["gn_args"]["enable_rust"])
    asserts.equals(env, "true", shell["gn_args"]["clang_embed_bitcode"])
    asserts.true(env, "llvm/bin/ld.lld-19" in shell["toolchain"].values())
    asserts.true(env, "rust" not in shell["toolchain"].values())
    asserts.true(env, "llvm/bin/ld.lld-19" not in chromium_project("@chromium_libraries", {})["toolchain"].values())

    # A program keeps what is called; a library has to export it.
    linked_shell = chromium_project("@chromium_v8", V8_ARGUMENTS, linked = True, with_programs = True, program = "d8")
    asserts.equals(env, "true", linked_shell["gn_args"]["use_thin_lto"])
    asserts.false(env, "-fvisibility=default" in linked_shell["env"]["CXXFLAGS"])
    asserts.true(env, "--lto-O2" in linked_shell["env"]["LDFLAGS"])

    profiled = chromium_project("@chromium_v8", V8_ARGUMENTS, chrome_pgo_phase = 2, profile = ":d8.profdata")
    asserts.equals(env, {":d8.profdata": "chrome/build/linux.pgo.txt"}, profiled["placed"])
    asserts.equals(env, "profile.profdata", profiled["toolchain"][":d8.profdata"])

    # Only instrumented programs are linked with LLVM's library of counters.
    for phase in [0, 1]:
        files = chromium_project("@chromium_v8", V8_ARGUMENTS, chrome_pgo_phase = phase, with_programs = True)["toolchain"].values()
        asserts.equals(env, phase == 1, any([path.endswith("libclang_rt.profile-x86_64.a") for path in files]))
    return unittest.end(env)

defs_test = unittest.make(_defs_test_impl)
