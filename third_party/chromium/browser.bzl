"""What //chrome needs besides //base: programs that its scripts start, and a sysroot with the headers of system libraries.

The repositories are visible through targets of @chromium_complete (BROWSER_BUILD), the only tree that needs them.
"""

load("//third_party/debian:entries.bzl", "entry_of")
load("//third_party/debian:messages.bzl", "missing_entry")
load("//third_party/debian:repositories.bzl", "debian_repository")
load("//toolchains/python:sites.bzl", "site_repository")

_GROUPS = {
    "chromium_programs": struct(
        build_file = "//third_party/chromium:programs.BUILD.bazel",
        exclude = [
            "etc/*",
            "usr/include/*",
            "usr/lib/ssl/*",
            "usr/share/[!n]*",
        ],
        rpath = ["usr/lib/x86_64-linux-gnu"],
    ),
    # @sysroot with the headers of all libraries that the browser takes from the system.
    "chromium_headers": struct(
        build_file = "//toolchains/cc:sysroot.BUILD.bazel",
        exclude = [
            "bin/*",
            "etc/*",
            "sbin/*",
            "usr/bin/*",
            "usr/lib/gcc/x86_64-linux-gnu/12/lib*san*",
            # Links to libraries of packages that are not here, as in @sysroot.
            "usr/lib/gcc/x86_64-linux-gnu/12/libatomic.so",
            "usr/lib/gcc/x86_64-linux-gnu/12/libgomp.so",
            "usr/lib/gcc/x86_64-linux-gnu/12/libitm.so",
            "usr/lib/gcc/x86_64-linux-gnu/12/libquadmath.so",
            "usr/lib/x86_64-linux-gnu/audit/*",
            "usr/lib/x86_64-linux-gnu/gconv/*",
            "usr/lib/x86_64-linux-gnu/libGL.so",
            "usr/lib/x86_64-linux-gnu/libGLX.so",
            "usr/sbin/*",
            # All but pkgconfig.
            "usr/share/[!p]*",
            "usr/share/p[!k]*",
            "var/*",
        ],
        rpath = [],
    ),
}

# Debian's Node.js reads /usr/share/nodejs and cannot be moved: this one comes from a wheel.
_NODE = "chromium_node"

_ALIASES = {
    "esbuild": "@chromium_programs//:esbuild",
    "esbuild_package": "@chromium_programs//:esbuild_package",
    "gperf": "@chromium_programs//:gperf",
    "node": "@" + _NODE + "//:node",
    "pkg_config": "@chromium_programs//:pkg_config",
    "rollup": "@chromium_programs//:rollup",
    # A second label of the same, for the browser needs it under two names.
    "rollup3": "@chromium_programs//:rollup",
    "runtime": "@chromium_programs//:runtime",
    "sysroot_lib": "@chromium_headers//:lib",
    "sysroot_lib64": "@chromium_headers//:lib64",
    "sysroot_usr": "@chromium_headers//:usr",
}

def browser_build(lock):
    """The text of the BUILD file of @chromium_complete that makes the repositories visible.

    Args:
      lock: decoded lock.json of third_party/debian.

    Returns:
      An alias for each file or folder, and `browser_packages`, a file with the digests of the packages.
    """
    digests = [json.decode(entry)["sha256"] for group in _GROUPS for entry in _group(lock, group)]
    text = "".join(["\nalias(\n    name = \"{}\",\n    actual = \"{}\",\n)\n".format(*pair) for pair in _ALIASES.items()])
    return text + """
genrule(
    name = "browser_packages",
    outs = ["browser_packages.txt"],
    cmd = "echo {} > $@",
)
""".format(" ".join(digests))

def browser_repositories(lock, patchelf):
    """Declares the repositories.

    Args:
      lock: decoded lock.json of third_party/debian.
      patchelf: see `patchelf_entries`.
    """
    for name, group in _GROUPS.items():
        debian_repository(
            name = name,
            build_file = group.build_file,
            entries = _group(lock, name),
            exclude = group.exclude,
            kind = "packages",
            patchelf = patchelf if group.rpath else [],
            rpath = group.rpath,
        )
    site_repository(
        name = _NODE,
        build_file = "//toolchains/python:node.BUILD.bazel",
        requirements = "requirements_node",
    )

def _group(lock, name):
    if name not in lock["groups"]:
        fail(missing_entry("group", name, lock["groups"].keys()))
    group = lock["groups"][name]
    return [entry_of("package", package, group) for package in group]
