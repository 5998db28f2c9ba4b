"""Makes the site directory of requirements_lock.txt below a directory; run by the repository rule in repositories.bzl.

Example: PYTHONPATH=<workspace> python3.11 -m toolchains.python.install --lock requirements_lock.txt --request
  requirements.in --root .
"""

import argparse
import pathlib
import shutil
import sys
import tempfile
from concurrent import futures

from toolchains.python import byte_code, pip, requirements, wheels


def download_arguments(request: requirements.Request, lock: pathlib.Path, directory: pathlib.Path) -> list[str]:
    """pip's arguments to download every pinned archive and check its sha256, without building any."""
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
    ]
    if from_source:
        arguments += [f"--no-binary={','.join(from_source)}", "--no-build-isolation", "--no-use-pep517"]
    return arguments


def unpack(archive: pathlib.Path, root: pathlib.Path) -> int:
    """Unpacks one archive below `root`; returns the number of files."""
    if archive.suffix == ".whl":
        return wheels.unpack_wheel(archive, root)
    return wheels.unpack_source(archive, root)


def install(request_file: pathlib.Path, lock: pathlib.Path, root: pathlib.Path) -> int:
    """Downloads and unpacks everything the lock pins; returns the number of files.

    Raises:
        requirements.RequirementsError, pip.PipError, wheels.WheelError: one sentence each.
    """
    request = requirements.parse_request(request_file.read_text(encoding="utf-8"), request_file.name)
    pins = requirements.parse_lock(lock.read_text(encoding="utf-8"), lock.name)
    with tempfile.TemporaryDirectory(dir=root) as scratch:
        directory = pathlib.Path(scratch)
        pip.run(download_arguments(request, lock, directory), lock.name)
        archives = list(wheels.archives_in(directory))
        if len(archives) != len(pins):
            raise pip.PipError(
                f"{lock.name}: pins {len(pins)} archives, but pip downloaded {len(archives)}; "
                f"write a new lock with {requirements.LOCK_COMMAND}"
            )
        with futures.ProcessPoolExecutor() as pool:
            count = sum(pool.map(unpack, archives, [root] * len(archives)))
    site = root / "site"
    shutil.copyfile(pathlib.Path(__file__).with_name("sitecustomize.py"), site / "sitecustomize.py")
    return count + byte_code.compile_tree(site)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--request", type=pathlib.Path, required=True, help="requirements.in")
    parser.add_argument("--lock", type=pathlib.Path, required=True, help="requirements_lock.txt")
    parser.add_argument("--root", type=pathlib.Path, required=True, help="directory to make `site` in")
    flags = parser.parse_args()
    try:
        count = install(flags.request, flags.lock, flags.root)
    except (requirements.RequirementsError, pip.PipError, wheels.WheelError) as error:
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
