"""A copy of the sources of mlgo, which a test may change and run."""

import pathlib
import re
import shutil

from tests.end_to_end import command

#: A file on a page of docs/: its name, then its indented content. The command of such a page, and its flags.
_FILE = re.compile(r"^`(mlgo/[^`]+)`:\n\n((?:(?:    .*)?\n)+)", re.MULTILINE)
COMMAND = re.compile(r"^    \./bazelw run //mlgo:(\w+) -- ((?:.*\\\n)*.*)$", re.MULTILINE)


def copy_sources(workspace: pathlib.Path) -> None:
    """Copies what commands are made of to the folder `workspace`: sources, settings, templates, files of Bazel."""
    for name in ("mlgo", "llvm"):
        shutil.copytree(pathlib.Path(command.__file__).parents[2] / name, workspace / name, ignore=_is_data)


def copy_sources_of_page(workspace: pathlib.Path, page: str) -> None:
    """As `copy_sources`, with the files that the text of a page has."""
    copy_sources(workspace)
    for name, block in _FILE.findall(page):
        path = workspace / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(line[4:] + "\n" for line in block.rstrip().split("\n")), encoding="utf-8")


def _is_data(folder: str, names: list[str]) -> list[str]:
    """What the copy leaves out: all but sources, settings, templates, files of Bazel and the table of options."""
    wanted = (".py", ".gin", ".html", ".css", ".svg", ".bzl", "BUILD.bazel", "chosen.json")
    here = pathlib.Path(folder)
    return [n for n in names if not (n.endswith(wanted) or ((here / n).is_dir() and not (here / n).is_symlink()))]
