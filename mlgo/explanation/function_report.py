"""The report of one function's decisions, as a page."""

import dataclasses
import math
from collections.abc import Mapping, Sequence

from mlgo.explanation.decision import ExplainedDecision, Typical, explain
from mlgo.explanation.queried_policy import QueriedPolicy
from mlgo.explanation.recorded import RecordedDecisions
from mlgo.explanation.replay import Replay
from mlgo.learning.linear_network import TOP_LOGIT
from mlgo.pages.change import Tone
from mlgo.pages.page import Block, Cell, Details, Facts, Group, Page, Paragraph, Point, Table
from mlgo.pages.page import Section as PageSection
from mlgo.problems.problem import Problem
from mlgo.score.problem_score import score_of
from mlgo.trace.outcomes import ModuleRecord

#: Demangled names are cut to this length where only recognition matters.
NAME_WIDTH = 100
#: Smaller contributions are printed as 0.00.
_NOTHING = 0.005


@dataclasses.dataclass(frozen=True)
class Section:
    """Decisions in states of one origin.

    Attributes: total: number of decisions; differing: those that differ from the heuristic's; None: unknown.
    """

    title: str
    remark: str
    decisions: Sequence[ExplainedDecision]
    total: int
    differing: int | None


@dataclasses.dataclass(frozen=True)
class FunctionReport:
    """The report of a function."""

    #: problem, policy, module, function: names; `policy` with the start of its digest.
    problem: str
    policy: str
    module: str
    function: str
    demangled: Mapping[str, str]  #: demangled names of the function and its callees.
    outcome: Sequence[str]
    basis: str
    sections: Sequence[Section]  #: by origin of the states.
    reasons: int  #: features shown per decision; 0: all that the policy uses.
    all_values: bool  #: whether the values of all features are listed too.


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


def basis(choosing: bool, linear: bool, has_probabilities: bool, what: str) -> str:
    """An explanation of the contributions. Args: what: over what the medians are taken."""
    whole = "the margin" if choosing else "z"
    start = (
        "what each feature adds to the margin, the policy's logit for its choice minus that for the alternative"
        if choosing
        else f"what each feature adds to z, counted from a state in which all have their medians ({what})"
    )
    if choosing and not has_probabilities:
        start = "how much each feature does to make the policy choose this candidate and not the alternative"
        whole = "1 if the choice depends on them, else 0"
    elif not has_probabilities:
        whole = "z, which is 1 or -1: this policy tells its decision only"
    if linear:
        end = f"; they add up to {whole}, but where the policy cuts z off at +-{TOP_LOGIT:g}"
    else:
        end = f"; Shapley values, which add up to {whole}"
    return f"Why: {start}{end}."


def choice_text(decision: ExplainedDecision) -> str:
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


def heuristic_text(decision: ExplainedDecision) -> str:
    if decision.heuristic is None:
        return "not known: the compiler does not ask it here"
    if decision.heuristic_probability is None or not decision.differs or decision.candidates is None:
        return decision.heuristic
    return f"{decision.heuristic}, to which the policy gives p {decision.heuristic_probability:.2f}"


def function_page(report: FunctionReport) -> Page:
    name = report.demangled.get(report.function, report.function)
    mangled = "" if name == report.function else f"{report.function} "
    return Page(
        title=f"{report.problem}: {name}",
        lead=f"{mangled}in {report.module}, policy {report.policy}",
        verdict=None,
        points=[Point(Tone.PLAIN, text) for text in (*report.outcome, report.basis)],
        cards=[],
        sections=[_page_section(report, section, f"states-{n}") for n, section in enumerate(report.sections)],
        kind="mlgo explanation",
        ending="",
    )


