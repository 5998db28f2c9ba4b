"""The results of an evaluation as tables (text, Markdown and CSV), and the verdicts on its policies."""

import dataclasses
import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

from mlgo.evaluation.comparison import score_pairs
from mlgo.evaluation.corpora.evaluation import CorpusResult
from mlgo.evaluation.sides import DEFAULT, best_without_ml, without_ml_text
from mlgo.evaluation.statistics import percent_text, spread_of
from mlgo.evaluation.verdict import Verdict, corpus_verdict, verdict_over_corpora
from mlgo.evaluation.weighted_sum import WeightedSum, contribution_sentences, weighted_sum
from mlgo.run.tabular import aligned_lines, markdown_head, markdown_row

#: Columns of modules.csv, one row per compared function or module.
COMPARED_COLUMNS = (
    *("corpus", "policy", "module", "function", "default_decisions", "default_score", "score", "ratio", "reward"),
    *("default_linked_bytes", "linked_bytes"),
)
#: Columns of functions.csv, one row per function in an object.
FUNCTION_COLUMNS = ("corpus", "policy", "module", "function", "default_code_bytes", "code_bytes")

#: A row of a table, in the order of its columns; None: no value.
Row = tuple[Any, ...]


@dataclasses.dataclass(frozen=True)
class Regression:
    """A function or module that a policy made worse; `ratio` is above 1."""

    corpus: str
    policy: str
    module: str
    function: str
    default_score: float
    score: float
    ratio: float


def compared_rows(results: Sequence[CorpusResult], sides: Sequence[str]) -> Iterator[Row]:
    """Rows of COMPARED_COLUMNS; `reward` is minus the logarithm of the ratio."""
    for result, side in itertools.product(results, sides):
        linked = [result.linked.get(which, {}) for which in (DEFAULT, side)]
        for row in result.comparison.rows:
            # Decisions are counted only where they are logged.
            decisions = row.decisions if row.function else None
            scores = (row.default_score, row.scores[side], row.ratios[side], -math.log(row.ratios[side]) or 0.0)
            names = (result.corpus, side, row.module, row.function)
            yield (*names, decisions, *scores, *(of.get(row.module) for of in linked))


def function_rows(results: Sequence[CorpusResult], sides: Sequence[str]) -> Iterator[Row]:
    """Rows of FUNCTION_COLUMNS; None: the object of that side does not hold the function."""
    for result, side in itertools.product(results, sides):
        for module, by_default in result.code[DEFAULT].items():
            found = result.code[side][module]
            for function in sorted(by_default.keys() | found.keys()):
                yield (result.corpus, side, module, function, by_default.get(function), found.get(function))


def worst_regressions(results: Sequence[CorpusResult], sides: Sequence[str], most: int) -> list[Regression]:
    """The `most` rows of each corpus and side with the largest ratios above 1, worst first."""
    found = []
    for result, side in itertools.product(results, sides):
        worse = [
            Regression(result.corpus, side, row.module, row.function, row.default_score, row.scores[side], ratio)
            for row in result.comparison.rows
            if (ratio := row.ratios[side]) > 1.0
        ]
        found += sorted(worse, key=lambda each: (-each.ratio, each.module, each.function))[:most]
    return found


def table_lines(results: Sequence[CorpusResult], sides: Sequence[str], what: str) -> list[str]:
    """The table as aligned text. Args: what: "functions" or "modules", over which sums and means are taken."""
    return aligned_lines([_heads(what, "better/worse/equal"), *_cells(results, sides)])


def markdown(results: Sequence[CorpusResult], sides: Sequence[str], what: str) -> str:
    rows = (markdown_row(cell or "-" for cell in cells) for cells in _cells(results, sides))
    return "\n".join([*markdown_head(_heads(what, "better / worse / equal")), *rows]) + "\n"


def _heads(what: str, counts: str) -> tuple[str, ...]:
    return (
        *("corpus", "policy", "linked code, 95 % interval", f"{what}, weighted sum, 95 % interval"),
        *("geometric mean, 95 % interval", counts, "object code"),
    )


