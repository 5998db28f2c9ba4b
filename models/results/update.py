"""Writes the results in models/ into the pages that show them: ./bazelw run //models/results:update."""

import pathlib
import sys
from collections.abc import Iterator

from mlgo.run import files, locate
from mlgo.run.exit import exit_code_of
from mlgo.run.exit_codes import RunError
from models.results import pages, sections


def pages_with_numbers(workspace: pathlib.Path) -> Iterator[tuple[pathlib.Path, str, str]]:
    """(path, text, renewed text) of every page that has generated tables or values.

    Raises: RunError: a mark names nothing, or a result is missing.
    """
    models = workspace / "models"
    try:
        tables = sections.tables_of(models)
    except (OSError, ValueError, KeyError) as error:
        raise RunError(
            "models", f"a result cannot be read: {error!r}", "Run the .update target of its folder"
        ) from error
    for path in [
        workspace / "README.md",
        *sorted((workspace / "docs").rglob("*.md")),
        *sorted(models.rglob("README.md")),
    ]:
        text = path.read_text(encoding="utf-8")
        try:
            yield path, text, pages.renewed(text, tables, models)
        except ValueError as error:
            raise RunError(str(path.relative_to(workspace)), str(error), "Correct the mark") from error


def main() -> int:
    """Renews all pages of the user's workspace."""
    workspace = locate.workspace()
    if workspace is None:
        raise RunError("the workspace", "is not known", "Start the command with ./bazelw run //models/results:update")
    for path, text, renewed in pages_with_numbers(workspace):
        if text != renewed:
            files.write_atomically(path, renewed.encode("utf-8"))
            print(f"written: {path.relative_to(workspace)}")
    return 0


if __name__ == "__main__":
    sys.exit(exit_code_of(main))
