"""The repository rule behind `debian.tree` and `debian.source`: pinned archives, unpacked, with a BUILD file."""

load(":downloader.bzl", "DOWNLOADER")
load(":messages.bzl", "failed", "no_python")

_SCRIPTS = DOWNLOADER + ["tree.py"]

def _debian_repository_impl(rctx):
    python = rctx.which("python3")
    if not python:
        fail(no_python())
    scripts = [rctx.path(Label("//third_party/debian:" + name)) for name in _SCRIPTS]
    rctx.report_progress("unpacking {} archives".format(len(rctx.attr.entries)))
    request = {
        "entries": [json.decode(entry) for entry in rctx.attr.entries],
        "kind": rctx.attr.kind,
        "include": rctx.attr.include,
        "exclude": rctx.attr.exclude,
        "keep_bazel_files": rctx.attr.keep_bazel_files,
        "rpath": rctx.attr.rpath,
        "patchelf": [json.decode(entry) for entry in rctx.attr.patchelf],
    }
    rctx.file(".request.json", json.encode(request))
    tree = [path for path in scripts if path.basename == "tree.py"][0]
    result = rctx.execute(
        ["sh", "-c", "exec \"$0\" -EsB \"$1\" < .request.json", python, tree],
        timeout = rctx.attr.timeout,
        quiet = False,
    )
    if result.return_code:
        fail(failed(rctx.name, result.stderr))
    rctx.delete(".request.json")
    if rctx.attr.older_glibc:
        result = rctx.execute([python, "-EsB", rctx.path(Label("//third_party/debian:older_glibc.py"))], timeout = rctx.attr.timeout)
        if result.return_code:
            fail(failed(rctx.name, result.stderr))
    for patch in rctx.attr.patches:
        rctx.patch(patch, strip = 1)
    if rctx.attr.build_file:
        rctx.file("BUILD.bazel", rctx.read(rctx.attr.build_file))
    else:
        rctx.file("BUILD.bazel", "exports_files(glob([\"**\"]))\n")
    rctx.file("REPO.bazel", "")

debian_repository = repository_rule(
    implementation = _debian_repository_impl,
    doc = "Fetches pinned Debian archives, verifies and unpacks them. Called by the module extension, which takes the entries from the lock.",
    attrs = {
        "build_file": attr.label(doc = "BUILD file of the repository; by default every file is exported.", allow_single_file = True),
        "entries": attr.string_list(doc = "Lock entries, each as JSON with its name.", mandatory = True),
        "exclude": attr.string_list(doc = "Shell patterns of paths that are not unpacked."),
        "include": attr.string_list(doc = "For a source: path prefixes (ending in /) or shell patterns that are unpacked; empty means all."),
        "keep_bazel_files": attr.bool(doc = "For a source: keep its own BUILD and MODULE files."),
        "kind": attr.string(doc = "`packages` or `source`.", values = ["packages", "source"], mandatory = True),
        "older_glibc": attr.bool(doc = "Make programs that were linked against a newer glibc run with Debian 12's."),
        "patchelf": attr.string_list(doc = "Lock entries of `patchelf_entries`; needed with `rpath`."),
        "patches": attr.label_list(doc = "Patches in -p1 form, applied in order.", allow_files = True),
        "rpath": attr.string_list(doc = "Directories of the tree that hold its shared libraries; its programs search them."),
        "timeout": attr.int(doc = "Seconds a download and unpacking may take.", default = 3600),
    },
)
