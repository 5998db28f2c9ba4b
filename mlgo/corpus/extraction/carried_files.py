"""Which files an object may name, so that they become a part of the corpus: those of the build, and no others.

A recorded command is untrusted: a profile that it names by an absolute path could be any file that the user can read,
and would be published with the corpus.
"""

import os
import pathlib
from collections.abc import Callable, Iterable

from mlgo.run.exit_codes import RunError

FLAG = "--allow_file_root"


class FileOutside(RunError):
    """A file lies outside of the build."""


class FileRoots:
    """The folders whose files may become a part of the corpus.

    Args: folders: absolute paths; those that are links stand for the folders they lead to.
    """

    def __init__(self, folders: Iterable[str | os.PathLike[str]]):
        self._roots = tuple(dict.fromkeys(pathlib.Path(os.path.realpath(folder)) for folder in folders))

    def check(self, path: str | os.PathLike[str]) -> None:
        """Raises: FileOutside: `path`, all links on the way resolved, lies in none of the folders."""
        # `realpath` and not `resolve`, which raises where links form a circle.
        place = pathlib.Path(os.path.realpath(path))
        if any(place.is_relative_to(root) for root in self._roots):
            return
        leads = "" if str(place) == os.fspath(path) else f" (it is {place})"
        # In the clause, and not only in the remedy: reports of single objects keep the clause.
        raise FileOutside(
            f"file {os.fspath(path)}",
            f"lies outside of the build{leads}; {FLAG}={place.parent} allows it",
            "Give that flag if the file may be published with the corpus, or build without the option that names it",
        )

    def guarded(self, add_file: Callable[[pathlib.Path], str]) -> Callable[[pathlib.Path], str]:
        """`add_file`, which carries a file into the corpus, for files in these folders only."""

        def add(path: pathlib.Path) -> str:
            self.check(path)
            return add_file(path)

        return add


def roots_of_build(folders: Iterable[str | os.PathLike[str]]) -> FileRoots:
    """The folders of a build, and what Bazel's link `bazel-out` in them leads to: there lies what actions wrote."""
    given = [pathlib.Path(folder) for folder in folders]
    return FileRoots([*given, *(folder / "bazel-out" for folder in given)])
