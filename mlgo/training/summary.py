"""The closing lines of a training run: results, paths and the next command."""

import pathlib
import shlex
from collections.abc import Mapping
from typing import Any, NamedTuple

from mlgo.evaluation.comparison import Comparison
from mlgo.evaluation.statistics import percent_text, summarize
from mlgo.evaluation.verdict import Claim, Verdict, corpus_verdict
from mlgo.evaluation.weighted_sum import ScorePair, contribution_sentences, weighted_sum
from mlgo.problems.problem import Problem
from mlgo.run.progress import format_duration
from mlgo.score.problem_score import score_of


def closing_lines(
    output: pathlib.Path,
    comparison: Comparison | None,
    seconds: Mapping[str, float],
    problem: Problem,
    learned: Mapping[str, Any],
    estimated: bool = False,
    start: pathlib.Path | None = None,
) -> list[str]:
    """The lines that a run prints at its end. Args: comparison: the held-out result, if there is one; seconds: by
    stage; learned: see TrainingRun.learned; start: the policy that was trained further; None: the training started
    without one.
    """
    items = score_of(problem).compared_items
    lines = ["", *([] if comparison is None else _held_out(comparison, items))]
    lines.append(_validation(learned))
    if (against := against_start(comparison, learned, items, start)) is not None:
        lines.append(against.sentence)
    if estimated:
        lines.append("These scores are estimates of code size from optimised IR. To measure the policy:")
        policy = shlex.quote(f"--policy={output / 'policy'}")
        lines.append(f"    ./bazelw run //mlgo:evaluate -- --problem={problem.name} {policy}")
    lines += ["", f"Policy:          {output / 'policy'}"]
    lines.append(f"Learning curve:  {output / 'learning_curve.svg'}")
    if comparison is not None:
        lines.append(f"Per function:    {output / 'held_out' / 'functions.csv'}")
    stages = ", ".join(f"{stage} {format_duration(value)}" for stage, value in seconds.items() if value >= 0.5)
    lines.append(f"Time:            {format_duration(sum(seconds.values()))} ({stages})")
    if problem.release_setting is None:
        return lines
    is_better = against is None or against.is_better
    offered = output / "policy" if is_better else start
    if offered is None or _is_worse(comparison, "policy" if is_better else "warm_start", items):
        found = "This training found nothing to install that is better than the compiler's default."
        return [*lines, "", f"{found} Train longer, or on more modules."]
    which = "this policy" if is_better else "the policy that the training started from, which is the better one"
    flag = f"--{problem.release_setting.rpartition(':')[2]}={offered}"
    command = f'./bazelw run //release:install -- --prefix="$HOME/mlgo-clang" {shlex.quote(flag)}'
    return [*lines, "", f"To install a clang with {which}:", f"    {command}"]


def _is_worse(comparison: Comparison | None, name: str, what: str) -> bool:
    """Whether the held-out result calls the policy `name` worse than the compiler's default."""
    if comparison is None or name not in comparison.summaries:
        return False
    return _verdict(comparison, name, what).claim is Claim.WORSE


def _verdict(comparison: Comparison, name: str, what: str) -> Verdict:
    return corpus_verdict(what, comparison.summaries[name], comparison.weighted.get(name))


def _validation(learned: Mapping[str, Any]) -> str:
    change = 100.0 * (learned["validation_ratio"] - 1.0)
    said = f"Validation score of the chosen weights (iteration {learned['chosen_iteration']}): {change:+.2f} %"
    count = len(learned["validations"])
    # The lowest of many noisy means lies below the mean of the weights that it belongs to.
    return said if count == 1 else f"{said}, the best of {count} validations and therefore optimistic"


