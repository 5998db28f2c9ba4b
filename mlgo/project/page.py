"""The page about a project: one self-contained HTML file."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence

from mlgo.project.goal import Figures, Goal, Measured
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


def render(
    title: str,
    goal: Goal,
    lines: Sequence[str],
    measured: Sequence[Measured],
    chosen: Measured | None,
    config: Sequence[str],
    others: Mapping[str, str],
    notes: Sequence[str],
) -> str:
    """The page.

    Args:
      title: the program.
      lines: what the command printed at its end.
      config: the lines of mlgo.cfg.
      others: object or source -> why it stays as it was built.
      notes: sentences about the build.
    """
    built = measured[0]
    assert built.figures is not None
    rows = "\n".join(_row(one, built, one is chosen) for one in measured)
    titles = "".join(f"<th>{_text(name)}</th><th></th>" for name in built.figures)
    body = [
        f"<h1>{_text(title)}</h1>",
        *(f"<p>{_text(line)}</p>" for line in lines),
        "<h2>What was measured</h2>",
        f"<table><tr><th>variant</th>{titles}<th>compile time</th></tr>",
        rows,
        "</table>",
        f"<p>{_text(goal.explanation)} Compile time: CPU seconds of all units, and against the build. The green row is "
        "in <code>mlgo.cfg</code>.</p>",
    ]
    if config:
        body += ["<h2>mlgo.cfg</h2>", f"<pre>{_text(chr(10).join(config))}</pre>"]
    if notes:
        body += ["<h2>Notes</h2><ul>", *(f"<li>{_text(note)}</li>" for note in notes), "</ul>"]
    if others:
        listed = "".join(f"<li><code>{_text(name)}</code>: {_text(why)}</li>" for name, why in sorted(others.items()))
        body.append(f"<h2>Objects that stay as they were built: {len(others)}</h2><ul>{listed}</ul>")
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>{_text(title)}: mlgo {goal.verb}</title><style>{_STYLE}</style></head>\n<body>\n"
        + "\n".join(body)
        + "\n</body></html>\n"
    )


def percent(new: int, old: int) -> str:
    """A change, such as "−3.1 %"."""
    if not old:
        return ""
    return f"{100 * (new / old - 1):+.1f} %".replace("-", "−")


def _row(one: Measured, built: Measured, is_chosen: bool) -> str:
    name = f"<td>{_text(one.row.name)}</td>"
    assert built.figures is not None
    if one.figures is None:
        columns = 2 * len(built.figures) + 1
        return f'<tr>{name}<td class="why" colspan="{columns}">not measured: {_text(one.why_not)}</td></tr>'
    cells = "".join(_cells(one.figures[key], old, one is built) for key, old in built.figures.items())
    time = ""
    if one.seconds is not None:
        factor = f" ({one.seconds / built.seconds:.2f} ×)" if built.seconds and one is not built else ""
        time = f"{one.seconds:.1f}{factor}"
    marked = ' class="chosen"' if is_chosen else ""
    return f"<tr{marked}>{name}{cells}<td>{time}</td></tr>"


def _cells(new: int, old: int, is_built: bool) -> str:
    return f"<td>{new:,}</td><td>{'' if is_built else percent(new, old)}</td>"


def table(measured: Sequence[Measured], unit: str) -> list[str]:
    """The rows as lines of text. Args: unit: of the figures, for the first line."""
    built = measured[0].figures
    assert built is not None
    width = max(len(unit), *(len(one.row.name) for one in measured))
    # Counts have up to fifteen digits.
    wide = max(20, *(len(f"{value:,}") + 9 for value in built.values()))
    lines = ["  ".join([f"{unit:{width}}", *(f"{name:>{wide}}" for name in built), "compile"])]
    for one in measured:
        if one.figures is None:
            lines.append(f"{one.row.name:{width}}  not measured: {one.why_not}")
            continue
        seconds = "" if one.seconds is None else f"{one.seconds:.1f} s"
        cells = _columns(one.figures, built, one is measured[0], wide)
        lines.append("  ".join([f"{one.row.name:{width}}", *cells, f"{seconds:>7}"]))
    return lines


def _columns(figures: Figures, built: Figures, is_built: bool, wide: int) -> list[str]:
    shown = (f"{figures[name]:,} {'' if is_built else percent(figures[name], old):>8}" for name, old in built.items())
    return [f"{one:>{wide}}" for one in shown]


def _text(text: str) -> str:
    return html.escape(printable_text(text))
