"""The targets that toolchains compile for: Debian 12 on each of them."""

# Key of TARGETS: the machine that builds.
HOST = "x86_64"

def _cross(triple, bazel_cpu, constraints, architecture, flags = []):
    """A target whose headers and libraries are Debian's cross packages, each below a folder that is named after the triple."""
    return struct(
        triple = triple,
        gcc = "usr/lib/gcc-cross/%s/12" % triple,
        include = "usr/%s/include" % triple,
        bazel_cpu = bazel_cpu,
        constraints = constraints,
        architecture = architecture,
        flags = flags,
    )

# Name -> struct: `triple`; `gcc` and `include`, folders in the sysroot; `bazel_cpu`, Bazel's name of the processor; `constraints` of the
# platform; `architecture`, Debian's name of it; `flags` of every compile and link.
TARGETS = {
    HOST: struct(
        triple = "x86_64-linux-gnu",
        gcc = "usr/lib/gcc/x86_64-linux-gnu/12",
        include = "usr/include",
        bazel_cpu = "k8",
        constraints = ["@platforms//os:linux", "@platforms//cpu:x86_64"],
        architecture = "amd64",
        flags = [],
    ),
    "aarch64": _cross(
        "aarch64-linux-gnu",
        "aarch64",
        ["@platforms//os:linux", "@platforms//cpu:aarch64"],
        "arm64",
    ),
    # Debian's armhf is Armv7-A with VFPv3-D16; its code is Thumb-2 as here.
    "armv7_thumb": _cross(
        "arm-linux-gnueabihf",
        "armv7",
        ["@platforms//os:linux", "@platforms//cpu:armv7"],
        "armhf",
        ["-march=armv7-a", "-mfpu=vfpv3-d16", "-mthumb"],
    ),
    "riscv64": _cross(
        "riscv64-linux-gnu",
        "riscv64",
        ["@platforms//os:linux", "@platforms//cpu:riscv64"],
        "riscv64",
    ),
}

# Those that this machine does not run.
CROSS_TARGETS = [name for name in TARGETS if name != HOST]
