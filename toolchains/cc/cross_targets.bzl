"""The targets other than the host, with Debian's packages of their headers and libraries. A new target is an entry here (targets.bzl has the rest)."""

def _linux(triple, debian, bazel_cpu, cpu, flags = []):
    """Debian 12: `debian` is the suffix of its cross packages, which are below folders that are named after the triple."""
    gcc = "usr/lib/gcc-cross/%s/12" % triple
    return struct(
        triple = triple,
        root = "",
        gcc = gcc,
        include = "usr/%s/include" % triple,
        libc = "glibc_2.36",
        bazel_cpu = bazel_cpu,
        constraints = ["@platforms//os:linux", "@platforms//cpu:" + cpu],
        flags = flags,
        packages = sorted([
            "{}-{}-cross".format(package, debian)
            for package in [
                "libc6",
                "libc6-dev",
                "libgcc-12-dev",
                "libgcc-s1",
                "libstdc++-12-dev",
                "libstdc++6",
                "linux-libc-dev",
            ]
        ]),
        exclude = [
            gcc + "/lib*san*",
            # Links to libraries of packages that are not here.
            gcc + "/libatomic.so",
            gcc + "/libgomp.so",
            gcc + "/libitm.so",
            "usr/%s/lib/audit/*" % triple,
            "usr/%s/lib/gconv/*" % triple,
        ],
    )

def _bare(triple, packaged, bazel_cpu, cpu, flags):
    """A processor without an operating system: picolibc's headers. C for corpora: programs are not linked."""
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
        packages = ["picolibc-" + packaged],
        exclude = [root + "/lib/*"],
    )

# Name -> struct: the fields of targets.bzl, and `packages` of //third_party/debian:packages.json with what of them is left out of
# @sysroot_NAME, `exclude`.
CROSS_TARGETS = {
    "aarch64": _linux(
        "aarch64-linux-gnu",
        "arm64",
        "aarch64",
        "aarch64",
    ),
    # Debian's armhf is Armv7-A with VFPv3-D16; its code is Thumb-2 as here.
    "armv7_thumb": _linux(
        "arm-linux-gnueabihf",
        "armhf",
        "armv7",
        "armv7",
        ["-march=armv7-a", "-mfpu=vfpv3-d16", "-mthumb"],
    ),
    "riscv64": _linux(
        "riscv64-linux-gnu",
        "riscv64",
        "riscv64",
        "riscv64",
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
