"""A copy of this workspace: what git tracks, as the working tree has it, and new files that git does not ignore."""

import os
import pathlib
import shutil
import subprocess


def root() -> pathlib.Path:
    """The workspace this test was built from.

    Its files stand in the runfiles as links; one of them is followed.

    Raises: KeyError: not run by `bazel test`.
    """
    module = pathlib.Path(os.environ["TEST_SRCDIR"], os.environ["TEST_WORKSPACE"], "MODULE.bazel")
    return module.resolve(strict=True).parent


def copy(source: pathlib.Path, target: pathlib.Path) -> None:
    """Copies the workspace `source` to `target`, which must not exist.

    Raises: subprocess.CalledProcessError: `source` is no git checkout.
    """
    listed = subprocess.run(
        ["git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=source,
        capture_output=True,
        check=True,
    ).stdout
    target.mkdir(parents=True)
    for name in filter(None, listed.split(b"\0")):
        old, new = source / os.fsdecode(name), target / os.fsdecode(name)
        if old.is_symlink() or old.is_file():
            new.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(old, new, follow_symlinks=False)
