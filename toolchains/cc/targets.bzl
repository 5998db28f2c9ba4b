"""The targets that toolchains compile for: Debian 12 on each of them, and processors without an operating system."""

load("@debian_host//:host.bzl", "CPU", "MULTIARCH")
load(":cross_targets.bzl", _CROSS_TARGETS = "CROSS_TARGETS")

# Key of TARGETS: the host, x86_64 or aarch64.
HOST = CPU

# Bazel's older name of a processor, where it has another one.
_BAZEL_CPU = {"x86_64": "k8"}

# Name -> struct: `triple`; `root`, what clang takes for the sysroot, below the folder of `usr`; `gcc` and
# `include`, folders beside `usr` or None; `libc`, the C library; `bazel_cpu`, Bazel's name of the processor; `constraints` of the platform;
# `flags` of every compile and link.
TARGETS = {
    HOST: struct(
        triple = MULTIARCH,
        root = "",
        gcc = "usr/lib/gcc/%s/12" % MULTIARCH,
        include = "usr/include",
        libc = "glibc_2.36",
        bazel_cpu = _BAZEL_CPU.get(HOST, HOST),
        constraints = ["@platforms//os:linux", "@platforms//cpu:" + HOST],
        flags = [],
    ),
} | {
    name: target
    for name, target in _CROSS_TARGETS.items()
    if name != HOST
}

# Those that the host does not run.
CROSS_TARGETS = [name for name in TARGETS if name != HOST]

# Those without an operating system.
BARE_TARGETS = [name for name in CROSS_TARGETS if not TARGETS[name].gcc]

# Those that programs are built for.
LINUX_TARGETS = [name for name in CROSS_TARGETS if TARGETS[name].gcc]

def platform_of(target):
    """The name in //platforms of a key of TARGETS."""
    return ("bare_" if target in BARE_TARGETS else "linux_") + target
