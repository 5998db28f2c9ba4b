"""Makes the site directory of requirements_lock.txt below a directory; run by the repository rule in repositories.bzl.

Example: PYTHONPATH=<workspace> python3.11 -m toolchains.python.install --lock requirements_lock.txt --request
  requirements.in --root .
"""

import argparse
import pathlib
import sys
import tempfile
from concurrent import futures

from toolchains.python import byte_code, pip, requirements, wheel_tags, wheels


def download_arguments(
    request: requirements.Request, lock: pathlib.Path, directory: pathlib.Path, architecture: str = ""
) -> list[str]:
    """pip's arguments to download every pinned archive and check its sha256, without building any.

    Args:
        architecture: Debian's name of the one whose wheels the lock pins; "" for those of this machine.
    """
    from_source = [r.name for r in request.requirements if r.from_source]
    arguments = [
        "download",
        "--no-deps",
        "--require-hashes",
        "--only-binary=:all:",
        "--quiet",
        "--progress-bar=off",
        f"--dest={directory}",
        f"--requirement={lock}",
        *(wheel_tags.pip_options(architecture) if architecture else []),
    ]
    if from_source:
        arguments += [f"--no-binary={','.join(from_source)}", "--no-build-isolation", "--no-use-pep517"]
    return arguments


def started_on(text: str, architecture: str) -> str:
    """The text of sitecustomize.py with the folder of the interpreter's libraries, such as `x86_64-linux-gnu`.

    Args:
        architecture: see `download_arguments`.
    """
    return text.replace("{multiarch}", f"{wheel_tags.MACHINES.get(architecture, 'x86_64')}-linux-gnu")


def unpack(archive: pathlib.Path, root: pathlib.Path) -> int:
    """Unpacks one archive below `root`; returns the number of files."""
    if archive.suffix == ".whl":
        return wheels.unpack_wheel(archive, root)
    return wheels.unpack_source(archive, root)


def install(request_file: pathlib.Path, lock: pathlib.Path, root: pathlib.Path, architecture: str = "") -> int:
    """Downloads and unpacks everything the lock pins; returns the number of files.

    Args:
        architecture: see `download_arguments`.

    Raises:
        wheel_tags.ArchitectureError: `architecture` has no lock.
        requirements.RequirementsError, pip.PipError, wheels.WheelError: one sentence each.
    """
    request = requirements.parse_request(request_file.read_text(encoding="utf-8"), request_file.name)
    pins = requirements.parse_lock(lock.read_text(encoding="utf-8"), lock.name)
    with tempfile.TemporaryDirectory(dir=root) as scratch:
        directory = pathlib.Path(scratch)
        pip.run(download_arguments(request, lock, directory, architecture), lock.name)
        archives = list(wheels.archives_in(directory))
        if len(archives) != len(pins):
            raise pip.PipError(
                f"{lock.name}: pins {len(pins)} archives, but pip downloaded {len(archives)}; "
                f"write a new lock with {requirements.LOCK_COMMAND}"
            )
        with futures.ProcessPoolExecutor() as pool:
            count = sum(pool.map(unpack, archives, [root] * len(archives)))
    site = root / "site"
    start = pathlib.Path(__file__).with_name("sitecustomize.py").read_text(encoding="utf-8")
    (site / "sitecustomize.py").write_text(started_on(start, architecture), encoding="utf-8")
    return count + byte_code.compile_tree(site)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--request", type=pathlib.Path, required=True, help="requirements.in")
    parser.add_argument("--lock", type=pathlib.Path, required=True, help="requirements_lock.txt")
    parser.add_argument("--root", type=pathlib.Path, required=True, help="directory to make `site` in")
    parser.add_argument("--architecture", default="", help="whose wheels the lock pins (default: this machine's)")
    flags = parser.parse_args()
    try:
        count = install(flags.request, flags.lock, flags.root, flags.architecture)
    except (requirements.RequirementsError, pip.PipError, wheel_tags.ArchitectureError, wheels.WheelError) as error:
        print(f"pip: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        where = error.filename or flags.root
        print(f"pip: {where}: {error.strerror}; free space or correct permissions and run again", file=sys.stderr)
        return 1
    print(f"pip: {count} files", file=sys.stderr)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
