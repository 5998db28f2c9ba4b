"""Renders a page as one self-contained HTML file without scripts; drawings are SVG."""

import functools
import pathlib

import jinja2

from mlgo.reporting import drawings
from mlgo.reporting.page import Page
from mlgo.run.printable import printable_value

_TEMPLATES = pathlib.Path(__file__).parent / "templates"


def html(page: Page) -> bytes:
    """`page` as HTML; equal pages give equal bytes. Names are escaped."""
    text = _environment().get_template("page.html").render(page=page)
    # A symbol of a damaged object may not be encodable in UTF-8.
    return text.encode("utf-8", "replace")


@functools.cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=printable_value,
    )
    environment.filters |= {"percent": drawings.percent, "interval": drawings.interval}
    return environment
