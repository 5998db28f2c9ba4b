"""Renders a page as one self-contained HTML file without scripts, and a chart as an SVG file."""

import functools
import pathlib

import jinja2

from mlgo.pages.charts import Lines
from mlgo.pages.page import Page
from mlgo.run.printable import printable_value

_TEMPLATES = pathlib.Path(__file__).parent / "templates"


def html(page: Page) -> bytes:
    """`page` as HTML; equal pages give equal bytes. Names are escaped."""
    return _rendered("page.html", page=page)


def svg(chart: Lines) -> bytes:
    """`chart` as an image file of 800 by 440 pixels in the reader's colour scheme; equal charts give equal bytes."""
    return _rendered("chart.svg", chart=chart)


def _rendered(template: str, **values: object) -> bytes:
    # A symbol of a damaged object may not be encodable in UTF-8.
    return _environment().get_template(template).render(values).encode("utf-8", "replace")


@functools.cache
def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=printable_value,
    )
