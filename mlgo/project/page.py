"""The page about a project: one self-contained HTML file."""

from __future__ import annotations

import html
from collections.abc import Sequence

from mlgo.project.goal import Measured, Result
from mlgo.run.printable import printable_text

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
body { color: #222; background: #fff }
table { border-collapse: collapse; width: 100% }
th, td { padding: .3rem .6rem; text-align: right; border-bottom: 1px solid #ddd }
th:first-child, td:first-child { text-align: left } tr.chosen { background: #e8f4e8; font-weight: 600 }
td.why { text-align: left; color: #666 }
code, pre { background: #f4f4f4; padding: .1rem .3rem } pre { padding: .6rem; overflow-x: auto }
@media (prefers-color-scheme: dark) { body { color: #ddd; background: #181818 } tr.chosen { background: #1d3a1d }
code, pre { background: #262626 } th, td { border-color: #444 } td.why { color: #aaa } }
"""


def render(result: Result, lines: Sequence[str], config: Sequence[str]) -> str:
    """The page. Args: lines: what the command printed at its end. config: the lines of mlgo.cfg."""
    title, others = _text(result.name), result.others
    titles = "".join(f"<th>{_text(name)}</th><th></th>" for name in result.built)
    body = [
        f"<h1>{title}</h1>",
        *(f"<p>{_text(line)}</p>" for line in lines),
        "<h2>What was measured</h2>",
        f"<table><tr><th>variant</th>{titles}<th>compile time</th></tr>",
        *(_row(one, result) for one in result.measured),
        "</table>",
        f"<p>{_text(result.goal.explanation)} Compile time: CPU seconds of all units, and against the build. The green "
        "row is in <code>mlgo.cfg</code>.</p>",
    ]
    if config:
        body += ["<h2>mlgo.cfg</h2>", f"<pre>{_text(chr(10).join(config))}</pre>"]
    if result.notes:
        body += ["<h2>Notes</h2><ul>", *(f"<li>{_text(note)}</li>" for note in result.notes), "</ul>"]
    if others:
        listed = "".join(f"<li><code>{_text(name)}</code>: {_text(why)}</li>" for name, why in sorted(others.items()))
        body.append(f"<h2>Objects that stay as they were built: {len(others)}</h2><ul>{listed}</ul>")
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>{title}: mlgo {result.goal.verb}</title><style>{_STYLE}</style></head>\n<body>\n"
        + "\n".join(body)
        + "\n</body></html>\n"
    )


def _row(one: Measured, result: Result) -> str:
    name, built = f"<td>{_text(one.row.name)}</td>", result.measured[0]
    if one.figures is None:
        columns = 2 * len(result.built) + 1
        return f'<tr>{name}<td class="why" colspan="{columns}">not measured: {_text(one.why_not)}</td></tr>'
    cells = "".join(f"<td>{value}</td><td>{change}</td>" for _, value, change in result.changes(one.figures))
    time = ""
    if one.seconds is not None:
        factor = f" ({one.seconds / built.seconds:.2f} ×)" if built.seconds and one is not built else ""
        time = f"{one.seconds:.1f}{factor}"
    marked = ' class="chosen"' if one is result.chosen else ""
    return f"<tr{marked}>{name}{cells}<td>{time}</td></tr>"


def table(result: Result) -> list[str]:
    """The rows as lines of text."""
    unit = result.goal.unit
    width = max(len(unit), *(len(one.row.name) for one in result.measured))
    # Counts have up to fifteen digits.
    wide = max(20, *(len(f"{value:,}") + 9 for value in result.built.values()))
    lines = ["  ".join([f"{unit:{width}}", *(f"{name:>{wide}}" for name in result.built), "compile"])]
    for one in result.measured:
        if one.figures is None:
            lines.append(f"{one.row.name:{width}}  not measured: {one.why_not}")
            continue
        cells = [f"{f'{value} {change:>8}':>{wide}}" for _, value, change in result.changes(one.figures)]
        seconds = "" if one.seconds is None else f"{one.seconds:.1f} s"
        lines.append("  ".join([f"{one.row.name:{width}}", *cells, f"{seconds:>7}"]))
    return lines


def _text(text: str) -> str:
    return html.escape(printable_text(text))
