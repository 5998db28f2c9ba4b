"""Prints a function's report and a corpus's summary, with colours on terminals."""

from collections.abc import Sequence
from typing import TextIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from mlgo.explanation import function_report as reports
from mlgo.explanation.decision import ExplainedDecision
from mlgo.explanation.function_report import FunctionReport
from mlgo.explanation.summary import Explanation
from mlgo.run.printable import printable, printable_text

#: Width without a terminal, characters.
_PLAIN_WIDTH = 140
_SHOWN_FEATURES = 12
_LISTED_WIDTH = 90


def console(stream: TextIO) -> Console:
    """A console on `stream`: colours on terminals only."""
    width = None if stream.isatty() else _PLAIN_WIDTH
    return _PlainText(file=stream, width=width, highlight=False, soft_wrap=False, emoji=False, markup=False)


class _PlainText(Console):
    """A console that escapes control characters in the text it is given, and still colours it."""

    def render_str(self, text: str, **settings) -> Text:
        return super().render_str(printable_text(text), **settings)


def show_function(out: Console, report: FunctionReport) -> None:
    """Prints everything in `report`."""
    name = report.demangled.get(report.function, report.function)
    out.print(Text(printable(f"{report.problem}: {name}"), "bold"))
    if name != report.function:
        out.print(f"  {report.function}")
    out.print(f"  in {report.module}, policy {report.policy}")
    for line in report.outcome:
        out.print(f"  {line}")
    out.print(report.basis)
    for section in report.sections:
        out.print()
        out.print(Text(f"{section.title}: {_counted(section)}", "bold"))
        out.print(section.remark)
        for decision in section.decisions:
            out.print()
            _show_decision(out, report, decision)
        if hidden := section.total - len(section.decisions):
            out.print(f"\n{hidden} more decisions; see --limit, --callsite and --only_different.")


def show_functions(out: Console, rows: Sequence[tuple[str, str, int, int, int]]) -> None:
    """Prints a line per function: (name, demangled name, decisions, differing ones, decisions under the policy)."""
    title = "Functions to explain with --function; decisions of the default's compile"
    table = _table(("function", "decisions", "differ", "under the policy"), title)
    for _, name, decisions, differ, own in rows:
        table.add_row(reports.short(name, _LISTED_WIDTH), str(decisions), str(differ), str(own))
    out.print(table)


def show_summary(out: Console, explanation: Explanation) -> None:
    """Prints the figures of a corpus."""
    title = Text(f"{explanation.problem}: the policy differs from the heuristic in", "bold")
    out.print(title, explanation.differs.text())
    for (heuristic, policy), count in explanation.ways.items():
        out.print(f"  {count:7,}  heuristic: {heuristic}, policy: {policy}")
    if explanation.own_differs is not None:
        out.print("  in the states of the policy's own compiles:", explanation.own_differs.text())
    columns = ("feature", "decisions that change, 95 % interval", "confidence lost")
    title = f"Each feature permuted, {explanation.repeats} times, {explanation.sampled:,} decisions sampled"
    table = _table(columns, title)
    for each in explanation.importance[:_SHOWN_FEATURES]:
        table.add_row(each.feature, each.changed.percent(), f"{each.confidence_lost:+.4f}")
    out.print(table)
    if (hidden := len(explanation.importance) - _SHOWN_FEATURES) > 0:
        out.print(f"{hidden} more features are in explanation.json.")


def _show_decision(out: Console, report: FunctionReport, decision: ExplainedDecision) -> None:
    differs = "  DIFFERS" if decision.differs else ""
    name = reports.short(report.demangled.get(decision.callee, decision.callee))
    callee = f": call of {name}" if decision.callee else ""
    out.print(
        Text(printable(f"decision {decision.number}{callee}{differs}"), "bold yellow" if decision.differs else "bold")
    )
    out.print(f"  policy:    {reports.choice_text(decision)}")
    out.print(f"  heuristic: {reports.heuristic_text(decision)}")
    if decision.explained is None:
        out.print("  no alternative")
    else:
        shown, rest, others = reports.shown_reasons(decision, report.reasons)
        against = decision.alternative or "median"
        table = _table(("feature", decision.policy if decision.alternative else "value", against, "adds"))
        for reason in shown:
            table.add_row(
                reason.feature, reports.number(reason.value), reports.number(reason.compared), f"{reason.adds:+.2f}"
            )
        if others:
            table.add_row(f"{others} other{'s' * (others > 1)}", "", "", f"{rest:+.2f}")
        out.print(table)
    if report.all_values:
        seen = ", ".join(f"{name} {reports.number(value)}" for name, value in decision.values.items())
        out.print(f"  all it was shown{f', at {decision.policy}' if decision.candidates else ''}: {seen}")


def _table(columns: tuple[str, ...], title: str | None = None) -> Table:
    table = Table(box=None, title=title, title_justify="left", pad_edge=True, padding=(0, 2))
    for index, column in enumerate(columns):
        table.add_column(column, justify="left" if index == 0 else "right", overflow="fold")
    return table


def _counted(section: reports.Section) -> str:
    differing = "" if section.differing is None else f", {section.differing} differ from the heuristic"
    return f"{section.total} decisions{differing}"
