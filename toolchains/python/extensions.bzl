"""Module extension `python`: the interpreter and its packages.

    python = use_extension("//toolchains/python:extensions.bzl", "python")
    use_repo(python, "pip", "pip_ray", "pip_tools", "python311")
"""

load(":repositories.bzl", "interpreter_repository", "pip_repository")

def _python_impl(_mctx):
    interpreter_repository(
        name = "python311",
        build_file = "//toolchains/python:python311.BUILD.bazel",
        python = "@python311_packages//:usr/bin/python3.11",
    )
    pip_repository(
        name = "pip",
        build_file = "//toolchains/python:pip.BUILD.bazel",
        lock = "//toolchains/python:requirements_lock.txt",
        python = "@python311//:usr/bin/python3.11",
        request = "//toolchains/python:requirements.in",
    )
    for name in ["ray", "tools"]:
        pip_repository(
            name = "pip_" + name,
            build_file = "//toolchains/python:additional_site.BUILD.bazel",
            lock = "//toolchains/python:requirements_{}_lock.txt".format(name),
            python = "@python311//:usr/bin/python3.11",
            request = "//toolchains/python:requirements_{}.in".format(name),
        )

python = module_extension(
    implementation = _python_impl,
    doc = "The repositories @python311, Debian's interpreter, and @pip, @pip_ray and @pip_tools, the packages that the locks pin.",
)
