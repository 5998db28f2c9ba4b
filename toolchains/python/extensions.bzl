"""Module extension `python`: the interpreter and its packages.

    python = use_extension("//toolchains/python:extensions.bzl", "python")
    use_repo(python, "pip", "pip_ray", "pip_tensorflow", "pip_tools", "python311")
"""

load(":repositories.bzl", "interpreter_repository")
load(":sites.bzl", "site_repository")

# Sites that extend @pip, and the BUILD file of each.
_ADDITIONAL_SITES = {
    "ray": "additional_site.BUILD.bazel",
    "tensorflow": "tensorflow.BUILD.bazel",
    "tools": "additional_site.BUILD.bazel",
}

def _python_impl(_mctx):
    interpreter_repository(
        name = "python311",
        build_file = "//toolchains/python:python311.BUILD.bazel",
        python = "@python311_packages//:usr/bin/python3.11",
    )
    site_repository(
        name = "pip",
        build_file = "//toolchains/python:pip.BUILD.bazel",
        requirements = "requirements",
    )
    for name, build_file in _ADDITIONAL_SITES.items():
        site_repository(
            name = "pip_" + name,
            build_file = "//toolchains/python:" + build_file,
            requirements = "requirements_" + name,
        )

python = module_extension(
    implementation = _python_impl,
    doc = "The repositories @python311, Debian's interpreter, and @pip, @pip_ray, @pip_tensorflow and @pip_tools, the packages that the locks pin.",
)
