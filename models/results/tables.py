"""Tables of published results in Markdown, one function for each kind."""

import functools
from collections.abc import Callable, Mapping, Sequence

from mlgo.reporting.records import Content, Evaluation
from mlgo.run.tabular import markdown_head, markdown_row
from models.results import measured
from models.results.measured import Change
from models.results.pages import percent

#: The change of a side on a corpus: of a result, a corpus and a side.
Measure = Callable[[Evaluation, str, str], Change]

#: Names of sides in result.json -> what a reader calls them.
SIDES = {
    "trained": "policy",
    "policy": "policy alone",
    "default_callee_saved_by_function_32768": "cost by function alone, without ML",
    "policy_callee_saved_by_function_32768": "policy and cost by function",
    "trained_callee_saved_by_function_32768": "policy and cost by function",
    "default_callee_saved_32768": "LLVM's cost in all functions alone, without ML",
    "policy_callee_saved_32768": "policy and LLVM's cost",
    "trained_callee_saved_32768": "policy and LLVM's cost",
    "cold": "cold functions for size, without ML",
    "cold_size_policy": "cold functions for size, and the size policy",
    "cold_cost": "cold functions for size and cost by function, without ML",
    "allocations_18": "policy and `-mlgo-allocations=18`",
    "with_allocations": "policy, LLVM's cost and `-mlgo-allocations=18`",
    "speed": "`mlgo-speed.cfg`, without ML",
    "search_2": "`mlgo-size.cfg` (`-mlgo-search=2`)",
    "search_8": "`-mlgo-search=8`",
}


