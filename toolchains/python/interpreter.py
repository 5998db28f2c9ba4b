"""Copies an interpreter, isolates the copy from the machine, and compiles its standard library.

Example: PYTHONPATH=<workspace> <tree>/usr/bin/python3.11 -B -m toolchains.python.interpreter --root .
"""

import argparse
import os
import pathlib
import shutil
import sys

from toolchains.python import byte_code

# Without `home`, this file makes site.py use no directory outside of the tree.
PYVENV = "include-system-site-packages = false\n"


def prepare(source: pathlib.Path, root: pathlib.Path) -> None:
    """Makes `root`/usr of the tree `source`, a directory named usr. Files that stay are hard links where possible."""
    target = root / "usr"
    shutil.copytree(source, target, symlinks=True, copy_function=_link)
    # Debian's site.py would take this empty directory onto the path.
    shutil.rmtree(target / "lib" / "python3", ignore_errors=True)
    (target / "pyvenv.cfg").write_text(PYVENV, encoding="ascii")
    byte_code.compile_tree(target / "lib" / "python3.11")


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # Of another file system, or one without hard links.
        shutil.copy2(source, target)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, required=True, help="directory to make `usr` in")
    flags = parser.parse_args()
    source = pathlib.Path(os.path.realpath(sys.executable)).parent.parent
    try:
        prepare(source, flags.root)
    except OSError as error:
        where = error.filename or flags.root
        print(
            f"interpreter: {where}: {error.strerror}; free space or correct permissions and run again", file=sys.stderr
        )
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
