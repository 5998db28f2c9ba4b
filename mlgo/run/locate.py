"""Finds files of the build (runfiles), paths that the user gives, and the default output directory.

Under `bazel run`, the current directory is inside the runfiles tree, and Bazel passes the user's directory in
BUILD_WORKING_DIRECTORY. Only the commands of an installed wheel take the current directory as the user's.
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
    """The target's `data` at workspace path `path`, such as "development/clang". Raises: RunError: there is none."""
    label = f"//{os.path.dirname(path)}:{os.path.basename(path)}"
    return _existing(f"{MAIN_REPOSITORY}/{path}", f"Add {label} to the `data` of its BUILD target, or start")


def program(given: str | None, flag: str, variable: str) -> pathlib.Path:
    """The program given with `flag`, else that of `variable` (of_environment). Raises: RunError: none is usable."""
    path = user_path(given) if given else of_environment(variable)
    if path is None:
        wrong = "is not given, and there is no packaged program"
        raise RunError(flag, wrong, "start the command with ./bazelw run, or give the flag")
    if not path.is_file() or not os.access(path, os.X_OK):
        raise RunError(f"{flag}={path}", "is not an executable file", "give the path of LLVM's program")
    return path


def of_environment(variable: str) -> pathlib.Path | None:
    """The file that `variable` names by rlocationpath or label, if set. Raises: RunError: the label cannot be built."""
    name = os.environ.get(variable)
    if name is None:
        return None
    return user_path(name) if labels.is_label(name) else _rlocation(name)


def rlocation(name: str) -> pathlib.Path:
    """The runfile with rlocationpath `name`, or the file at an absolute path. Raises: RunError: it does not exist."""
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


def user_path(path: str, environment: Mapping[str, str] = os.environ) -> pathlib.Path:
    """The absolute path for `path`: relative to the user's directory, beginning with `~`, or a label, which is built.

    Raises: RunError: a relative path or a label outside of `bazel run`, or a label that cannot be built.
    """
    if labels.is_label(path):
        return labels.built(path, workspace(environment), _rlocation(f"{MAIN_REPOSITORY}/{labels.OPTIONS}"))
    # Not Path.expanduser: a Path has lost the "./" of "./~x", and fails for a user who does not exist.
    expanded = pathlib.Path(os.path.expanduser(path))
    if expanded.is_absolute():
        return pathlib.Path(os.path.normpath(expanded))
    base = environment.get("BUILD_WORKING_DIRECTORY", os.getcwd() if installed_root() else None)
    if base is None:
        wrong = "is relative, and BUILD_WORKING_DIRECTORY, which it is relative to, is not set"
        raise RunError(f"path {path}", wrong, "Give an absolute path or start the command with ./bazelw run")
    return pathlib.Path(os.path.normpath(os.path.join(base, expanded)))


def workspace(environment: Mapping[str, str] = os.environ) -> pathlib.Path | None:
    """The root of the user's workspace, or None when the command was not started by `bazel run`."""
    root = environment.get("BUILD_WORKSPACE_DIRECTORY")
    return pathlib.Path(root) if root else None


def output_directory(flag: str | None, default_name: str, environment: Mapping[str, str] = os.environ) -> pathlib.Path:
    """An output directory: by default `out/<default_name>` in the workspace. Raises: RunError: there is no default."""
    if flag:
        return user_path(flag, environment)
    root = workspace(environment)
    if root is None:
        wrong = "is not given, and has no default outside of `bazel run`"
        raise RunError("--output_dir", wrong, "Give --output_dir=/some/directory")
    return root / "out" / default_name
