"""The host as a repository, for BUILD files and rules that must know it while they are loaded."""

load(":architecture.bzl", "ARCHITECTURES")

_HOST = '''"""The host that packages are unpacked for; see //third_party/debian:architecture.bzl."""

# Bazel's name of its processor in @platforms, and the folder of its libraries below usr/lib.
CPU = "{cpu}"
MULTIARCH = "{multiarch}"
'''

def _debian_host_impl(rctx):
    for architecture in ARCHITECTURES:
        if architecture.name == rctx.attr.architecture:
            rctx.file("host.bzl", _HOST.format(cpu = architecture.cpu, multiarch = architecture.multiarch), executable = False)
    rctx.file("BUILD.bazel", "exports_files([\"host.bzl\"])\n", executable = False)

debian_host = repository_rule(
    implementation = _debian_host_impl,
    doc = "host.bzl with CPU and MULTIARCH of the host.",
    attrs = {
        "architecture": attr.string(doc = "Its name in ARCHITECTURES.", mandatory = True),
    },
)
