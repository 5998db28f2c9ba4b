"""The targets that toolchains compile for: Debian 12 on each of them, and processors without an operating system."""

load("@debian_host//:host.bzl", "CPU", "MULTIARCH")

# Key of TARGETS: the host, x86_64 or aarch64.
HOST = CPU

# Bazel's older name of a processor, where it has another one.
_BAZEL_CPU = {"x86_64": "k8"}

def _cross(triple, bazel_cpu, constraints, flags = []):
    """A target whose headers and libraries are Debian's cross packages, each below a folder that is named after the triple."""
    return struct(
        triple = triple,
        root = "",
        gcc = "usr/lib/gcc-cross/%s/12" % triple,
        include = "usr/%s/include" % triple,
        libc = "glibc_2.36",
        bazel_cpu = bazel_cpu,
        constraints = constraints,
        flags = flags,
    )

def _bare(triple, packaged, bazel_cpu, cpu, flags):
    """A target with picolibc's headers in place of a system. C for corpora: programs are not linked."""
    root = "usr/lib/picolibc/" + packaged
    return struct(
        triple = triple,
        root = "/" + root,
        gcc = None,
        include = root + "/include",
        libc = "picolibc_1.8",
        bazel_cpu = bazel_cpu,
        constraints = ["@platforms//os:none", "@platforms//cpu:" + cpu],
        flags = flags,
    )

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
} | ({} if HOST == "aarch64" else {
    "aarch64": _cross(
        "aarch64-linux-gnu",
        "aarch64",
        ["@platforms//os:linux", "@platforms//cpu:aarch64"],
    ),
}) | {
    # Debian's armhf is Armv7-A with VFPv3-D16; its code is Thumb-2 as here.
    "armv7_thumb": _cross(
        "arm-linux-gnueabihf",
        "armv7",
        ["@platforms//os:linux", "@platforms//cpu:armv7"],
        ["-march=armv7-a", "-mfpu=vfpv3-d16", "-mthumb"],
    ),
    "riscv64": _cross(
        "riscv64-linux-gnu",
        "riscv64",
        ["@platforms//os:linux", "@platforms//cpu:riscv64"],
    ),
    # Cortex-M4 with its floating point unit.
    "thumbv7em": _bare(
        "thumbv7em-none-eabihf",
        "arm-none-eabi",
        "armv7",
        "armv7e-m",
        ["-mcpu=cortex-m4"],
    ),
    "riscv32": _bare(
        "riscv32-unknown-elf",
        "riscv64-unknown-elf",
        "riscv32",
        "riscv32",
        ["-march=rv32imac", "-mabi=ilp32"],
    ),
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
