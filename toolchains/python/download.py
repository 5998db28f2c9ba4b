"""Downloads the wheels of a lock for another version of Python, and keeps them packed; run by `wheels_repository`.

Example: PYTHONPATH=<workspace> python3.11 -m toolchains.python.download --lock requirements_python313_lock.txt
  --python_version 3.13 --output wheels
"""

import argparse
import pathlib
import sys

from toolchains.python import install, pip, requirements


def download(lock: pathlib.Path, python_version: str, directory: pathlib.Path) -> None:
    """Makes `directory` with every archive of the lock, whose digests pip checks.

    Raises:
        pip.PipError: one sentence.
    """
    arguments = install.download_arguments(requirements.Request((), frozenset()), lock, directory)
    pip.run([*arguments, f"--python-version={python_version}"], lock.name)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lock", type=pathlib.Path, required=True, help="a lock of wheels")
    parser.add_argument("--python_version", required=True, help="such as 3.13")
    parser.add_argument("--output", type=pathlib.Path, required=True, help="directory for the wheels; made")
    flags = parser.parse_args()
    try:
        download(flags.lock, flags.python_version, flags.output)
    except pip.PipError as error:
        print(f"pip: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
