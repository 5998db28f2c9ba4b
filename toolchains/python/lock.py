"""Writes the locks from requirements.in and requirements_{node,ray,tensorflow,tools,python312,python313}.in, and prints
what changed.

Example:
  ./bazelw run //toolchains/python:lock                 # everything at today's versions
  ./bazelw run //toolchains/python:lock -- --only_missing   # keep what is pinned, add what is new

Versions and digests come from pip's resolution (`pip install --dry-run --report`) with this machine's pip
configuration, for Python 3.11, or a site's own version (`PYTHONS`), on Linux x86-64. The difference is printed one line
per package: `+` added, `-` removed, `~` changed. The other sites extend that of requirements.in and pin only what they
add; what two of them pin has one version, for a program may use both.
"""

import argparse
import json
import os
import pathlib
import sys
import tempfile

from toolchains.python import pip, requirements

FOLDER = "toolchains/python"
# Requirements and their locks. The other sites extend the first. TensorFlow, the most particular one, is next.
SITES = {
    "requirements.in": "requirements_lock.txt",
    "requirements_tensorflow.in": "requirements_tensorflow_lock.txt",
    "requirements_node.in": "requirements_node_lock.txt",
    "requirements_ray.in": "requirements_ray_lock.txt",
    "requirements_tools.in": "requirements_tools_lock.txt",
    "requirements_python312.in": "requirements_python312_lock.txt",
    "requirements_python313.in": "requirements_python313_lock.txt",
}
# Requirements of packages for another Python than 3.11 -> its version.
PYTHONS = {"requirements_python312.in": "3.12", "requirements_python313.in": "3.13"}


def report_arguments(
    with_dependencies: bool,
    from_source: list[str],
    wanted: pathlib.Path,
    constraints: pathlib.Path,
    report: pathlib.Path,
    python: str | None = None,
) -> list[str]:
    """pip's arguments for resolving one part of requirements.in without installing anything.

    Args: python: the version of Python that the packages are for; default: the interpreter's.
    """
    arguments = [
        "install",
        "--dry-run",
        "--ignore-installed",
        "--only-binary=:all:",
        "--quiet",
        "--progress-bar=off",
        f"--report={report}",
        f"--requirement={wanted}",
        f"--constraint={constraints}",
    ]
    if not with_dependencies:
        arguments.append("--no-deps")
    if from_source:
        arguments += [f"--no-binary={','.join(from_source)}", "--no-build-isolation", "--no-use-pep517"]
    if python:
        # pip takes another version only with a directory to install into, although it installs nothing.
        arguments += [f"--python-version={python}", f"--target={report.parent / 'target'}"]
    return arguments


def resolve(
    request: requirements.Request, origin: str, pinned: dict[str, requirements.Pin]
) -> dict[str, requirements.Pin]:
    """Pins for everything in `request`, with the versions of `pinned` where those still fit.

    Args:
        origin: the name of the file that the request is from, for messages.

    Raises:
        pip.PipError, requirements.RequirementsError
    """
    pins: dict[str, requirements.Pin] = {}
    with tempfile.TemporaryDirectory() as scratch:
        root = pathlib.Path(scratch)
        constraints = root / "constraints.txt"
        constraints.write_text("".join(f"{pin.name}=={pin.version}\n" for pin in pinned.values()), encoding="utf-8")
        for with_dependencies in (True, False):
            part = [r for r in request.requirements if r.with_dependencies == with_dependencies]
            if not part:
                continue
            wanted, report = root / "wanted.txt", root / "report.json"
            wanted.write_text("".join(f"{r}\n" for r in part), encoding="utf-8")
            sources = [r.name for r in part if r.from_source]
            arguments = report_arguments(with_dependencies, sources, wanted, constraints, report, PYTHONS.get(origin))
            pip.run(arguments, origin)
            pins |= requirements.pins_of_report(json.loads(report.read_text(encoding="utf-8")), origin)
    return {name: pin for name, pin in pins.items() if name not in request.left_out}


def write_lock(
    request_file: pathlib.Path,
    lock: pathlib.Path,
    base: dict[str, requirements.Pin],
    earlier: dict[str, requirements.Pin],
    only_missing: bool,
) -> dict[str, requirements.Pin]:
    """Writes one lock and prints what changed; returns its pins.

    Args:
        base: pins of the site that this one extends; they are not repeated, but for what another Python needs another
            archive of.
        earlier: pins of all sites before this one, `base` among them; they constrain versions.
        only_missing: keep pinned versions.

    Raises:
        requirements.RequirementsError, pip.PipError
    """
    request = requirements.parse_request(request_file.read_text(encoding="utf-8"), request_file.name)
    old = requirements.parse_lock(lock.read_text(encoding="utf-8"), lock.name) if lock.exists() else {}
    resolved = resolve(request, request_file.name, (old if only_missing else {}) | earlier)
    other_python = request_file.name in PYTHONS
    new = {name: pin for name, pin in resolved.items() if name not in base or (other_python and pin != base[name])}
    replace_lock(lock, new, old, request_file.name)
    return new


def replace_lock(
    lock: pathlib.Path, new: dict[str, requirements.Pin], old: dict[str, requirements.Pin], origin: str
) -> None:
    """Writes a lock as a whole and prints what changed; `origin` is the file that asks for the packages."""
    unfinished = lock.with_suffix(".new")
    unfinished.write_text(requirements.render_lock(new.values(), origin), encoding="utf-8")
    unfinished.replace(lock)
    print("\n".join(requirements.differences(old, new)) or "nothing changed")
    print(f"lock: {len(new)} packages pinned -> {FOLDER}/{lock.name}", file=sys.stderr)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only_missing", action="store_true", help="keep the versions that are pinned already")
    parser.add_argument(
        "--workspace",
        type=pathlib.Path,
        default=os.environ.get("BUILD_WORKSPACE_DIRECTORY"),
        help="root of the workspace (default: the one of `bazel run`)",
    )
    flags = parser.parse_args()
    if flags.workspace is None:
        parser.error(f"--workspace is missing; add it, or start the command as `{requirements.LOCK_COMMAND}`")
    folder = pathlib.Path(flags.workspace) / FOLDER
    base: dict[str, requirements.Pin] = {}
    earlier: dict[str, requirements.Pin] = {}
    try:
        for request_name, lock_name in SITES.items():
            pins = write_lock(folder / request_name, folder / lock_name, base, earlier, flags.only_missing)
            base = base or pins
            earlier |= pins
    except (requirements.RequirementsError, pip.PipError) as error:
        print(f"lock: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
