"""Configuration of a C++ toolchain whose compiler calls itself gcc, for the test that it is refused."""

load("@rules_cc//cc/common:cc_common.bzl", "cc_common")

visibility(["//mlgo/corpus/..."])

def _gcc_toolchain_config_impl(ctx):
    return cc_common.create_cc_toolchain_config_info(
        ctx = ctx,
        toolchain_identifier = "gcc_for_tests",
        target_system_name = "x86_64-linux-gnu",
        target_cpu = "k8",
        target_libc = "glibc",
        compiler = "gcc",
        abi_version = "gcc",
        abi_libc_version = "glibc",
    )

gcc_toolchain_config = rule(
    implementation = _gcc_toolchain_config_impl,
    doc = "A toolchain with nothing in it.",
    provides = [CcToolchainConfigInfo],
)
