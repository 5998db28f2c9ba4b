"""`mlgo` of the compiler that this workspace builds, in front of a build; started by Bazel.

    ./bazelw run //release:smaller -- --directory=PROJECT -- make -j8
    ./bazelw run //release:faster -- --directory=PROJECT --run='./prog input' -- make -j8

Installs the compiler into out/mlgo-clang of the workspace, and starts its bin/mlgo in the caller's folder.
"""

import os
import sys

from mlgo.run import locate
from mlgo.run.exit import exit_code_of
from mlgo.run.exit_codes import RunError
from release.installation.install import ARCHIVE_VARIABLE, install

_PREFIX = "out/mlgo-clang"


def run(arguments: list[str]) -> int:
    """Runs `mlgo` with `arguments`, of which the target gives the first; does not return where it can be started.

    Raises: RunError: the command was not started by Bazel, or the compiler cannot be installed.
    """
    archive, workspace = locate.of_environment(ARCHIVE_VARIABLE), locate.workspace(os.environ)
    if archive is None or workspace is None:
        raise RunError(
            "the compiler's archive", "is not there", "Start the command with ./bazelw run //release:smaller"
        )
    prefix = workspace / _PREFIX
    install(archive, prefix)
    sys.stdout.flush()
    os.chdir(os.environ.get("BUILD_WORKING_DIRECTORY", workspace))
    # Python's search path is Bazel's here, and bin/mlgo has its own.
    environment = {
        key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "RUNFILES", "BAZEL"))
    }
    os.execve(sys.executable, [sys.executable, str(prefix / "bin/mlgo"), *arguments], environment)


if __name__ == "__main__":
    sys.exit(exit_code_of(lambda: run(sys.argv[1:])))
