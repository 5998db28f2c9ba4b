"""Renders a function's report as one self-contained HTML page without scripts."""

import pathlib

import jinja2

from mlgo.explanation import function_report as reports
from mlgo.explanation.function_report import FunctionReport
from mlgo.run.printable import printable_value

_TEMPLATE = pathlib.Path(__file__).with_name("page.html.jinja")


def page(report: FunctionReport) -> bytes:
    """The page; names are escaped."""
    environment = jinja2.Environment(
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=printable_value,
    )
    environment.filters["number"] = reports.number
    template = environment.from_string(_TEMPLATE.read_text(encoding="utf-8"))
    text = template.render(
        report=report,
        name=report.demangled.get(report.function, report.function),
        choice_text=reports.choice_text,
        heuristic_text=reports.heuristic_text,
        shown_reasons=reports.shown_reasons,
    )
    return text.encode("utf-8")
