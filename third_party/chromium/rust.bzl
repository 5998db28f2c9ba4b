"""The repository rule behind `@chromium_rust`: Rust and bindgen as Debian builds Chromium with them, below `usr/`."""

load("//third_party/debian:messages.bzl", "failed", "no_python")

# A change of one of these makes the tree anew.
_SCRIPTS = {
    "//third_party/chromium": ["chromium_lock.py", "make_rust.py"],
    "//third_party/debian": ["fetch.py", "lockfile.py", "mirrors.py", "tree.py", "unpack.py"],
}

_BUILD = """package(default_visibility = ["//visibility:public"])

# A source directory: bin, lib and lib/rustlib. One input instead of hundreds.
filegroup(
    name = "rust",
    srcs = ["usr"],
)

exports_files(["made_of.json"])
"""

def _chromium_rust_repository_impl(rctx):
    python = rctx.which("python3")
    if not python:
        fail(no_python())
    for package, names in _SCRIPTS.items():
        for name in names:
            rctx.path(Label(package + ":" + name))
    rctx.report_progress("unpacking {} archives".format(len(rctx.attr.entries) + 1))
    rctx.file(".request.json", json.encode({
        "lock": str(rctx.path(rctx.attr.lock)),
        "tree": {
            "entries": [json.decode(entry) for entry in rctx.attr.entries],
            "exclude": rctx.attr.exclude,
            "kind": "packages",
            "patchelf": json.decode(rctx.attr.patchelf),
            "rpath": rctx.attr.rpath,
        },
    }))
    result = rctx.execute(
        ["sh", "-c", "exec \"$0\" -EsB \"$1\" < .request.json", python, rctx.path(Label("//third_party/chromium:make_rust.py"))],
        timeout = rctx.attr.timeout,
        quiet = False,
    )
    if result.return_code:
        fail(failed(rctx.name, result.stderr))
    rctx.delete(".request.json")
    rctx.file("BUILD.bazel", _BUILD)
    rctx.file("REPO.bazel", "")

chromium_rust_repository = repository_rule(
    implementation = _chromium_rust_repository_impl,
    doc = "Debian's Rust, and the bindgen in Debian's source package of Chromium. Made by the module extension.",
    attrs = {
        "entries": attr.string_list(doc = "Debian's lock entries, each as JSON with its name.", mandatory = True),
        "exclude": attr.string_list(doc = "Shell patterns of paths that are not unpacked."),
        "lock": attr.label(doc = "The lock of Chromium's source.", default = "//third_party/chromium:lock.json", allow_single_file = True),
        "patchelf": attr.string(doc = "Lock entry of patchelf, as JSON.", mandatory = True),
        "rpath": attr.string_list(doc = "Directories of the tree that hold its shared libraries.", mandatory = True),
        "timeout": attr.int(doc = "Seconds that it may take.", default = 3600),
    },
)
