"""Runs the pip of the interpreter's packages and turns its errors into one sentence.

The machine's pip configuration (index, certificates, find-links, proxies) applies. It does not influence the result,
because only archives with the pinned sha256 are kept.
"""

import os
import pathlib
import re
import sys
from collections.abc import Mapping, Sequence

from toolchains.bazel import host
from toolchains.python import bounds

# Debian ships pip as a wheel that runs where it lies; setuptools serves pip for reading a source archive's name and
# version.
PIP_WHEELS = ("pip-", "setuptools-")
NETWORK_REMEDY = "check the network and pip's configuration (pip config list) and run again; pip keeps what it has"

_START = (
    "import runpy, sys; from pip._vendor import certifi; bundle = sys.argv.pop(1); certifi.where = lambda: bundle; "
    "runpy.run_module('pip', run_name='__main__', alter_sys=True)"
)


class PipError(Exception):
    """pip failed; the message says for what, why, and what to do."""


def wheel_directory(interpreter: pathlib.Path) -> pathlib.Path:
    """The folder of pip's own wheel in the tree of Debian packages that `interpreter` (usr/bin/python3.11) lies in."""
    return interpreter.parent.parent / "share" / "python-wheels"


def environment(interpreter: pathlib.Path, inherited: dict[str, str]) -> dict[str, str]:
    """The variables for pip: those of the machine, less other Pythons' paths, with pip importable from its wheels.

    Raises:
        PipError: the wheels are not where Debian's packages put them.
    """
    directory = wheel_directory(interpreter)
    wheels = [str(path) for prefix in PIP_WHEELS for path in sorted(directory.glob(prefix + "*.whl"))]
    if len(wheels) != len(PIP_WHEELS):
        raise PipError(
            f"{directory}: holds {len(wheels)} of the wheels {', '.join(PIP_WHEELS)}; the tree @python311 needs "
            "the packages python3-pip-whl and python3-setuptools-whl"
        )
    kept = {name: value for name, value in inherited.items() if not name.startswith("PYTHON")}
    return kept | {
        "PYTHONPATH": os.pathsep.join(wheels),
        "PYTHONNOUSERSITE": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_NO_INPUT": "1",
        "PIP_REQUIRE_VIRTUALENV": "0",
    }


def start(environ: Mapping[str, str], debians: str = host.CERTIFICATES[0]) -> list[str]:
    """The interpreter's arguments that start pip.

    Debian's pip reads the certificate authorities from Debian's place (`debians`). On a system that keeps them in
    another place pip gets that place as its default, which settings of the user still replace.
    """
    bundle = host.certificates(environ)
    return ["-m", "pip"] if os.path.isfile(debians) or not bundle else ["-c", _START, bundle]


def reason(stderr: str) -> str:
    """The error of pip on one line: its ERROR lines, the end of its traceback, otherwise its last line."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    errors = [re.sub(r"^ERROR:\s*", "", line) for line in lines if line.startswith("ERROR:")]
    if errors == ["Exception:"]:  # A traceback follows, whose last line says what happened.
        errors = lines[-1:]
    return " ".join(errors) or (lines[-1] if lines else "it printed nothing")


def remedy(stderr: str) -> str:
    """What to do about it."""
    if "DO NOT MATCH THE HASHES" in stderr or "do not match the hashes" in stderr.lower():
        return (
            "the index offers another file than the pinned one: check pip's configuration (pip config list), or write "
            "a new lock with ./bazelw run //toolchains/python:lock"
        )
    if "File too large" in stderr:
        return (
            f"the index sends more than {bounds.LARGEST_FILE_BYTES / 1e9:g} GB for one archive: name another index "
            "(PIP_INDEX_URL, PIP_FIND_LINKS or pip.conf) and run again"
        )
    if re.search(r"connection broken|Could not fetch URL|SSLError|CERTIFICATE_VERIFY_FAILED", stderr):
        return NETWORK_REMEDY
    if "No matching distribution" in stderr or "Could not find a version" in stderr:
        return (
            "the index does not answer or does not have this version: name another index (PIP_INDEX_URL, "
            "PIP_FIND_LINKS or pip.conf), or write a new lock with ./bazelw run //toolchains/python:lock"
        )
    if "No space left" in stderr:
        return "free space on the disk of Bazel's output base and run again"
    return NETWORK_REMEDY


def run(arguments: Sequence[str], what: str, limits: bounds.Limits | None = None) -> str:
    """Runs pip with this interpreter and returns its standard output.

    Args:
        arguments: such as `["download", "--no-deps", ...]`.
        what: what it is for, the first part of the error message.
        limits: when pip is ended; by default those of `bounds.Limits`.

    Raises:
        PipError: pip failed.
    """
    interpreter = pathlib.Path(os.path.realpath(sys.executable))
    try:
        command = [sys.executable, *start(os.environ), *arguments]
        done = bounds.run(command, environment(interpreter, dict(os.environ)), limits)
    except bounds.StalledError as stalled:
        raise PipError(f"{what}: pip {arguments[0]}: {stalled}; {NETWORK_REMEDY}") from None
    if done.returncode:
        raise PipError(f"{what}: pip {arguments[0]}: {reason(done.stderr)}; {remedy(done.stderr)}")
    return done.stdout
