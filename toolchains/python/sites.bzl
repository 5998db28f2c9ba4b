"""`site_repository`: the site of a lock of Python packages."""

load(":repositories.bzl", "pip_repository")

def site_repository(name, requirements, build_file):
    """Declares a repository with a site.

    Args:
        name: name of the repository.
        requirements: `requirements` or `requirements_NAME`, the requests without their ending.
        build_file: label of its BUILD file.
    """
    pip_repository(
        name = name,
        build_file = build_file,
        lock = "//toolchains/python:{}_lock.txt".format(requirements),
        python = "@python311//:usr/bin/python3.11",
        request = "//toolchains/python:{}.in".format(requirements),
    )