def markdown(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table; the first column holds names."""
    return "\n".join([*markdown_head(headings), *map(markdown_row, rows)])


def with_interval(change: Change) -> str:
    """ "−1.16 % (−2.12 … −0.33)", bold if the interval lies below 0."""
    value = percent(change.ratio)
    if change.low is None or change.high is None:
        return value
    low, high = (percent(bound).removesuffix(" %") for bound in (change.low, change.high))
    shown = f"**{value}**" if change.high < 1 and value.startswith("−") else value
    return f"{shown} ({low} … {high})"


def libraries(
    result: Evaluation,
    sides: Sequence[str],
    measure: Measure,
    languages: Mapping[str, str],
    *,
    thresholds: bool = False,
) -> str:
    """One row for each corpus, then the mean and the worst of each language.

    Args: languages: corpus -> "C" or "C++"; thresholds: adds the best -inline-threshold of each corpus.
    """
    columns = {SIDES.get(side, side): _changes(measure, result, side) for side in sides}
    best = {"best threshold": functools.partial(best_threshold, result)} if thresholds else {}
    return _by_language(result, columns, languages, best)


def two_majors(
    old: tuple[str, Evaluation],
    new: tuple[str, Evaluation],
    sides: Sequence[str],
    measure: Measure,
    languages: Mapping[str, str],
) -> str:
    """One row for each corpus: the new default's code, if linked, and what sides do with both; then as in `libraries`.

    Args: old, new: the major of LLVM and its result.
    """
    linked = all(corpus.default_linked_bytes is not None for corpus in new[1].corpora)
    default = functools.partial(measured.default_code, new[1], old[1])
    columns = ({f"default {new[0]} against default {old[0]}": default} if linked else {}) | {
        f"{SIDES.get(side, side)} on {major}": _changes(measure, result, side)
        for side in sides
        for major, result in (old, new)
    }
    return _by_language(new[1], columns, languages, {})


def _changes(measure: Measure, result: Evaluation, side: str) -> Callable[[str], Change]:
    """The change of `side` in `result`, by corpus."""
    return lambda corpus: measure(result, corpus, side)


def _by_language(
    result: Evaluation,
    columns: Mapping[str, Callable[[str], Change]],
    languages: Mapping[str, str],
    texts: Mapping[str, Callable[[Sequence[str]], str]],
) -> str:
    """One row for each corpus of a result, then the mean and the worst of each language.

    Args: columns: heading -> change of a corpus; texts: heading -> cell of one or more corpora, right of them.
    """
    corpora = sorted([each.name for each in result.corpora], key=lambda corpus: (languages[corpus], corpus))
    rows = []
    for corpus in corpora:
        cells = [f"{corpus}, {languages[corpus]}", str(result.corpus(corpus).module_count)]
        cells += [with_interval(change(corpus)) for change in columns.values()]
        rows.append(cells + [text([corpus]) for text in texts.values()])
    for language in sorted({languages[corpus] for corpus in corpora}):
        members = [corpus for corpus in corpora if languages[corpus] == language]
        groups = [measured.group({corpus: change(corpus) for corpus in members}) for change in columns.values()]
        cells = [f"{language}: mean of {len(members)}; worst", ""]
        cells += [f"**{percent(each.mean.ratio)}**; {named(each.worst)}" for each in groups]
        rows.append(cells + [text(members) for text in texts.values()])
    return markdown(["library", "units", *columns, *texts], rows)


def several(columns: Sequence[tuple[str, Evaluation, Measure]], side: str) -> str:
    """One row for each corpus, one column for each heading: results with the same heading share a column.

    Args: columns: (heading, result, measure).
    """
    headings = list(dict.fromkeys(heading for heading, _, _ in columns))
    cells: dict[str, dict[str, str]] = {}
    for heading, result, measure in columns:
        for corpus in [each.name for each in result.corpora]:
            cells.setdefault(corpus, {})[heading] = with_interval(measure(result, corpus, side))
    rows = [
        [corpus, *(of_corpus.get(heading, "") for heading in headings)] for corpus, of_corpus in sorted(cells.items())
    ]
    return markdown(["library", *headings], rows)


def named(worst: tuple[str, float]) -> str:
    """ "+2.88 % bzip2"."""
    return f"{percent(worst[1])} {worst[0]}"


def best_threshold(result: Evaluation, corpora: Sequence[str]) -> str:
    """The one -inline-threshold that is best for all `corpora` in the mean, or "the default"."""
    means = {
        side: measured.group({corpus: measured.linked_code(result, corpus, side) for corpus in corpora}).mean.ratio
        for side in dict.fromkeys(side.name for each in result.corpora for side in each.sides)
        if side.startswith("threshold_")
    }
    if not means:
        return "not measured"
    best = min(means, key=lambda side: means[side])
    return "the default" if means[best] >= 1 else f"{percent(means[best])} at {best.removeprefix('threshold_')}"


def programs(
    result: Content, rows: Sequence[tuple[str, str, str]], sides: Sequence[str], unseen: Sequence[str] = ()
) -> str:
    """One row for each measure, group of programs and side: mean with interval, worst, without the best.

    Args:
      rows: (words, table, measure), the last two as in measured.programs.
      unseen: names of programs that training did not see; empty: no such rows.
    """
    lines = []
    for words, table, measure in rows:
        for side in sides:
            groups = [(f"{len(measured.program_ratios(result, table, side, measure))} programs", False)]
            groups += [(f"{len(unseen)} unseen programs", True)] if unseen else []
            for members, only_unseen in groups:
                found = measured.programs(result, table, side, measure, unseen=unseen if only_unseen else ())
                rest = percent(found.without_best) if found.without_best is not None else ""
                lines.append(
                    [
                        f"{words}, {members}, {SIDES.get(side, side)}",
                        with_interval(found.mean),
                        named(found.worst),
                        rest,
                    ]
                )
    return markdown(["measured", "mean (95 % interval)", "worst program", "mean without the best program"], lines)


def each_program(results: Sequence[tuple[Content, Sequence[tuple[str, str, str, str]]]]) -> str:
    """One row for each program: its changes by every column; then geometric mean and worst.

    Args: results: (result, columns (heading, table, side, measure)); programs that a result lacks have an empty cell.
    """
    columns = [(result, *column) for result, of_result in results for column in of_result]
    ratios = [measured.program_ratios(result, table, side, measure) for result, _, table, side, measure in columns]
    groups = [measured.programs(result, table, side, measure) for result, _, table, side, measure in columns]
    names = sorted({name for column in ratios for name in column})
    rows = [[name, *(percent(column[name]) if name in column else "" for column in ratios)] for name in names]
    rows.append(["geometric mean", *(with_interval(each.mean) for each in groups)])
    rows.append(["worst", *(named(each.worst) for each in groups)])
    return markdown(["program", *(heading for _, heading, *_ in columns)], rows)
