"""What a search had found after so many compiles: numbers, and a picture."""

import io
from collections.abc import Mapping, Sequence

from mlgo.search.corpus_search import ModuleResult

_BLUE, _GREY = "#0072b2", "#7f7f7f"

#: (compiles spent on each module, bytes of all modules, change against the default as a ratio minus 1).
Point = tuple[int, float, float]


def curve(modules: Mapping[str, ModuleResult]) -> list[Point]:
    """A point for the default, and one after each improvement. A module counts with its default until its first build
    is known."""
    default = sum(each.default for each in modules.values())
    steps: dict[int, float] = {}
    for each in modules.values():
        last = each.default
        for compiles, size in each.curve:
            steps[compiles] = steps.get(compiles, 0.0) + size - last
            last = size
    points, current = [(0, default, 0.0)], default
    for compiles in sorted(steps):
        current += steps[compiles]
        points.append((compiles, round(current, 2), round(current / default - 1.0, 6) if default else 0.0))
    return points


def picture(points: Sequence[Point]) -> bytes:
    """A PNG of a curve. Equal points give equal bytes. Args: points: at least one."""
    import matplotlib  # pylint: disable=import-outside-toplevel  # 0.5 s that only this function needs.

    matplotlib.use("Agg")
    from matplotlib import figure  # pylint: disable=import-outside-toplevel

    canvas = figure.Figure(figsize=(8, 4.5), dpi=120, layout="constrained")
    axes = canvas.add_subplot()
    axes.axhline(0.0, color=_GREY, linewidth=1)
    axes.annotate("compiler's default", (0.0, 0.0), color=_GREY, textcoords="offset points", xytext=(2, 3), fontsize=8)
    compiles = [point[0] for point in points]
    axes.step(compiles, [100.0 * point[2] for point in points], color=_BLUE, where="post")
    axes.set_xlabel("compiles of each module")
    axes.set_ylabel("bytes of all modules against the default, %\n(lower is better)")
    buffer = io.BytesIO()
    canvas.savefig(buffer, format="png", metadata={"Software": None})  # No version: equal curves, equal bytes.
    return buffer.getvalue()
