"""Writes the page about folders with results, and its summary in Markdown."""

import pathlib
from collections.abc import Sequence

from mlgo.compiler.symbols import Demangler
from mlgo.pages.markdown import summary
from mlgo.pages.page import Page
from mlgo.pages.rendering import html
from mlgo.reporting.compose import compose
from mlgo.reporting.provenance import page_command
from mlgo.reporting.reading import read_folder
from mlgo.run import files, locate
from mlgo.run.exit_codes import RunError

PAGE_NAME = "report.html"


def write_page(named: Sequence[tuple[str, pathlib.Path]], output: pathlib.Path) -> Page:
    """Writes the page about the folders of `named`, which are (name, path), to `output`, and the summary beside it.

    Raises: RunError: a folder holds no result that can be read, or `output` ends in .md.
    """
    summary_file = summary_path(output)
    # One at a time: several folders with one name belong to one policy.
    records = [record for name, path in named for record in read_folder(path, name, locate.workspace())]
    page = compose(records, page_command(named, locate.workspace()), Demangler.of_command())
    files.write_atomically(output, html(page))
    files.write_atomically(summary_file, summary(page))
    return page


def summary_path(output: pathlib.Path) -> pathlib.Path:
    """The file of the Markdown summary of the page at `output`.

    Raises: RunError: it is the page's own file.
    """
    path = output.with_suffix(".md")
    if path == output:
        raise RunError(f"--output={output}", "ends in .md, which is the suffix of the summary", "Use the suffix .html")
    return path
