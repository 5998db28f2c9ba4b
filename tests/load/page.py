"""Puts generated tables between marks into docs/benchmarks.md."""

from collections.abc import Sequence

from mlgo.run import files, locate
from mlgo.run.exit_codes import RunError

_PAGE = "docs/benchmarks.md"


def table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown; the first column holds names, the others numbers."""
    lines = [list(headings), ["---", *["---:"] * (len(headings) - 1)], *map(list, rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def with_section(page: str, name: str, content: str) -> str:
    """`page`, with `content` in place of what stands between the marks of `name`.

    Raises: ValueError: the page does not have each mark once.
    """
    begin, end = f"<!-- begin generated: {name} -->\n", f"<!-- end generated: {name} -->\n"
    if page.count(begin) != 1 or page.count(end) != 1 or page.index(begin) > page.index(end):
        raise ValueError(f"the page must have each of {begin.strip()!r} and {end.strip()!r} once, in this order")
    before, after = page.split(begin)[0], page.split(end)[1]
    return f"{before}{begin}{content.strip()}\n{end}{after}"


def write_section(name: str, content: str) -> None:
    """`with_section` of the page in the user's workspace.

    Raises: RunError: the program was not started by Bazel.
    """
    root = locate.workspace()
    if root is None:
        raise RunError(_PAGE, "cannot be found: no workspace is known", "Start the command with ./bazelw run")
    path = root / _PAGE
    files.write_atomically(path, with_section(path.read_text(encoding="utf-8"), name, content).encode("utf-8"))
