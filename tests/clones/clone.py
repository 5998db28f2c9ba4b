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


def files(source: pathlib.Path) -> list[pathlib.Path]:
    """Files and links of the workspace `source` that git tracks, and new ones that it does not ignore.

    Raises: subprocess.CalledProcessError: `source` is no git checkout.
    """
    listed = subprocess.run(
        ["git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=source,
        capture_output=True,
        check=True,
    ).stdout
    paths = (source / os.fsdecode(name) for name in listed.split(b"\0") if name)
    return sorted(path for path in paths if path.is_symlink() or path.is_file())


def copy(source: pathlib.Path, target: pathlib.Path) -> None:
    """Copies the workspace `source` to `target`, which must not exist.

    Raises: subprocess.CalledProcessError: `source` is no git checkout.
    """
    target.mkdir(parents=True)
    for old in files(source):
        new = target / old.relative_to(source)
        new.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(old, new, follow_symlinks=False)
