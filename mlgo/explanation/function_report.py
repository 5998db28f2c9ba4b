"""The report of one function's decisions, as a page."""

import dataclasses
import math
import pathlib
from collections.abc import Mapping, Sequence

from mlgo.explanation.decision import ExplainedDecision, Typical, explain, typical_of
from mlgo.explanation.recorded import RecordedDecisions
from mlgo.explanation.replay import Replay
from mlgo.learning.linear_network import TOP_LOGIT
from mlgo.pages.change import Tone
from mlgo.pages.page import Block, Cell, Details, Facts, Group, Page, Paragraph, Point, Section, Table
from mlgo.problems.problem import Problem
from mlgo.score.problem_score import score_of
from mlgo.trace.outcomes import ModuleRecord

#: Demangled names are cut to this length where only recognition matters.
_NAME_WIDTH = 100
#: Smaller contributions are printed as 0.00.
_NOTHING = 0.005


@dataclasses.dataclass(frozen=True)
class FunctionRequest:
    """What a user wants to see of a module."""

    policy: str  #: its name.
    function: str | None = None  #: the function to explain; None: the only one, or a list of all functions.
    callsite: str | None = None  #: part of the name of the callees whose calls are shown; None: all calls.
    only_different: bool = False
    limit: int = 0  #: decisions shown per origin; 0: all.
    features: int = 0  #: features shown per decision; 0: all that the policy uses.
    all_features: bool = False  #: whether the features that the policy does not use are shown too.
    html: pathlib.Path | None = None


@dataclasses.dataclass(frozen=True)
class Shown:
    """What a page shows."""

    request: FunctionRequest
    function: str
    names: Mapping[str, str] = dataclasses.field(default_factory=dict)  #: of functions → demangled.
    callees: set[str] | None = None  #: for inlining, only calls of these; None: all.

    def among(self, decided: RecordedDecisions) -> list[int]:
        decisions = decided.by_function().get(self.function, [])
        return [n for n in decisions if self.callees is None or decided.callee(n) in self.callees]


def function_page(
    digest: str, default: Replay | None, policy: Replay | None, records: Sequence[ModuleRecord], shown: Shown
) -> Page:
    """The page of a function with decisions. Args: digest: of the policy; records: of the module under both sides."""
    first = default or policy
    if first is None:
        raise ValueError("a function without decisions has no page")
    problem, name = first.asked.problem, shown.names.get(shown.function, shown.function)
    mangled = "" if name == shown.function else f"{shown.function} "
    lines = [*outcome_lines(problem, shown.function, *records), _basis(first)]
    return Page(
        title=f"{problem.name}: {name}",
        lead=f"{mangled}in {first.recorded.module}, policy {shown.request.policy} ({digest[:12]})",
        verdict=None,
        points=[Point(Tone.PLAIN, text) for text in lines],
        cards=[],
        sections=sections_of(default, policy, typical_of(first), shown),
        kind="mlgo explanation",
        ending="",
    )


def outcome_lines(problem: Problem, function: str, default: ModuleRecord, policy: ModuleRecord) -> list[str]:
    """The scores of the function and of its module under the default and under the policy."""
    lines = []
    score = score_of(problem)
    before, after = (record.functions.get(function) for record in (default, policy))
    if before is not None and after is not None:
        lines.append(_change(f"this function: {score.unit}", before.score, after.score))
    else:
        without = [name for name, found in (("the default", before), ("the policy", after)) if found is None]
        lines.append(f"this function: nothing is left of it in the object under {' and under '.join(without)}")
    what, totals = score.totals([record.functions for record in (default, policy)])
    lines.append(_change(f"its module: {what}", *totals))
    return lines


def _basis(replayed: Replay) -> str:
    """An explanation of the contributions."""
    asked = replayed.asked
    if asked.problem.decision_kind != "categorical":
        start = "what each feature adds to z, counted from a state in which all have their medians"
        start += f" (over the {len(replayed)} decisions of this module)"
        whole = "z" if asked.has_probabilities else "z, which is 1 or -1: this policy tells its decision only"
    elif asked.has_probabilities:
        start = "what each feature adds to the margin, the policy's logit for its choice minus that for the alternative"
        whole = "the margin"
    else:
        start = "how much each feature does to make the policy choose this candidate and not the alternative"
        whole = "1 if the choice depends on them, else 0"
    if asked.effect is not None:
        return f"Why: {start}; they add up to {whole}, but where the policy cuts z off at +-{TOP_LOGIT:g}."
    return f"Why: {start}; Shapley values, which add up to {whole}."


def sections_of(default: Replay | None, policy: Replay | None, typical: Typical, shown: Shown) -> list[Section]:
    """One section per compile with decisions; leading states that both share are shown once."""
    sections, seen = [], []
    if default is not None:
        seen = shown.among(default.recorded)
        remark = "The heuristic took these decisions; the policy is evaluated in the same states."
        sections.append(_section("states-0", "the default's compile", remark, default, seen, typical, shown))
    if policy is not None:
        decided = policy.recorded
        numbers = shown.among(decided)
        same = decided.same_states(numbers, default.recorded, seen) if default is not None else 0
        remark = "The policy took these decisions; "
        if policy.asked.problem.default_decision_spec:
            remark += "LLVM also asked the heuristic."
        else:
            remark += "what the heuristic would decide here is not logged."
        if same and same == len(numbers):
            remark += " All states are those above."
        elif same:
            number = decided.by_function()[shown.function].index(numbers[same])
            remark += f" Before decision {number} the states are those above."
        anchor, origin = f"states-{len(sections)}", "the policy's own compile"
        sections.append(_section(anchor, origin, remark, policy, numbers[same:], typical, shown))
    return sections


