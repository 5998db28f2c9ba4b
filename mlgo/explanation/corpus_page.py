"""An explanation.json as a page: how often a policy differs from the heuristic, and the features behind that."""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from mlgo.explanation.function_report import number as value_text
from mlgo.pages.change import Tone
from mlgo.pages.charts import RankedBar, Ranking
from mlgo.pages.numbers import number, share_text
from mlgo.pages.page import Block, Cell, Details, Page, Paragraph, Point, Section, Table

#: How many features are drawn, and how many are listed with an example.
_FEATURES, _FEATURES_OF_EXAMPLE = 20, 6


def explanation_page(content: Mapping[str, Any]) -> Page:
    return Page(
        title=f"What the {content['problem']} policy does differently",
        lead=f"Policy {content['policy'][:12]} on {number(content['modules'], 0)} modules.",
        verdict=None,
        points=[Point(Tone.PLAIN, text) for text in _sentences(content)],
        cards=[],
        sections=[Section("importance", "Feature importance", "Importance", _feature_blocks(content))],
        kind="mlgo explanation",
        ending="Intervals are 95 % bootstraps over modules.",
    )


def explanation_blocks(content: Mapping[str, Any]) -> list[Block]:
    """The same for a section of a report. Args: content: any part may be missing."""
    return [*map(Paragraph, _sentences(content)), *_feature_blocks(content)]


def _sentences(content: Mapping[str, Any]) -> list[str]:
    sentences = []
    if (differs := content.get("differs_from_heuristic")) is not None and "decisions" in content:
        sentences.append(_differing(content["decisions"], differs, "the compiler's heuristic in the same states"))
        if ways := content.get("ways_to_differ"):
            shown = [f"{number(way['count'], 0)} times {way['policy']} instead of {way['heuristic']}" for way in ways]
            sentences[-1] += f" {', '.join(shown)}."
    if (own := content.get("differs_from_heuristic_in_own_states")) is not None:
        sentences.append(_differing(own["decisions"], own, "the heuristic in the states of the policy's own compiles"))
    if failed := content.get("failed"):
        shown = [f"{module} ({why})" for module, why in failed.items()]
        sentences.append(f"Left out, since they failed: {', '.join(shown)}")
    return sentences


def _differing(decisions: int, differs: Mapping[str, Any], what: str) -> str:
    interval = f"95 % interval {share_text(differs['low'], 2)} to {share_text(differs['high'], 2)}"
    share = f"{share_text(differs['share'], 2)} of {number(decisions, 0)}"
    return f"{share} decisions differ from those of {what} ({interval})."


def _feature_blocks(content: Mapping[str, Any]) -> list[Block]:
    blocks: list[Block] = []
    if importance := content.get("importance"):
        blocks += [_ranking(importance, content.get("importance_sample")), _features_table(importance)]
    if (formula := content.get("formula")) is not None:
        blocks.append(Details("The whole policy as a formula", _formula(formula)))
    if examples := content.get("examples"):
        caption = "Decisions in which the policy differs from the heuristic, with the weightiest features: the value"
        caption += ", the one it is compared with (at the heuristic's choice where one of several was chosen, else the"
        caption += " median of the module), and in brackets the contribution."
        columns = ("module", "function", "policy", "heuristic", "features")
        table = Table(caption, columns, [_example(each) for each in examples])
        blocks.append(Details(f"{len(examples)} differing decisions", [table]))
    return blocks


def _ranking(importance: Sequence[Mapping[str, Any]], sample: Mapping[str, Any] | None) -> Ranking:
    caption = "Permutation importance: share of decisions that change when one feature is permuted, 95 % interval."
    if sample:
        caption += f" {number(sample['decisions'], 0)} decisions sampled, {number(sample['repeats'], 0)} permutations."
    if len(importance) > _FEATURES:
        caption += f" The first {_FEATURES} of {len(importance)} features."
    bars = [
        RankedBar(str(each["feature"]), float(each["changed_decisions"]), each.get("low"), each.get("high"))
        for each in importance
    ]
    return Ranking(caption, sorted(bars, key=lambda bar: (-bar.share, bar.label))[:_FEATURES])


def _features_table(importance: Sequence[Mapping[str, Any]]) -> Details:
    rows = [
        [
            Cell(str(each["feature"]), code=True),
            Cell(share_text(each["changed_decisions"]), number=True),
            Cell("" if each.get("low") is None else f"{share_text(each['low'])} … {share_text(each['high'])}"),
            Cell("" if each.get("confidence_lost") is None else f"{each['confidence_lost']:+.4f}", number=True),
        ]
        for each in importance
    ]
    columns = ("feature", "decisions that change", "95 % interval", "confidence lost")
    caption = "Confidence lost: how much probability the original decision loses on average."
    return Details("All features as a table", [Table(caption, columns, rows)])


def _formula(formula: Mapping[str, Any]) -> list[Block]:
    """A linear policy: for each feature the values at which its slope changes, with its contribution there."""
    rows = []
    for feature, pieces in itertools.groupby(formula["pieces"], key=lambda piece: piece["feature"]):
        steps: list[str] = []
        total = 0.0
        for piece in pieces:
            steps += [] if steps else [f"{value_text(piece['start'])}: 0"]
            total += piece["adds"]
            steps.append(f"{value_text(piece['end'])}: {total:+.2f}")
        rows.append([Cell(feature, code=True), Cell(", ".join(steps))])
    text = (
        f"The policy is linear over pieces of the features: z starts at {formula['start']:+.2f} and gets what each"
        " feature has added at its value; the policy decides for 1 where z is above 0. Between the values below, the"
        " contribution is linear; outside, it is constant."
    )
    return [Paragraph(text), Table("Contributions to z.", ("feature", "value: what it has added to z"), rows)]


def _example(example: Mapping[str, Any]) -> list[Cell]:
    """Module, function, both choices and the weightiest features."""
    name = str(example.get("function_demangled") or example["function"])
    if callee := example.get("callee_demangled") or example.get("callee"):
        name += f" → {callee}"
    features, compared, adds = (example.get(key, {}) for key in ("features", "compared_with", "adds"))
    names = sorted(features, key=lambda feature: -abs(adds.get(feature) or 0.0))
    shown = [
        f"{feature} {_value(features[feature])}"
        + (f" against {_value(compared[feature])}" if feature in compared else "")
        + (f" ({number(adds[feature], 2, True)})" if adds.get(feature) is not None else "")
        for feature in names[:_FEATURES_OF_EXAMPLE]
    ]
    probability = example.get("probability")
    sure = "" if probability is None else f", p {probability:.2f}"
    return [
        Cell.of_name(str(example["module"])),
        Cell.of_name(f"{name}, decision {example['decision']}", 140),
        Cell(str(example.get("policy_choice", "")) + sure),
        Cell(str(example.get("heuristic_choice", ""))),
        Cell(", ".join(shown) + (", …" if len(names) > _FEATURES_OF_EXAMPLE else ""), code=True),
    ]


def _value(value: float | None) -> str:
    return value_text(value) if value is None or isinstance(value, (int, float)) else str(value)
