"""The verdict at the top of a page: one line with one number, one interval and the worst corpus.

Corpora are different projects, and adding up their scores would be a verdict on the largest one. Every corpus therefore
counts once: the number is the geometric mean of one ratio per corpus, and its interval is over corpora
(mlgo/evaluation/statistics.py, summarize_projects). Real programs, which are what a user runs, come before scores.
"""

from collections.abc import Sequence

from mlgo.evaluation.judgement import Claim
from mlgo.evaluation.statistics import RatioSummary, summarize_projects
from mlgo.evaluation.verdict import Evidence, Verdict, verdict
from mlgo.reporting import drawings
from mlgo.reporting.page import Card, Change, Point, Tone, claim_text, tone_of
from mlgo.reporting.results import Result, by_title, samples
from mlgo.reporting.titles import corpus_title


def headline(results: Sequence[Result], programs: Sequence[Card]) -> Point | None:
    """The verdict on the policies of a page; None: nothing was measured.

    Args:
      results: of all policies on all corpora.
      programs: figures of real programs, of all policies.
    """
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
    """The verdict in a line.

    Args:
      prefix: before the claim, such as "new: "; "": the line begins with the claim.
      where: the measure, in place of the name that the evidence has; None: that name.
      ending: follows the interval.
    """
    first = found.evidence[0]
    if found.claim is Claim.DISAGREEING:
        said = found.sentence(lambda each: drawings.figures_of(each.ratio, each.low, each.high))
        text = f"{said}{ending}."
    else:
        reason = f" ({found.reason})" if found.reason else ""
        shown = drawings.figures(Change.of_ratios(first.ratio, first.low, first.high))
        text = f"{claim_text(found.claim)}{reason}: {where or first.measure} {shown}{ending}."
    return Point(tone_of(found.claim), f"{prefix}{text}" if prefix else _capitalised(text))


def worst_of(title: str, summary: RatioSummary) -> str:
    """ "; worst zstd +0.61 %"."""
    return f"; worst {title} {drawings.percent(Change.of(summary).percent)}"


def verdict_over_corpora(
    headlines: Sequence[RatioSummary], sums: Sequence[RatioSummary | None], linked: bool
) -> Verdict:
    """The verdict over two corpora or more, each of which counts once.

    Args:
      headlines, sums: one per corpus; None: a corpus has no weighted sum.
      linked: whether the headlines are of linked code, beside which sums of scores say nothing more.
    """
    what = "linked code" if linked else "score, geometric mean"
    found = [_between_corpora(f"{what} of {len(headlines)} corpora of equal weight", headlines)]
    known = [each for each in sums if each is not None and each.geometric_mean > 0.0]
    if not linked and len(known) == len(headlines):
        found.append(_between_corpora("the mean of their weighted sums", known))
    return verdict(found)


def _of_card(card: Card) -> Point:
    change = card.change
    text = f"{change.verdict}: {_lowered(card.title)} {drawings.figures(change)}, {card.samples}."
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
    found = verdict(_evidence(results))
    if len(results) == 1:
        (result,) = results
        where = f"{result.what} on {corpus_title(result.corpus.name)}"
        return line_of(prefix, found, where, f", {samples(result.corpus, result.side)}")
    changes = [(result.headline.geometric_mean, result) for result in results]
    _, worst = max(changes, key=lambda entry: entry[0])
    return line_of(prefix, found, None, worst_of(corpus_title(worst.corpus.name), worst.headline))


def _evidence(results: Sequence[Result]) -> list[Evidence]:
    if len(results) == 1:
        return list(results[0].side.verdict(results[0].corpus.unit).evidence)
    sums = [None if result.side.weighted is None else result.side.weighted.summary for result in results]
    linked = all(result.side.linked is not None for result in results)
    return list(verdict_over_corpora([result.headline for result in results], sums, linked).evidence)


def _between_corpora(measure: str, summaries: Sequence[RatioSummary]) -> Evidence:
    """Each of `summaries` counts once. Args: at least two."""
    whole = summarize_projects({str(index): each.geometric_mean for index, each in enumerate(summaries)})
    if whole is None:
        raise ValueError(f"{measure}: {len(summaries)} corpora have no interval")
    return Evidence.with_interval(measure, whole.geometric_mean, whole.low, whole.high)


def _lowered(title: str) -> str:
    return title[:1].lower() + title[1:]


def _capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]
