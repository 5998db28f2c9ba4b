"""Finds files of the build (runfiles), paths that the user gives, and the default output directory.

The current directory is inside the runfiles tree under `bazel run` and is not read there. Bazel passes the user's
directory in BUILD_WORKING_DIRECTORY and the root of the workspace in BUILD_WORKSPACE_DIRECTORY. Only the commands of an
installed wheel take the current directory as the user's.
"""

import functools
import os
import pathlib
from collections.abc import Mapping

from mlgo.run import labels
from mlgo.run.exit_codes import ExitCode, RunError

#: The name that bzlmod gives to the main repository in runfiles trees.
MAIN_REPOSITORY = "_main"


@functools.cache
def installed_root() -> pathlib.Path | None:
    """The folder that mlgo was installed to from its wheel (//mlgo:wheel); None: this code runs from a workspace."""
    root = pathlib.Path(__file__).resolve().parents[2]
    return root if any(root.glob("mlgo-*.dist-info")) else None


@functools.cache
def runfile(path: str) -> pathlib.Path:
    """The file or directory that the running target's `data` provides at workspace path `path`.

    Args:
      path: relative to the workspace root, for example "development/clang".

    Raises:
      RunError: it is not among the runfiles, or the program was not started by Bazel.
    """
    label = f"//{os.path.dirname(path)}:{os.path.basename(path)}"
    return _existing(f"{MAIN_REPOSITORY}/{path}", f"Add {label} to the `data` of its BUILD target, or start")


def program(given: str | None, flag: str, variable: str) -> pathlib.Path:
    """The program that the user gives with `flag`; by default the packaged one.

    Args: variable: environment variable in which the command's BUILD target names the packaged one.
    Raises: RunError: there is neither, or it is not executable.
    """
    path = user_path(given) if given else of_environment(variable)
    if path is None:
        wrong = "is not given, and there is no packaged program"
        raise RunError(flag, wrong, "start the command with ./bazelw run, or give the flag")
    if not path.is_file() or not os.access(path, os.X_OK):
        raise RunError(f"{flag}={path}", "is not an executable file", "give the path of LLVM's program")
    return path


def of_environment(variable: str) -> pathlib.Path | None:
    """The file that the command's BUILD target names in `variable`; None without the variable.

    It is a runfile, named by its rlocationpath, or is built, named by its label.

    Raises: RunError: the label cannot be built.
    """
    name = os.environ.get(variable)
    if name is None:
        return None
    return user_path(name) if labels.is_label(name) else _rlocation(name)


def rlocation(name: str) -> pathlib.Path:
    """The runfile with this rlocationpath, such as "_main/mlgo/x.json"; an absolute path stays as it is.

    Raises: RunError: it does not exist.
    """
    return _existing(name, "Start")


def _existing(name: str, remedy: str) -> pathlib.Path:
    found = _rlocation(name)
    if found is None or not found.exists():
        wrong = "is not among the files of this command"
        raise RunError(f"runfile {name}", wrong, f"{remedy} the command with ./bazelw run", ExitCode.INTERNAL_ERROR)
    return found


def _rlocation(name: str) -> pathlib.Path | None:
    if (root := installed_root()) is not None:
        # A wheel has its data beside the modules, under the same paths.
        return root / name.removeprefix(f"{MAIN_REPOSITORY}/")
    from runfiles import runfiles  # A pip package that user paths do not need.

    # `bazel run` names the manifest, which knows no folders and leads out of the tree; a test names the tree.
    tree = os.environ.get("RUNFILES_MANIFEST_FILE", "").removesuffix("_manifest")
    known = runfiles.Create({"RUNFILES_DIR": tree} if tree.endswith(".runfiles") and os.path.isdir(tree) else None)
    # Names are canonical. Without `source_repo`, a module outside of the runfiles, such as a copy, would be refused.
    found = known.Rlocation(name, source_repo="") if known is not None else None
    return pathlib.Path(found) if found is not None else None


def user_path(path: str, environment: Mapping[str, str] | None = None) -> pathlib.Path:
    """The absolute path for `path`, which is relative to the user's directory or begins with `~`.

    A label (mlgo/run/labels.py) stands for what Bazel makes of it, and is built if it is not yet.

    Raises: RunError: a relative path or a label outside of `bazel run`, or a label that cannot be built.
    """
    environment = os.environ if environment is None else environment
    if labels.is_label(path):
        return labels.built(path, workspace(environment), _rlocation(f"{MAIN_REPOSITORY}/{labels.OPTIONS}"))
    # Not Path.expanduser: a Path has lost the "./" of "./~x", and fails for a user who does not exist.
    expanded = pathlib.Path(os.path.expanduser(path))
    if expanded.is_absolute():
        return pathlib.Path(os.path.normpath(expanded))
    base = environment.get("BUILD_WORKING_DIRECTORY")
    if base is None and installed_root() is not None:
        base = os.getcwd()
    if base is None:
        wrong = "is relative, and BUILD_WORKING_DIRECTORY, which it is relative to, is not set"
        raise RunError(f"path {path}", wrong, "Give an absolute path or start the command with ./bazelw run")
    return pathlib.Path(os.path.normpath(os.path.join(base, expanded)))


def workspace(environment: Mapping[str, str] | None = None) -> pathlib.Path | None:
    """The root of the user's workspace, or None when the command was not started by `bazel run`."""
    environment = os.environ if environment is None else environment
    root = environment.get("BUILD_WORKSPACE_DIRECTORY")
    return pathlib.Path(root) if root else None


def output_directory(flag: str | None, default_name: str, environment: Mapping[str, str] | None = None) -> pathlib.Path:
    """The output directory of a command: the flag's value, by default `out/<default_name>` in the workspace.

    Raises:
      RunError: no flag was given and no workspace is known.
    """
    if flag:
        return user_path(flag, environment)
    root = workspace(environment)
    if root is None:
        wrong = "is not given, and has no default outside of `bazel run`"
        raise RunError("--output_dir", wrong, "Give --output_dir=/some/directory")
    return root / "out" / default_name
