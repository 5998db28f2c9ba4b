"""The repository rule behind `@chromium_rust`: Rust and bindgen as Debian builds Chromium with them, below `usr/`."""

load("//third_party/debian:downloader.bzl", "DOWNLOADER")
load(":script.bzl", "run_script")

_MODULES = {
    "//third_party/chromium": ["chromium_lock.py"],
    "//third_party/debian": DOWNLOADER + ["tree.py"],
}

_BUILD = """package(default_visibility = ["//visibility:public"])

# A source directory: bin, lib and lib/rustlib. One input instead of hundreds.
filegroup(
    name = "rust",
    srcs = ["usr"],
)

exports_files(["fingerprints.json"])
"""

def _chromium_rust_repository_impl(rctx):
    rctx.report_progress("unpacking {} archives".format(len(rctx.attr.entries) + 1))
    run_script(rctx, "make_rust.py", _MODULES, {
        "lock": str(rctx.path(rctx.attr.lock)),
        "tree": {
            "entries": [json.decode(entry) for entry in rctx.attr.entries],
            "exclude": rctx.attr.exclude,
            "kind": "packages",
            "patchelf": [json.decode(entry) for entry in rctx.attr.patchelf],
            "rpath": rctx.attr.rpath,
        },
    }, _BUILD)

chromium_rust_repository = repository_rule(
    implementation = _chromium_rust_repository_impl,
    doc = "Debian's Rust, and the bindgen in Debian's source package of Chromium. Made by the module extension.",
    attrs = {
        "entries": attr.string_list(doc = "Debian's lock entries, each as JSON with its name.", mandatory = True),
        "exclude": attr.string_list(doc = "Shell patterns of paths that are not unpacked."),
        "lock": attr.label(doc = "The lock of Chromium's source.", default = "//third_party/chromium:lock.json", allow_single_file = True),
        "patchelf": attr.string_list(doc = "Lock entries of `patchelf_entries`.", mandatory = True),
        "rpath": attr.string_list(doc = "Directories of the tree that hold its shared libraries.", mandatory = True),
        "timeout": attr.int(doc = "Seconds that it may take.", default = 3600),
    },
)
