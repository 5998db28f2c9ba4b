"""The targets that toolchains compile for: Debian 12 on each of them, and processors without an operating system."""

load(":cross_targets.bzl", _CROSS_TARGETS = "CROSS_TARGETS")

# Key of TARGETS: the machine that builds.
HOST = "x86_64"

# Name -> struct: `triple`; `root`, what clang takes for the sysroot, below the folder of `usr`; `gcc` and
# `include`, folders beside `usr` or None; `libc`, the C library; `bazel_cpu`, Bazel's name of the processor; `constraints` of the platform;
# `flags` of every compile and link.
TARGETS = {
    HOST: struct(
        triple = "x86_64-linux-gnu",
        root = "",
        gcc = "usr/lib/gcc/x86_64-linux-gnu/12",
        include = "usr/include",
        libc = "glibc_2.36",
        bazel_cpu = "k8",
        constraints = ["@platforms//os:linux", "@platforms//cpu:x86_64"],
        flags = [],
    ),
} | _CROSS_TARGETS

# Those that the host does not run.
CROSS_TARGETS = _CROSS_TARGETS.keys()

# Those without an operating system.
BARE_TARGETS = [name for name in CROSS_TARGETS if not TARGETS[name].gcc]

# Those that programs are built for.
LINUX_TARGETS = [name for name in CROSS_TARGETS if TARGETS[name].gcc]

def platform_of(target):
    """The name in //platforms of a key of TARGETS."""
    return ("bare_" if target in BARE_TARGETS else "linux_") + target
