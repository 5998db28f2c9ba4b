"""The section about a policy's decisions: important features, and decisions that differ from the heuristic's."""

from collections.abc import Mapping, Sequence
from typing import Any

from mlgo.reporting import drawings
from mlgo.reporting.page import Block, Cell, Details, Paragraph, Section, Table, grouped_section
from mlgo.reporting.records import Explanation
from mlgo.reporting.scale import is_number, number

#: How many features and examples are shown, and how many features of an example.
_FEATURES, _EXAMPLES, _FEATURES_OF_EXAMPLE = 20, 12, 6


def explanation_section(records: Sequence[Explanation]) -> Section | None:
    """None: there is nothing."""
    groups = [(record.name, _blocks(record.content)) for record in records]
    return grouped_section("explanation", "Feature importance", "Explanation", groups)


def _blocks(content: Mapping[str, Any]) -> list[Block]:
    blocks: list[Block] = []
    differs, decisions = content.get("differs_from_heuristic"), content.get("decisions")
    if isinstance(differs, Mapping) and isinstance(decisions, int) and is_number(differs.get("share")):
        text = f"{drawings.share_text(differs['share'])} of {number(decisions, 0)} decisions differ from those of the"
        text += " compiler's heuristic in the same states"
        if is_number(differs.get("low")) and is_number(differs.get("high")):
            text += f" (95 % interval {drawings.share_text(differs['low'])} to {drawings.share_text(differs['high'])})"
        ways = [way for way in _listed(content.get("ways_to_differ")) if isinstance(way.get("count"), int)]
        shown = [
            f"{number(way['count'], 0)} times {way.get('policy')} instead of {way.get('heuristic')}" for way in ways
        ]
        blocks.append(Paragraph(". ".join([text, *([", ".join(shown)] if shown else [])]) + "."))
    entries = [entry for entry in _listed(content.get("importance")) if is_number(entry.get("changed_decisions"))]
    if entries:
        caption = "Permutation importance: share of decisions that change when one feature is permuted, 95 % interval."
        if len(entries) > _FEATURES:
            caption += f" The first {_FEATURES} of {len(entries)} features."
        ranked = [
            (
                str(entry.get("feature")),
                float(entry["changed_decisions"]),
                *(entry[end] if is_number(entry.get(end)) else None for end in ("low", "high")),
            )
            for entry in entries
        ]
        blocks.append(drawings.ranking(caption, ranked, _FEATURES))
    if examples := _listed(content.get("examples")):
        rows = [
            (
                Cell.of_name(str(entry.get("module", ""))),
                Cell.of_name(_where(entry), 140),
                Cell(_text(entry.get("policy_choice"))),
                Cell(_text(entry.get("heuristic_choice"))),
                Cell(_features(entry), code=True),
            )
            for entry in examples[:_EXAMPLES]
        ]
        columns = ("module", "function", "policy", "heuristic", "features")
        caption = "Decisions in which the policy differs from the heuristic. In brackets: a feature's contribution."
        blocks.append(Details(f"{len(rows)} differing decisions", [Table(caption, columns, rows)]))
    return blocks


def _where(entry: Mapping[str, Any]) -> str:
    """The function, demangled where that is known, its callee, and the number of the decision."""
    name = str(entry.get("function_demangled") or entry.get("function", ""))
    callee = entry.get("callee_demangled") or entry.get("callee")
    return (
        name + (f" → {callee}" if callee else "") + (f", decision {entry['decision']}" if "decision" in entry else "")
    )


def _listed(value: Any) -> list[Mapping[str, Any]]:
    return [entry for entry in value if isinstance(entry, Mapping)] if isinstance(value, list) else []


def _text(value: Any) -> str:
    return "" if value is None else str(value)


def _features(entry: Mapping[str, Any]) -> str:
    """The features, largest contribution first, else in the given order."""
    features, adds = entry.get("features"), entry.get("adds")
    if not isinstance(features, Mapping):
        return ""
    known = {name: value for name, value in adds.items() if is_number(value)} if isinstance(adds, Mapping) else {}
    names = sorted(features, key=lambda name: -abs(known.get(name, 0.0)))
    added = {name: f" ({number(value, 2, True)})" for name, value in known.items()}
    shown = [f"{name} {_figure(features[name])}{added.get(name, '')}" for name in names[:_FEATURES_OF_EXAMPLE]]
    return ", ".join(shown) + (", …" if len(names) > _FEATURES_OF_EXAMPLE else "")


def _figure(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
