"""Module extension `python`: the interpreter and its packages.

    python = use_extension("//toolchains/python:extensions.bzl", "python")
    use_repo(python, "pip", "pip_ray", "pip_tensorflow", "pip_tools", "python311", "wheels_python312", "wheels_python313")
"""

load(":repositories.bzl", "interpreter_repository", "wheels_repository")
load(":sites.bzl", "site_repository")

# Sites that extend @pip, and the BUILD file of each.
_ADDITIONAL_SITES = {
    "ray": "additional_site.BUILD.bazel",
    "tensorflow": "tensorflow.BUILD.bazel",
    "tools": "additional_site.BUILD.bazel",
}

# Versions of Python in which //tests/wheel installs the wheel, besides that of the interpreter.
_OTHER_VERSIONS = ["3.12", "3.13"]

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
    for version in _OTHER_VERSIONS:
        name = "python" + version.replace(".", "")
        wheels_repository(
            name = "wheels_" + name,
            lock = "//toolchains/python:requirements_{}_lock.txt".format(name),
            python = "@python311//:usr/bin/python3.11",
            python_version = version,
        )

python = module_extension(
    implementation = _python_impl,
    doc = "The repositories @python311, Debian's interpreter, @pip, @pip_ray, @pip_tensorflow and @pip_tools, the packages that the locks pin, and " +
          "@wheels_python312 and @wheels_python313, wheels for other versions of Python.",
)
