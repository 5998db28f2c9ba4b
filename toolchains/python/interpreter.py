"""Prepares the interpreter that runs this: copies its tree, cuts it off from the machine, compiles its standard library.

Example: PYTHONPATH=<workspace> <tree>/usr/bin/python3.11 -B -m toolchains.python.interpreter --root .
"""

import argparse
import os
import pathlib
import shutil
import sys

from toolchains.python import byte_code

# Without `home`, site.py takes this file to mean: no user site, no directory but the tree's own.
PYVENV = "include-system-site-packages = false\n"


def prepare(source: pathlib.Path, root: pathlib.Path) -> None:
    """Copies the tree `source` (a directory named usr) to `root`/usr and completes it."""
    target = root / "usr"
    shutil.copytree(source, target, symlinks=True)
    # Debian's site.py would take this empty directory onto the path.
    shutil.rmtree(target / "lib" / "python3", ignore_errors=True)
    (target / "pyvenv.cfg").write_text(PYVENV, encoding="ascii")
    byte_code.compile_tree(target / "lib" / "python3.11")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, required=True, help="directory to make `usr` in")
    flags = parser.parse_args()
    source = pathlib.Path(os.path.realpath(sys.executable)).parent.parent
    try:
        prepare(source, flags.root)
    except OSError as error:
        print(
            f"interpreter: {error.filename or flags.root}: {error.strerror}; free space or mend permissions and run again",
            file=sys.stderr,
        )
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
