"""The repository rule behind `chromium.tree`: a part of Chromium's source, patched, below `source/`."""

load("//third_party/debian:downloader.bzl", "DOWNLOADER")
load(":script.bzl", "run_script")

_MODULES = {
    "//third_party/chromium": ["chromium_lock.py", "patch_series.py", "patch_sets.py", "versions.py"],
    "//third_party/debian": DOWNLOADER + ["resolve.py"],
}

_BUILD = """package(default_visibility = ["//visibility:public"])

# A source directory: one input instead of thousands.
filegroup(
    name = "tree",
    srcs = ["source"],
)

exports_files(["source.json"])
"""

def _chromium_repository_impl(rctx):
    rctx.report_progress("unpacking {} paths of Chromium".format(len(rctx.attr.include)))
    patch_folder = [rctx.path(label) for label in rctx.attr.own_patches][0].dirname
    run_script(rctx, "make_tree.py", _MODULES, {
        "exclude": rctx.attr.exclude,
        "include": rctx.attr.include,
        "lock": str(rctx.path(rctx.attr.lock)),
        "origin": rctx.attr.origin,
        "patch": json.decode(rctx.attr.patch),
        "patch_folder": str(patch_folder),
        "patch_set": rctx.attr.patch_set,
        "patches": [str(rctx.path(patch)) for patch in rctx.attr.patches],
        "unbundle": rctx.attr.unbundle,
    }, _BUILD + rctx.attr.build)

chromium_repository = repository_rule(
    implementation = _chromium_repository_impl,
    doc = "Listed paths of Chromium's source, straight from the compressed tarball, patched. Made by the module extension.",
    attrs = {
        "build": attr.string(doc = "Further text of its BUILD file."),
        "exclude": attr.string_list(doc = "Shell patterns of paths that are not unpacked."),
        "include": attr.string_list(doc = "Path prefixes (ending in /) or shell patterns that are unpacked.", mandatory = True),
        "lock": attr.label(doc = "The lock.", default = "//third_party/chromium:lock.json", allow_single_file = True),
        "origin": attr.string(doc = "Name of an origin in the lock.", default = "debian"),
        "own_patches": attr.label_list(doc = "All of our patches; patch_sets.py chooses.", allow_files = True, mandatory = True),
        "patch": attr.string(doc = "Lock entry of the package patch, as JSON.", mandatory = True),
        "patch_set": attr.string(doc = "A set in patch_sets.py; by default the one for the tree's version."),
        "patches": attr.label_list(doc = "Further patches of ours, after the set.", allow_files = True),
        "unbundle": attr.bool(doc = "Put gn files of system libraries where Debian took the bundled ones away.", default = True),
        "timeout": attr.int(doc = "Seconds that it may take.", default = 7200),
    },
)