def _section(
    anchor: str, origin: str, remark: str, replayed: Replay, numbers: Sequence[int], typical: Typical, shown: Shown
) -> Section:
    kept, text = numbers, f"{len(numbers)} decisions"
    if replayed.differs is not None:
        differing = [n for n in numbers if replayed.differs[n]]
        kept = differing if shown.request.only_different else numbers
        text += f", {len(differing)} differ from the heuristic"
    explained = explain(replayed, kept[: shown.request.limit or None], typical)
    if hidden := len(numbers) - len(explained):
        text += f"; {hidden} more decisions are not shown, see --limit, --callsite and --only_different"
    groups = [_decision(decision, shown) for decision in explained]
    return Section(anchor, f"In the states of {origin}", origin, [Paragraph(f"{text}. {remark}"), *groups])


def _choice_text(decision: ExplainedDecision) -> str:
    parts = [decision.policy]
    if decision.probability is not None:
        parts.append(f"p {decision.probability:.2f}")
    if decision.candidates is not None:
        parts.append(f"of {decision.candidates} candidates")
    if decision.typical is not None:
        parts.append(f"z {decision.explained:+.2f}, of a median state {decision.typical:+.2f}")
    elif decision.margin is not None:
        role = "the heuristic's choice" if decision.differs else "its second choice"
        parts.append(f"margin {decision.margin:.2f} over {role}, {decision.alternative}")
    return ", ".join(parts)


def _heuristic_text(decision: ExplainedDecision) -> str:
    if decision.heuristic is None:
        return "not known: the compiler does not ask it here"
    if decision.heuristic_probability is None or not decision.differs or decision.candidates is None:
        return decision.heuristic
    return f"{decision.heuristic}, to which the policy gives p {decision.heuristic_probability:.2f}"


def _decision(decision: ExplainedDecision, shown: Shown) -> Group:
    callee = shown.names.get(decision.callee, decision.callee)
    title = f"Decision {decision.number}" + (f": call of {short(callee)}" if callee else "")
    facts = [("policy", _choice_text(decision)), ("heuristic", _heuristic_text(decision))]
    facts += [("callee", callee)] if callee != short(callee) else []
    blocks: list[Block] = [Facts(facts)]
    if decision.explained is None:
        blocks.append(Paragraph("No alternative."))
    else:
        blocks.append(_reasons(decision, 0 if shown.request.all_features else shown.request.features))
    if shown.request.all_features:
        where = f", at {decision.policy}" if decision.candidates is not None else ""
        values = [(feature, number(value)) for feature, value in decision.values.items()]
        blocks.append(Details(f"All it was shown{where}", [Facts(values)]))
    return Group(f"{title} (differs)" if decision.differs else title, blocks, marked=bool(decision.differs))


def _reasons(decision: ExplainedDecision, count: int) -> Table:
    """The contributions. Args: count: the most to show, without those of about 0; 0: all."""
    shown = [each for each in decision.reasons[: count or None] if not count or abs(each.adds) >= _NOTHING]
    rest = decision.reasons[len(shown) :]
    largest = max((abs(reason.adds) for reason in shown), default=0.0) or 1.0
    rows = [
        [
            Cell(reason.feature),
            Cell(number(reason.value), number=True),
            Cell(number(reason.compared), number=True),
            Cell(f"{reason.adds:+.2f}", number=True, bar=round(100.0 * reason.adds / largest, 1)),
        ]
        for reason in shown
    ]
    if rest:
        others = f"{len(rest)} other{'s' * (len(rest) > 1)}"
        adds = Cell(f"{sum(reason.adds for reason in rest):+.2f}", number=True, bar=0.0)
        rows.append([Cell(others), Cell("", number=True), Cell("", number=True), adds])
    columns = (
        "feature",
        decision.policy if decision.alternative else "value",
        decision.alternative or "median",
        "adds",
    )
    return Table("", columns, rows)


def number(value: float | None) -> str:
    """A feature's value for display; "-" where there is none."""
    if value is None or math.isnan(value):
        return "-" if value is None else "NaN"
    if not math.isfinite(value):
        return f"{value:+}"
    return f"{value:.0f}" if abs(value) < 1e15 and value == int(value) else f"{value:.4g}"


def short(name: str, width: int = _NAME_WIDTH) -> str:
    return name if len(name) <= width else f"{name[: width - 3]}..."


def _change(what: str, default: float, policy: float) -> str:
    percent = f" ({100.0 * (policy / default - 1.0):+.2f} %)" if default else ""
    return f"{what}: {default:,.10g} under the default, {policy:,.10g} under the policy{percent}"
