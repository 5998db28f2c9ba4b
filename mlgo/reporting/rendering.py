"""A page as one HTML file that loads nothing: its style is inside, its drawings are SVG, and there is no script."""

import functools
import pathlib

import jinja2

from mlgo.reporting import drawings
from mlgo.reporting.page import Page

_TEMPLATES = pathlib.Path(__file__).parent / "templates"


def html(page: Page) -> bytes:
    """`page` as HTML; equal pages give equal bytes. Whatever a name in it holds is text, never markup."""
    text = _environment().get_template("page.html").render(page=page)
    # A symbol of a damaged object may hold what UTF-8 cannot say.
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
    )
    environment.filters |= {"percent": drawings.percent, "interval": drawings.interval}
    return environment
