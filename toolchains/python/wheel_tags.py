"""pip's options for the wheels of another architecture than this machine's."""

# Debian's name of an architecture -> that of Python's wheels.
MACHINES = {"arm64": "aarch64"}
# Minor versions of glibc 2 that a wheel may need at most: from manylinux2014's to Debian 12's (PEP 600).
_GLIBC = range(17, 37)


class ArchitectureError(Exception):
    """An architecture without a lock; the message says which have one."""


def pip_options(architecture: str) -> list[str]:
    """Options of `pip download` and `pip install` for CPython 3.11 on Debian 12, preferred wheels first.

    Args:
        architecture: Debian's name, such as `arm64`.

    Raises:
        ArchitectureError: it has no lock.
    """
    if architecture not in MACHINES:
        raise ArchitectureError(f"--architecture={architecture}: has no lock; choose one of {', '.join(MACHINES)}")
    machine = MACHINES[architecture]
    platforms = [f"manylinux_2_{minor}_{machine}" for minor in reversed(_GLIBC)] + [f"manylinux2014_{machine}"]
    return [
        *(f"--platform={platform}" for platform in platforms),
        "--python-version=3.11",
        "--implementation=cp",
        *(f"--abi={abi}" for abi in ("cp311", "abi3", "none")),
    ]
