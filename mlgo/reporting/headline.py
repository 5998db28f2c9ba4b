"""The verdict at the top of a page: one line with one number, one interval and the worst corpus.

Corpora are different projects: adding up their scores would be a verdict on the largest one. Each counts once, in the
geometric mean of one ratio per corpus, whose interval is over corpora (summarize_projects of
mlgo/evaluation/statistics.py). Real programs, which are what a user runs, come before scores.
"""

import dataclasses
from collections.abc import Sequence

from mlgo.evaluation.statistics import RatioSummary
from mlgo.evaluation.verdict import Claim, Evidence, Verdict, verdict, verdict_over_corpora
from mlgo.pages.change import Tone, claim_text
from mlgo.pages.numbers import percent_of
from mlgo.pages.page import Card, Point
from mlgo.reporting.records import corpus_title
from mlgo.reporting.results import Result, by_title, change_of, figures_of, samples


def headline(results: Sequence[Result], programs: Sequence[Card]) -> Point | None:
    """The verdict on the policies of a page; None: nothing was measured."""
    policies = by_title(results)
    if len(policies) > 1:
        points = [*map(_of_card, programs), *(_of_corpora(f"{title}: ", own) for title, own in policies.items())]
    elif programs:
        points = _of_programs(programs, results)
    else:
        points = [_of_corpora("", results)] if results else []
    return joined(points) if points else None


def joined(points: Sequence[Point]) -> Point:
    """Several verdicts as one; it has their tone where they agree. Args: points: at least one."""
    tones = {point.tone for point in points}
    tone = tones.pop() if len(tones) == 1 else Tone.EQUAL
    return Point(tone, " ".join(point.text for point in points))


def line_of(prefix: str, found: Verdict, where: str | None, ending: str) -> Point:
    """The verdict in a line. Args: where: the measure in place of the evidence's own name; ending: follows it."""
    first = found.evidence[0]
    if found.claim is Claim.DISAGREEING:
        text = dataclasses.replace(found, code=None).sentence(figures_of)
    else:
        reason = f" ({found.reason})" if found.reason else ""
        text = f"{claim_text(found.claim)}{reason}: {where or first.measure} {change_of(first).figures}"
    code = "" if found.code is None else f"; code {percent_of(found.code)}"
    text = f"{text}{ending}{code}."
    return Point(Tone.of(found.claim), f"{prefix}{text}" if prefix else _capitalised(text))


def worst_of(title: str, summary: RatioSummary) -> str:
    """ "; worst zstd +0.61 %"."""
    return f"; worst {title} {percent_of(summary.geometric_mean)}"


def measures_over_corpora(
    linked: Sequence[RatioSummary | None], sums: Sequence[RatioSummary | None], means: Sequence[RatioSummary | None]
) -> Verdict:
    """The verdict over two corpora or more. Args: one summary per corpus; None: a corpus has none."""
    if all(linked):  # Sums of scores say nothing more.
        return verdict_over_corpora({"linked code": linked})
    return verdict_over_corpora({"score, weighted sum": sums, "geometric mean": means})


def _of_card(card: Card) -> Point:
    change = card.change
    text = f"{change.verdict}: {_lowered(card.title)} {change.figures}, {card.samples}."
    return Point(change.tone, _capitalised(text))


def _of_programs(cards: Sequence[Card], results: Sequence[Result]) -> list[Point]:
    """One point per measure of real programs; scores that contradict them are named."""
    scores = _evidence(results)[:1] if results else []
    points = []
    for card in cards:
        ratios = (1.0 + value / 100.0 for value in (card.change.percent, card.change.low, card.change.high))
        measured = Evidence.with_interval(f"{_lowered(card.title)}, {card.samples},", *ratios)
        found = verdict([measured, *scores])
        points.append(line_of("", found, None, "") if found.claim is Claim.DISAGREEING else _of_card(card))
    return points


def _of_corpora(prefix: str, results: Sequence[Result]) -> Point:
    if len(results) == 1:
        (result,) = results
        where, found = f"{result.what} on {corpus_title(result.corpus.name)}", result.side.verdict(result.corpus.unit)
        return line_of(prefix, found, where, f", {samples(result.corpus, result.side)}")
    found = verdict(_evidence(results))
    worst = max(results, key=lambda result: result.headline.geometric_mean)
    return line_of(prefix, found, None, worst_of(corpus_title(worst.corpus.name), worst.headline))


def _evidence(results: Sequence[Result]) -> Sequence[Evidence]:
    if len(results) == 1:
        return results[0].side.verdict(results[0].corpus.unit).evidence
    sides = [result.side for result in results]
    sums = [side.weighted.summary if side.weighted else None for side in sides]
    return measures_over_corpora([side.linked for side in sides], sums, [side.mean for side in sides]).evidence


def _lowered(title: str) -> str:
    return title[:1].lower() + title[1:]


def _capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]
