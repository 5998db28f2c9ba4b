"""Module extension `python`: the interpreter and its packages.

    python = use_extension("//toolchains/python:extensions.bzl", "python")
    use_repo(python, "pip", "pip_ray", "python311")
"""

load(":repositories.bzl", "interpreter_repository", "pip_repository")

def _python_impl(_mctx):
    interpreter_repository(
        name = "python311",
        build_file = "//toolchains/python:python311.BUILD.bazel",
        python = "@python311_packages//:usr/bin/python3.11",
    )
    pip_repository(
        name = "pip_ray",
        build_file = "//toolchains/python:ray.BUILD.bazel",
        lock = "//toolchains/python:requirements_ray_lock.txt",
        python = "@python311//:usr/bin/python3.11",
        request = "//toolchains/python:requirements_ray.in",
    )
    pip_repository(
        name = "pip",
        build_file = "//toolchains/python:pip.BUILD.bazel",
        lock = "//toolchains/python:requirements_lock.txt",
        python = "@python311//:usr/bin/python3.11",
        request = "//toolchains/python:requirements.in",
    )

python = module_extension(
    implementation = _python_impl,
    doc = "The repositories @python311, Debian's interpreter, @pip and @pip_ray, what the locks pin.",
)
