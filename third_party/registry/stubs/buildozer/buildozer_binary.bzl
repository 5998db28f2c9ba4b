"""An empty `buildozer_binary` extension: Bazel's own module names it, only `bazel mod tidy` would run it."""

def _empty_repository_impl(rctx):
    rctx.file("BUILD.bazel", "")

_empty_repository = repository_rule(
    doc = "A repository with an empty root package.",
    implementation = _empty_repository_impl,
)

def _buildozer_binary_impl(_mctx):
    _empty_repository(name = "buildozer_binary")

buildozer_binary = module_extension(
    doc = "Declares the repository `buildozer_binary`, without a program in it.",
    implementation = _buildozer_binary_impl,
)
