"""Module extension `buildifier`: Bazel's formatter of BUILD files.

    buildifier = use_extension("//third_party/buildifier:extensions.bzl", "buildifier")
    use_repo(buildifier, "buildifier")
"""

_PACKAGE = "@bazel/buildifier@8.2.1"
_SHA256 = "b96ea9b13003036c801f52bee6f9b0314738f8432e5cb9d814c89f59292604ee"

# The package has 24 MB.
_LARGEST_FILE_BYTES = 200000000

# The unit of `ulimit -f` (POSIX).
_ULIMIT_BYTES = 512

def _download(rctx):
    """Fetches and unpacks the package; returns why that failed, or None."""
    npm = rctx.which("npm")
    if not npm:
        return "npm is not installed; install it to check the layout of BUILD files"

    # npm knows no size in advance: the shell bounds the files that it writes, and the time-out a slow registry.
    result = rctx.execute(
        ["sh", "-c", "ulimit -f {}; exec \"$@\"".format(_LARGEST_FILE_BYTES // _ULIMIT_BYTES), "npm"] +
        [npm, "pack", _PACKAGE, "--silent", "--pack-destination=."],
        timeout = 300,
    )
    archive = rctx.path(result.stdout.strip() or "none")
    if result.return_code or not archive.exists:
        return "npm pack {}: {}; check npm's configuration (npm config list)".format(_PACKAGE, result.stderr.strip())
    rctx.download_and_extract(
        url = "file://{}".format(archive),
        sha256 = _SHA256,
        stripPrefix = "package",
        type = "tar.gz",
        output = "package",
    )
    return None

def _buildifier_repository_impl(rctx):
    missing = _download(rctx)
    if missing:
        rctx.file("program", missing, executable = False)
    else:
        rctx.symlink("package/buildifier-linux_amd64", "program")
    rctx.file("BUILD.bazel", rctx.read(rctx.attr.build_file))

_buildifier_repository = repository_rule(
    implementation = _buildifier_repository_impl,
    doc = "The program buildifier of an npm package, or the reason why it is missing.",
    attrs = {
        "build_file": attr.label(doc = "BUILD file of the repository.", allow_single_file = True, mandatory = True),
    },
)

def _buildifier_impl(_mctx):
    _buildifier_repository(
        name = "buildifier",
        build_file = "//third_party/buildifier:buildifier.BUILD.bazel",
    )

buildifier = module_extension(
    implementation = _buildifier_impl,
    doc = "The repository @buildifier.",
)
