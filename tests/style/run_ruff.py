"""Runs ruff in the workspace: `./bazelw run //tests/style:ruff -- format`, or `check --fix`."""

import os
import pathlib
import sys

import ruff

#: ruff is a program; the wheel's program lies in `bin` of the site.
PROGRAM = pathlib.Path(ruff.__file__).parents[1] / "bin" / "ruff"

if __name__ == "__main__":
    os.chdir(os.environ["BUILD_WORKSPACE_DIRECTORY"])
    os.execv(PROGRAM, [str(PROGRAM), *sys.argv[1:]])
