"""The verdicts on an evaluation's policies as lines of text, and the sum over all corpora."""

import math
from collections.abc import Sequence

from mlgo.evaluation.comparison import score_pairs
from mlgo.evaluation.corpora.evaluation import CorpusResult
from mlgo.evaluation.sides import without_ml_text
from mlgo.evaluation.statistics import spread_of
from mlgo.evaluation.verdict import Verdict, corpus_verdict, verdict_over_corpora
from mlgo.evaluation.weighted_sum import WeightedSum, contribution_sentences, weighted_sum


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
