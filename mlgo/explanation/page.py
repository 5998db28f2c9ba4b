"""A function's decisions as one HTML page that needs nothing else: no network, no script."""

import pathlib

import jinja2

from mlgo.explanation import function_report as reports
from mlgo.explanation.function_report import FunctionReport

_TEMPLATE = pathlib.Path(__file__).with_name("page.html.jinja")


def page(report: FunctionReport) -> bytes:
    """The page. Names from the corpus are text in it, whatever they hold."""
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
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
