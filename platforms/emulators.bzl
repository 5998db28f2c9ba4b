"""The emulators that run programs of the targets in //platforms on the machine that builds."""

# Name of a target -> struct: `program`, QEMU's user mode; `flags`: the processor, so that a C library does not choose code of another one.
EMULATORS = {
    "aarch64": struct(
        program = "@qemu//:qemu-aarch64",
        flags = ["-cpu", "cortex-a72"],
    ),
    "armv7_thumb": struct(
        program = "@qemu//:qemu-arm",
        flags = ["-cpu", "cortex-a15"],
    ),
    "riscv64": struct(
        program = "@qemu//:qemu-riscv64",
        flags = ["-cpu", "rv64"],
    ),
}
