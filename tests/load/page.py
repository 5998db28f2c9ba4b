"""Puts generated tables between marks into docs/benchmarks.md."""

from collections.abc import Sequence

from mlgo.pages import marks
from mlgo.run import files, locate
from mlgo.run.exit_codes import RunError

_PAGE = "docs/benchmarks.md"


def table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown; the first column holds names, the others numbers."""
    lines = [list(headings), ["---", *["---:"] * (len(headings) - 1)], *map(list, rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def write_section(name: str, content: str) -> None:
    """Replaces the section `name` of the page in the user's workspace.

    Raises: RunError: the program was not started by Bazel.
    """
    root = locate.workspace()
    if root is None:
        raise RunError(_PAGE, "cannot be found: no workspace is known", "Start the command with ./bazelw run")
    path = root / _PAGE
    files.write_atomically(
        path, marks.with_section(path.read_text(encoding="utf-8"), "generated", name, content).encode("utf-8")
    )
