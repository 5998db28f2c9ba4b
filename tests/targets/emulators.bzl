"""The targets of //platforms whose programs run here, and with which emulator."""

EMULATORS = {
    "aarch64": "@qemu//:qemu-aarch64",
    "armv7_thumb": "@qemu//:qemu-arm",
    "riscv64": "@qemu//:qemu-riscv64",
}

# Counts what such a program executes.
PLUGIN = "//mlgo/evaluation/programs/plugin:libcount_plugin.so"
