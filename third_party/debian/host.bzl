"""The host as a repository, for BUILD files and rules that must know it while they are loaded."""

load(":architecture.bzl", "architecture_named", "filled_for")

_HOST = '''"""The host that packages are unpacked for; see //third_party/debian:architecture.bzl."""

# Bazel's name of its processor in @platforms, and the folder of its libraries below usr/lib.
CPU = "{cpu}"
MULTIARCH = "{multiarch}"
'''

def _debian_host_impl(rctx):
    architecture, error = architecture_named("architecture", rctx.attr.architecture)
    if error:
        fail(error)
    rctx.file("host.bzl", filled_for(architecture, _HOST), executable = False)
    rctx.file("BUILD.bazel", "exports_files([\"host.bzl\"])\n", executable = False)

debian_host = repository_rule(
    implementation = _debian_host_impl,
    doc = "host.bzl with CPU and MULTIARCH of the host.",
    attrs = {
        "architecture": attr.string(doc = "Its name in ARCHITECTURES.", mandatory = True),
    },
)
