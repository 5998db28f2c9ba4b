"""Writes explanation.md and its chart."""

import io
import itertools
from collections.abc import Sequence

from mlgo.explanation.attribution import Piece
from mlgo.explanation.decision import ExplainedDecision
from mlgo.explanation.function_report import choice_text, heuristic_text, number, short
from mlgo.explanation.importance import FeatureImportance
from mlgo.explanation.summary import Explanation
from mlgo.run.tabular import markdown_code, markdown_text

#: Reasons listed with an example.
_REASONS = 4
_HOW_TO_READ = (
    '"Against" stands the value that a reason is counted from: at the heuristic\'s choice where one of several was'
    " chosen, else the median of the example's module. At most two examples are of one module, and one of a function or"
    " callee."
)
#: Bars in the chart.
_BARS = 15
#: Readable for the colour-blind (Okabe and Ito, 2008).
_BLUE = "#0072b2"


def markdown(explanation: Explanation, chart: str) -> str:
    """The document. Args: chart: the chart's file name beside it."""
    lines = [
        f"# What the {explanation.problem} policy does differently",
        "",
        "In the states that the default's compiles go through it differs from the heuristic in"
        f" **{explanation.differs.text()}** (95 % bootstrap interval over modules).",
    ]
    if explanation.ways:
        ways = [f"{heuristic} → {policy}: {count:,}" for (heuristic, policy), count in explanation.ways.items()]
        lines += ["", f"Heuristic → policy: {'; '.join(ways)}."]
    if explanation.own_differs is not None:
        lines += ["", f"In the states of its own compiles: {explanation.own_differs.text()}."]
    if explanation.failed:
        left_out = ", ".join(f"{markdown_text(name)} ({why})" for name, why in explanation.failed.items())
        lines += ["", f"Left out, since they failed: {left_out}"]
    lines += [
        "",
        "## What its decisions hang on",
        "",
        f"Each feature permuted by itself, {explanation.repeats} times, among {explanation.sampled:,} sampled"
        " decisions: the share that change, and how much probability the original decision loses on average.",
        "",
        f"![Permutation importance]({chart})",
        "",
        "| feature | decisions that change | confidence lost |",
        "|---|---|---|",
    ]
    lines += [
        f"| {each.feature} | {each.changed.percent()} | {each.confidence_lost:+.4f} |"
        for each in explanation.importance
    ]
    if explanation.formula is not None:
        lines += _formula_lines(*explanation.formula)
    lines += ["", "## Where it differs most clearly", "", _HOW_TO_READ, ""]
    for example in explanation.examples:
        lines += [*_example_lines(example, explanation), ""]
    if not explanation.examples:
        lines += ["Nowhere.", ""]
    return "\n".join(lines)


def _formula_lines(start: float, pieces: Sequence[Piece]) -> list[str]:
    """A linear policy as a table: for each feature the values at which its slope changes, with its contribution
    there."""
    lines = ["", "## The whole policy", ""]
    lines += [
        f"It is linear over pieces of the features: z starts at {start:+.2f} and gets what each feature has added at"
        " its value; it decides for"
    ]
    lines += ["1 where z is above 0. Between the values below the way is straight, outside it goes on level.", ""]
    lines += ["| feature | value: what it has added to z |", "|---|---|"]
    for feature, of_feature in itertools.groupby(pieces, key=lambda piece: piece.feature):
        cells, total = [], 0.0
        for piece in of_feature:
            cells += [] if cells else [f"{number(piece.start)}: 0"]
            total += piece.adds
            cells.append(f"{number(piece.end)}: {total:+.2f}")
        lines.append(f"| {feature} | {', '.join(cells)} |")
    return lines


def importance_chart(importance: Sequence[FeatureImportance], title: str) -> bytes:
    """A bar chart as SVG: the most important features, with intervals; equal input gives equal bytes."""
    import matplotlib  # pylint: disable=import-outside-toplevel  # 0.5 s that only this function needs.
    from matplotlib.backends.backend_svg import FigureCanvasSVG  # pylint: disable=import-outside-toplevel
    from matplotlib.figure import Figure  # pylint: disable=import-outside-toplevel

    shown = importance[:_BARS][::-1]
    shares = [100 * each.changed.share for each in shown]
    # A mean lies within its interval except for rounding.
    errors = [
        [max(0.0, share - 100 * each.changed.low) for share, each in zip(shares, shown)],
        [max(0.0, 100 * each.changed.high - share) for share, each in zip(shares, shown)],
    ]
    # Fixed ids and no date: equal input gives equal bytes. Text stays text.
    with matplotlib.rc_context({"svg.hashsalt": "mlgo", "svg.fonttype": "none"}):
        figure = Figure(figsize=(7.5, 1.2 + 0.28 * len(shown)), layout="constrained")
        axes = figure.subplots()
        axes.barh([each.feature for each in shown], shares, xerr=errors, color=_BLUE, ecolor="#555555", capsize=2)
        axes.set_xlabel("decisions that change when it is permuted, in %")
        axes.set_title(title, fontsize=10)
        axes.spines[["top", "right"]].set_visible(False)
        buffer = io.BytesIO()
        FigureCanvasSVG(figure).print_svg(buffer, metadata={"Date": None, "Creator": None})
    return buffer.getvalue()


def _example_lines(example: ExplainedDecision, explanation: Explanation) -> list[str]:
    def shown(name: str) -> str:
        return markdown_code(short(explanation.demangled.get(name, name)))

    call = f", call of {shown(example.callee)}" if example.callee else ""
    reasons = "; ".join(
        f"{reason.feature} {number(reason.value)} against {number(reason.compared)}: {reason.adds:+.2f}"
        for reason in example.reasons[:_REASONS]
    )
    return [
        f"- {shown(example.function)} in {markdown_text(example.module)}, decision {example.number}{call}:",
        f"  policy: {choice_text(example)}; heuristic: {heuristic_text(example)}.",
        f"  Why: {reasons}.",
    ]
