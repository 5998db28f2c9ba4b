"""The part of a page about why a policy decides as it does: which features matter, and decisions that differ from the heuristic's."""

from collections.abc import Mapping, Sequence
from typing import Any

from mlgo.reporting import drawings
from mlgo.reporting.page import Block, Cell, Group, Paragraph, Section, Table
from mlgo.reporting.records import Explanation
from mlgo.reporting.scale import number

#: How many features and examples are shown, and how many features of an example.
_FEATURES, _EXAMPLES, _FEATURES_OF_EXAMPLE = 20, 12, 6


def explanation_section(records: Sequence[Explanation]) -> Section | None:
    """None: there is nothing."""
    blocks: list[Block] = []
    for record in records:
        own = _blocks(record.content)
        blocks += own if len(records) == 1 else [Group(record.name, own)] if own else []
    return Section("explanation", "What the policy looks at", "Explanation", blocks) if blocks else None


def _blocks(content: Mapping[str, Any]) -> list[Block]:
    blocks: list[Block] = []
    differs, decisions = content.get("differs_from_heuristic"), content.get("decisions")
    if isinstance(differs, Mapping) and isinstance(decisions, int) and isinstance(differs.get("share"), (int, float)):
        text = f"{drawings.share_text(differs['share'])} of {number(decisions, 0)} decisions differ from the compiler's heuristic in the same state"
        if isinstance(differs.get("low"), (int, float)) and isinstance(differs.get("high"), (int, float)):
            text += f" (95 % interval {drawings.share_text(differs['low'])} to {drawings.share_text(differs['high'])})"
        blocks.append(Paragraph(text + "."))
    entries = [entry for entry in _listed(content.get("importance")) if isinstance(entry.get("changed_decisions"), (int, float))]
    if entries:
        caption = "Share of decisions that change when the values of one feature are permuted among decisions, with its 95 % interval."
        if len(entries) > _FEATURES:
            caption += f" The first {_FEATURES} of {len(entries)} features."
        ranked = [(str(entry.get("feature")), float(entry["changed_decisions"]), entry.get("low"), entry.get("high")) for entry in entries]
        blocks.append(drawings.ranking(caption, ranked, _FEATURES))
    examples = _listed(content.get("examples"))
    if examples:
        rows = [
            (
                Cell(str(entry.get("module", "")), code=True), Cell(str(entry.get("function", "")), code=True),
                Cell(str(entry.get("decision", "")), number=True), Cell(_choice(entry.get("policy_choice"))),
                Cell(_choice(entry.get("heuristic_choice"))), Cell(_features(entry.get("features")), code=True),
            )
            for entry in examples[:_EXAMPLES]
        ]  # fmt: skip
        columns = ("module", "function", "decision", "policy", "heuristic", "what it saw")
        blocks.append(Table("Decisions where the policy differs from the heuristic.", columns, rows))
    return blocks


def _listed(value: Any) -> list[Mapping[str, Any]]:
    return [entry for entry in value if isinstance(entry, Mapping)] if isinstance(value, list) else []


def _choice(value: Any) -> str:
    return "" if value is None else str(value)


def _features(value: Any) -> str:
    if not isinstance(value, Mapping):
        return ""
    shown = [f"{name} {entry:.4g}" if isinstance(entry, float) else f"{name} {entry}" for name, entry in list(value.items())[:_FEATURES_OF_EXAMPLE]]
    return ", ".join(shown) + (", …" if len(value) > _FEATURES_OF_EXAMPLE else "")
