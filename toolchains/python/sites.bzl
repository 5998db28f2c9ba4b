"""`site_repository`: the site of a lock of Python packages, with the wheels of the host's architecture."""

load("//third_party/debian:architecture.bzl", "AMD64")
load("//third_party/debian:entries.bzl", "host_of", "machine_of")
load(":repositories.bzl", "pip_repository")

def is_native(mctx):
    """Whether this machine runs the host's programs."""
    return host_of(mctx) == machine_of(mctx)

def lock_file(requirements, host):
    """The label of a lock.

    Args:
        requirements: `requirements` or `requirements_NAME`, the requests without their ending.
        host: of ARCHITECTURES in //third_party/debian:architecture.bzl.
    Returns: string.
    """
    return "//toolchains/python:{}_{}lock.txt".format(requirements, "" if host == AMD64 else host.name + "_")

def site_repository(mctx, name, requirements, build_file):
    """Declares a repository with a site.

    Args:
        mctx: of a module extension that names HOST_VARIABLE in `environ`.
        name: name of the repository.
        requirements: see lock_file.
        build_file: label of its BUILD file.
    """
    host = host_of(mctx)
    pip_repository(
        name = name,
        architecture = "" if host == AMD64 else host.name,
        build_file = build_file,
        lock = lock_file(requirements, host),
        python = ("@python311" if is_native(mctx) else "@python311_packages_of_machine") + "//:usr/bin/python3.11",
        request = "//toolchains/python:{}.in".format(requirements),
    )
