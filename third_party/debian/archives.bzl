"""The repository rules behind `debian.archives` and the inventory of all archives."""

load(":downloader.bzl", "DOWNLOADER")
load(":messages.bzl", "failed", "no_python")

_SCRIPTS = DOWNLOADER + ["archives.py", "tree.py"]

_BUILD = """filegroup(
    name = "archives",
    srcs = glob(["*.deb"]),
    visibility = ["//visibility:public"],
)

exports_files(glob(["*.deb"]))
"""

def _debian_archives_impl(rctx):
    python = rctx.which("python3")
    if not python:
        fail(no_python())
    scripts = {name: rctx.path(Label("//third_party/debian:" + name)) for name in _SCRIPTS}
    rctx.file(".request.json", json.encode({"entries": [json.decode(entry) for entry in rctx.attr.entries]}))
    result = rctx.execute(
        ["sh", "-c", "exec \"$0\" -EsB \"$1\" < .request.json", python, scripts["archives.py"]],
        timeout = 3600,
        quiet = False,
    )
    if result.return_code:
        fail(failed(rctx.name, result.stderr))
    rctx.delete(".request.json")
    rctx.file("BUILD.bazel", _BUILD)

debian_archives = repository_rule(
    implementation = _debian_archives_impl,
    doc = "Fetches pinned Debian packages and leaves them packed: <package>.deb. Made by the module extension.",
    attrs = {
        "entries": attr.string_list(doc = "Lock entries, each as JSON with its name.", mandatory = True),
    },
)

def _debian_inventory_impl(rctx):
    inventory = {"bazel": native.bazel_version, "repositories": json.decode(rctx.attr.repositories)}
    rctx.file("inventory.json", json.encode_indent(inventory, indent = " ") + "\n")
    rctx.file("BUILD.bazel", "exports_files([\"inventory.json\"])\n")

debian_inventory = repository_rule(
    implementation = _debian_inventory_impl,
    doc = """inventory.json, for provenance: the pinned archives of each repository of the extension, and the version of Bazel.

{"bazel": "7.7.1", "repositories": {NAME: {"kind": "packages" or "source", "entries": [lock entries with their name]}}}
""",
    attrs = {
        "repositories": attr.string(doc = "The part `repositories` of the inventory, as JSON.", mandatory = True),
    },
)
