"""A copy of the sources of mlgo, which a test may change and run."""

import pathlib
import shutil

from tests.end_to_end import command


def copy_sources(workspace: pathlib.Path) -> None:
    """Copies what commands are made of to the folder `workspace`: sources, settings, templates, files of Bazel."""
    for name in ("mlgo", "llvm"):
        shutil.copytree(pathlib.Path(command.__file__).parents[2] / name, workspace / name, ignore=_is_data)


def _is_data(folder: str, names: list[str]) -> list[str]:
    """What the copy leaves out: all but sources, settings, templates, files of Bazel and the table of options."""
    wanted = (".py", ".gin", ".html", ".css", ".svg", ".bzl", "BUILD.bazel", "chosen.json")
    here = pathlib.Path(folder)
    return [n for n in names if not (n.endswith(wanted) or ((here / n).is_dir() and not (here / n).is_symlink()))]