def _page_section(report: FunctionReport, section: Section, anchor: str) -> PageSection:
    text = f"{section.total} decisions"
    text += "" if section.differing is None else f", {section.differing} differ from the heuristic"
    if hidden := section.total - len(section.decisions):
        text += f"; {hidden} more decisions are not shown, see --limit, --callsite and --only_different"
    groups = [_decision(report, decision) for decision in section.decisions]
    short_title = section.title.removeprefix("In the states of ")
    return PageSection(anchor, section.title, short_title, [Paragraph(f"{text}. {section.remark}"), *groups])


def _decision(report: FunctionReport, decision: ExplainedDecision) -> Group:
    callee = report.demangled.get(decision.callee, decision.callee)
    title = f"Decision {decision.number}" + (f": call of {short(callee)}" if callee else "")
    facts = [("policy", choice_text(decision)), ("heuristic", heuristic_text(decision))]
    facts += [("callee", callee)] if callee != short(callee) else []
    blocks: list[Block] = [Facts(facts)]
    if decision.explained is None:
        blocks.append(Paragraph("No alternative."))
    else:
        blocks.append(_reasons(decision, report.reasons))
    if report.all_values:
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


def short(name: str, width: int = NAME_WIDTH) -> str:
    return name if len(name) <= width else f"{name[: width - 3]}..."


def _change(what: str, default: float, policy: float) -> str:
    percent = f" ({100.0 * (policy / default - 1.0):+.2f} %)" if default else ""
    return f"{what}: {default:,.10g} under the default, {policy:,.10g} under the policy{percent}"


#: The decisions of a compile, and the policy's answers in the same states.
View = tuple[RecordedDecisions, Replay]


@dataclasses.dataclass(frozen=True)
class Shown:
    """The decisions to show."""

    function: str
    callees: set[str] | None = None  #: for inlining, only calls of these; None: all.
    only_different: bool = False
    limit: int = 0  #: the most decisions of each compile; 0: all.

    def among(self, decided: RecordedDecisions) -> list[int]:
        decisions = decided.by_function().get(self.function, [])
        return [n for n in decisions if self.callees is None or decided.callee(n) in self.callees]


def sections_of(
    asked: QueriedPolicy, problem: Problem, default: View | None, policy: View | None, typical: Typical, shown: Shown
) -> list[Section]:
    """One section per compile with decisions; leading states that both share are shown once."""
    sections, seen = [], []
    if default is not None:
        seen = shown.among(default[0])
        remark = "The heuristic took these decisions; the policy is evaluated in the same states."
        sections.append(
            _section(asked, problem, default, typical, shown, seen, "In the states of the default's compile", remark)
        )
    if policy is not None:
        decided = policy[0]
        numbers = shown.among(decided)
        same = decided.same_states(numbers, default[0], seen) if default is not None else 0
        logged = bool(problem.default_decision_spec)
        known = "LLVM also asked the heuristic." if logged else "what the heuristic would decide here is not logged."
        seen_before = _same_remark(decided, shown.function, numbers, same)
        remark = f"The policy took these decisions; {known} {seen_before}".rstrip()
        title = "In the states of the policy's own compile"
        sections.append(_section(asked, problem, policy, typical, shown, numbers[same:], title, remark))
    return sections


def _section(
    asked: QueriedPolicy,
    problem: Problem,
    view: View,
    typical: Typical,
    shown: Shown,
    numbers: Sequence[int],
    title: str,
    remark: str,
) -> Section:
    decided, answers = view
    differing = None if answers.differs is None else [n for n in numbers if answers.differs[n]]
    kept = differing if shown.only_different and differing is not None else numbers
    explained = explain(asked, problem, decided, answers, kept[: shown.limit or None], typical)
    return Section(title, remark, explained, len(numbers), None if differing is None else len(differing))


def _same_remark(decided: RecordedDecisions, function: str, numbers: Sequence[int], same: int) -> str:
    """A remark that the first `same` of `numbers` were taken in states that are shown above."""
    if not same:
        return ""
    if same == len(numbers):
        return "All states are those above."
    return f"Before decision {decided.by_function()[function].index(numbers[same])} the states are those above."