def _cells(results: Sequence[CorpusResult], sides: Sequence[str]) -> Iterator[tuple[str, ...]]:
    for result in results:
        best = best_without_ml(result.headlines)
        for side in sides:
            mean, linked = result.comparison.summaries[side], result.linked_summaries.get(side)
            weighted, code = result.comparison.weighted.get(side), result.object_code(side)
            yield (
                result.corpus,
                f"{side} (best without ML)" if side == best else side,
                linked.percent() + f" ({linked.modules} modules)" if linked else "",
                weighted.summary.percent() if weighted else "",
                mean.percent() if mean else "nothing to compare",
                f"{mean.better}/{mean.worse}/{mean.equal} of {mean.functions}" if mean else "",
                percent_text(code) if code else "",
            )


def verdict_of(result: CorpusResult, side: str, unit: str) -> Verdict:
    """The verdict on `side` on the corpus of `result`."""
    return corpus_verdict(
        unit,
        result.comparison.summaries[side],
        result.comparison.weighted.get(side),
        result.linked_summaries.get(side),
        result.object_code(side),
    )


def verdict_of_all(results: Sequence[CorpusResult], side: str) -> Verdict:
    """The verdict on `side` over all corpora, each of which counts once. Args: results: at least two."""
    weighted = [result.comparison.weighted.get(side) for result in results]
    return verdict_over_corpora(
        {
            "linked code": [result.linked_summaries.get(side) for result in results],
            "the weighted sums": [found.summary if found else None for found in weighted],
            "the geometric means": [result.comparison.summaries[side] for result in results],
        }
    )


def sum_of_all(results: Sequence[CorpusResult], side: str, seed: int) -> WeightedSum | None:
    """The weighted sum over all corpora together, in which a corpus counts by its scores; None: there is none."""
    pairs = [
        pair._replace(module=f"{result.corpus}/{pair.module}")
        for result in results
        for pair in score_pairs(result.comparison.rows, side)
    ]
    return weighted_sum(pairs, seed, any(result.comparison.larger_is_better for result in results))


def verdict_lines(results: Sequence[CorpusResult], policies: Sequence[str], unit: str, seed: int) -> list[str]:
    """Per corpus and policy the verdict, and which functions carry the sum; then the same over all corpora.

    Each says what the compiler reaches without a policy, where that was measured.
    """
    lines = []
    for result in results:
        for policy in policies:
            sentence = verdict_of(result, policy, unit).sentence()
            lines.append(f"{result.corpus}, {policy}: {sentence}{_without_ml([result])}")
            if (weighted := result.comparison.weighted.get(policy)) is not None:
                lines += [f"  {line}" for line in contribution_sentences(weighted, unit)]
    for policy in policies:
        ratios = {result.corpus: result.headlines[policy] for result in results if policy in result.headlines}
        if len(results) == len(ratios) and (spread := spread_of(ratios, seed)) is not None:
            sentence = verdict_of_all(results, policy).sentence()
            lines.append(f"All corpora, {policy}: {sentence}; {spread.text()}{_without_ml(results)}")
            if (whole := sum_of_all(results, policy, seed)) is not None:
                share = max(_sum(result) for result in results) / sum(map(_sum, results))
                heaviest = max(results, key=_sum).corpus
                change = whole.summary.percent()
                lines.append(f"  Their scores as one sum: {change}; {100.0 * share:.0f} % of it is of {heaviest}")
    return lines


def _without_ml(results: Sequence[CorpusResult]) -> str:
    """ "; the same without ML: threshold_15 -0.80 %", of the best side over `results`; "": none was measured."""
    sides = set.intersection(*(set(result.headlines) for result in results))
    means = {
        side: math.exp(math.fsum(math.log(result.headlines[side]) for result in results) / len(results))
        for side in sorted(sides)
    }
    return without_ml_text(means)


def _sum(result: CorpusResult) -> float:
    return sum(row.default_score for row in result.comparison.rows)