def _held_out(comparison: Comparison, what: str) -> list[str]:
    lines = [f"Held-out score against the compiler's default (geometric mean over {what}; minus is better):"]
    for name, title in (("policy", "policy"), ("warm_start", "warm start")):
        if name not in comparison.summaries:
            continue
        summary = comparison.summaries[name]
        if summary is None:
            lines.append(f"  {title}: no function could be compared")
            continue
        where = f" functions in {summary.modules} modules" if what == "functions" else " modules"
        lines.append(
            f"  {title}: {summary.percent()} 95 % interval; {summary.better} better, {summary.worse} worse,"
            f" {summary.equal} equal of {summary.functions}{where}"
        )
        if (weighted := comparison.weighted.get(name)) is not None:
            lines.append(f"    weighted sum of the scores: {weighted.summary.percent()}")
            lines += [f"    {line}" for line in contribution_sentences(weighted, what)] if name == "policy" else []
        if what == "functions" and (unseen := comparison.unseen[name]) is not None:
            count = f"{unseen.functions} functions whose name training never met"
            lines.append(f"    of these, {count}: {unseen.percent()}")
    lines.append(f"  {_judgement(comparison, what)}")
    if comparison.failed:
        names = ", ".join(f"{name} ({why})" for name, why in comparison.failed.items())
        lines.append(f"  excluded because they failed: {names}")
        if lost := sum("policy: " in why and "default: " not in why for why in comparison.failed.values()):
            lines.append(f"  {lost} of these compile by default and not with the policy; the score leaves that out")
    if comparison.unmatched:
        lines.append(f"  excluded because a side had no decision in them: {comparison.unmatched} {what}")
    return lines


def _judgement(comparison: Comparison, what: str) -> str:
    found = _verdict(comparison, "policy", what)
    said = {
        Claim.BETTER: "Better than the default.",
        Claim.WORSE: "Worse than the default: train longer before you ship it.",
        Claim.NO_DIFFERENCE: "The interval holds 0 %: this run does not show a difference from the default.",
        Claim.TOO_SMALL: f"The held-out part is too small to call this better or worse: {found.reason}."
        " Train on a larger corpus, or give a --held_out_corpus with more modules.",
        Claim.DISAGREEING: f"Not settled: the mean counts all {what} alike, the weighted sum counts those that do most"
        " work, and one shows a gain, the other a loss. Train longer or on more modules, and count what a program"
        " executes before you ship the policy (//mlgo:evaluate_programs --policy).",
    }[found.claim]
    return said if found.claim is Claim.TOO_SMALL else f"{said} Verdict: {found.sentence()}."


#: Seed of the intervals.
_SEED = 1


class AgainstStart(NamedTuple):
    """Whether to offer the trained policy rather than the start, and a sentence for the user."""

    is_better: bool
    sentence: str


def against_start(
    comparison: Comparison | None, learned: Mapping[str, Any], unit: str, start: pathlib.Path | None
) -> AgainstStart | None:
    """The trained policy against `start`, on held-out modules or else by the validation; None: it was not measured.
    Args: as of `closing_lines`; unit: of a row, "functions" or "modules".
    """
    name = "what it started from" if start is None else f"the policy that it started from ({start})"
    if learned["chosen_iteration"] == 0:
        return AgainstStart(False, f"No better than {name}: it is the same, for no iteration was better in validation.")
    if comparison is not None and "warm_start" in comparison.summaries and comparison.rows:
        return _judged(_paired(comparison, unit), name)
    first, chosen = learned["validations"].get("0"), learned["validation_ratio"]
    if comparison is not None or first is None:
        return None
    said = f"in validation: {percent_text(chosen)} against {percent_text(first)}; measure it on other modules"
    return AgainstStart(chosen < first, f"{'Better' if chosen < first else 'No better'} than {name} {said}.")


def _judged(found: Verdict, name: str) -> AgainstStart:
    """A difference that is not shown is told by the sign of the first measure."""
    is_better, said = True, "Not shown to be better"
    if found.claim is Claim.BETTER:
        said = "Better"
    elif found.claim in (Claim.WORSE, Claim.DISAGREEING) or found.evidence[0].ratio >= 1.0:
        is_better, said = False, "No better"
    return AgainstStart(is_better, f"{said} than {name}: {found.sentence()}.")


def _paired(comparison: Comparison, unit: str) -> Verdict:
    """The verdict on the policy against the start, paired by row."""
    ratios: dict[str, list[float]] = {}
    pairs = []
    for row in comparison.rows:
        ratios.setdefault(row.module, []).append(row.ratios["policy"] / row.ratios["warm_start"])
        pairs.append(ScorePair(row.module, row.function, row.scores["warm_start"], row.scores["policy"]))
    adds_up = all(score >= 0.0 for pair in pairs for score in (pair.default, pair.found))
    sums = weighted_sum(pairs, _SEED, comparison.larger_is_better) if adds_up else None
    return corpus_verdict(unit, summarize(ratios, _SEED), sums)
