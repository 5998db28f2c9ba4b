"""The clang that compiles when none is given."""

import os
import pathlib
import shutil

from mlgo.run import locate
from mlgo.run.exit_codes import RunError

_PACKAGED_CLANG = "mlgo/environments/packaged_clang"
#: Debian's name of the program.
_ON_PATH = "clang-22"


def stock_clang(given: str | os.PathLike[str] | None) -> pathlib.Path:
    """The clang that is given; None: Debian's, which Bazel provides to targets that depend on this library.

    Code that was installed from a wheel has no packaged clang, and takes the clang-22 of the PATH.

    Raises: RunError: none is given, and there is no other.
    """
    if given is not None:
        return pathlib.Path(given).absolute()
    if locate.installed_root() is None:
        return locate.runfile(_PACKAGED_CLANG)
    found = shutil.which(_ON_PATH)
    if found is None:
        raise RunError("clang", f"is not given, and the PATH has no {_ON_PATH}", "Give the path of a clang 22")
    return pathlib.Path(found).absolute()
