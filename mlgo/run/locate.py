"""Where things are: files the build provides, paths the user gives, the default place for outputs.

Nothing here reads the current directory. Under `bazel run` it would be inside the runfiles tree; Bazel tells where the
user stood through BUILD_WORKING_DIRECTORY and where the workspace lies through BUILD_WORKSPACE_DIRECTORY.
"""

import functools
import os
import pathlib
import re
from collections.abc import Mapping

from mlgo.run.exit_codes import ExitCode, RunError

#: The name that bzlmod gives to the main repository in runfiles trees.
MAIN_REPOSITORY = "_main"

# A label of the user's workspace. As a path it would have two slashes at its beginning, which nobody writes.
_LABEL = re.compile(r"//(?P<package>[^:]*):(?P<name>[^:]+)")


@functools.cache
def runfile(path: str) -> pathlib.Path:
    """The file or directory that the running target's `data` provides at workspace path `path`.

    Args:
      path: relative to the workspace root, for example "mlgo/corpus/llvm_small_train".

    Raises:
      RunError: it is not among the runfiles, or the program was not started by Bazel.
    """
    # Imported here: this is a pip package, and most users of this module only want user paths.
    from runfiles import runfiles  # pylint: disable=import-outside-toplevel

    manifest = runfiles.Create()
    found = manifest.Rlocation(f"{MAIN_REPOSITORY}/{path}") if manifest is not None else None
    if found is None or not os.path.exists(found):
        raise RunError(
            f"runfile {path}",
            "is not among the files of this command",
            f"Add //{os.path.dirname(path)}:{os.path.basename(path)} to the `data` of its BUILD target,"
            " or start the command with ./bazelw run",
            ExitCode.INTERNAL_ERROR,
        )
    return pathlib.Path(found)


def program(given: str | None, flag: str, variable: str) -> pathlib.Path:
    """The program that the user names with `flag`, else the one of the workspace's packages.

    Args: variable: of the environment, in which the command's BUILD target names the runfile.
    Raises: RunError: there is neither, or it cannot be run.
    """
    path = user_path(given) if given else of_environment(variable)
    if path is None:
        raise RunError(
            flag, "is not given, and there is no packaged one", "start the command with ./bazelw run, or give it"
        )
    if not path.is_file() or not os.access(path, os.X_OK):
        raise RunError(f"{flag}={path}", "is not an executable file", "give the path of LLVM's program")
    return path


def of_environment(variable: str) -> pathlib.Path | None:
    """The runfile that the command's BUILD target names in `variable` by its rlocationpath, if it does."""
    name = os.environ.get(variable)
    return None if name is None else _rlocation(name)


def rlocation(name: str) -> pathlib.Path:
    """The runfile with this rlocationpath, such as "_main/mlgo/x.json"; an absolute path is what it is.

    Raises: RunError: there is none.
    """
    found = _rlocation(name)
    if found is None or not found.exists():
        what = "is not among the files of this command"
        raise RunError(f"runfile {name}", what, "start the command with ./bazelw run", ExitCode.INTERNAL_ERROR)
    return found


def _rlocation(name: str) -> pathlib.Path | None:
    from runfiles import runfiles  # pylint: disable=import-outside-toplevel  # As above.

    manifest = runfiles.Create()
    found = manifest.Rlocation(name) if manifest is not None else None
    return pathlib.Path(found) if found is not None else None


def user_path(path: str, environment: Mapping[str, str] | None = None) -> pathlib.Path:
    """`path` as the user meant it: relative to where the user typed the command, `~` expanded, made absolute.

    A label, //package:name, means what the workspace has built of it.

    Raises: RunError: a relative path or a label outside of `bazel run`, or a label that is not built.
    """
    environment = os.environ if environment is None else environment
    if label := _LABEL.fullmatch(path):
        return _built(label, workspace(environment))
    expanded = pathlib.Path(path).expanduser()
    if expanded.is_absolute():
        return pathlib.Path(os.path.normpath(expanded))
    base = environment.get("BUILD_WORKING_DIRECTORY")
    if base is None:
        raise RunError(
            f"path {path}",
            "is relative, and without BUILD_WORKING_DIRECTORY there is nothing it could be relative to",
            "Give an absolute path or start the command with ./bazelw run",
        )
    return pathlib.Path(os.path.normpath(os.path.join(base, expanded)))


def _built(label: re.Match[str], root: pathlib.Path | None) -> pathlib.Path:
    if root is None:
        raise RunError(
            f"label {label[0]}",
            "belongs to no workspace, for this is not `bazel run`",
            "Give a path, or start the command with ./bazelw run",
        )
    found = root / "bazel-bin" / label["package"] / label["name"]
    if not found.exists():
        raise RunError(
            f"label {label[0]}", f"is not built: there is no {found}", f"Build it first: ./bazelw build {label[0]}"
        )
    return found


def workspace(environment: Mapping[str, str] | None = None) -> pathlib.Path | None:
    """The root of the user's workspace, or None when the command was not started by `bazel run`."""
    environment = os.environ if environment is None else environment
    root = environment.get("BUILD_WORKSPACE_DIRECTORY")
    return pathlib.Path(root) if root else None


def output_directory(flag: str | None, default_name: str, environment: Mapping[str, str] | None = None) -> pathlib.Path:
    """Where a command writes: the flag's value, else `out/<default_name>` in the workspace.

    Raises:
      RunError: no flag was given and no workspace is known.
    """
    if flag:
        return user_path(flag, environment)
    root = workspace(environment)
    if root is None:
        raise RunError(
            "--output_dir",
            "is not given, and outside `bazel run` it has no default",
            "Give --output_dir=/some/directory",
        )
    return root / "out" / default_name
