"""Explains the decisions in one function of one module."""

import dataclasses
import pathlib
import sys
from collections.abc import Mapping, Sequence

from mlgo.compiler.symbols import demangled
from mlgo.explanation import function_report, selection
from mlgo.explanation.decision import typical_of
from mlgo.explanation.explainer import Explainer
from mlgo.explanation.function_report import FunctionReport, Shown, View, sections_of
from mlgo.pages import rendering, terminal
from mlgo.pages.page import Cell, Page, Table
from mlgo.run import files
from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.trace.outcomes import ModuleRecord
from mlgo.trace.trace import Trace

_SHORT_DIGEST = 12


@dataclasses.dataclass(frozen=True)
class FunctionRequest:
    """What is shown of a module."""

    policy: str
    function: str | None  #: the function to explain; None: the only one, or a list of all functions.
    callsite: str | None  #: part of the name of the callees whose calls are shown; None: all calls.
    only_different: bool
    limit: int  #: decisions shown per origin; 0: all.
    features: int  #: features shown per decision; 0: all that the policy uses.
    all_features: bool  #: whether the features that the policy does not use are shown too.
    html: pathlib.Path | None


def explain_module(explainer: Explainer, module: str, request: FunctionRequest) -> None:
    """Prints the report of a function, or lists the module's. Raises: RunError: a name is unknown or ambiguous."""
    corpus = explainer.corpus.select([module])
    folders = [explainer.compiled(f"modules/{module}", corpus, under_policy) for under_policy in (False, True)]
    default, policy = (explainer.replayed(folders[own], module, check=bool(own)) for own in (0, 1))
    found = [view[0] for view in (default, policy) if view is not None]
    functions = {function for decided in found for function in decided.by_function()}
    callees = {decided.callee(n) for decided in found for n in range(len(decided))} - {""}
    names = demangled(explainer.cxxfilt, sorted(functions | callees))
    shown = {function: names[function] for function in sorted(functions)}
    wanted = None
    if request.callsite:
        of_callees, where = {name: names[name] for name in sorted(callees)}, f"module {module}"
        wanted = set(selection.matching(request.callsite, of_callees))
        if not wanted:
            selection.the_one(request.callsite, of_callees, "--callsite", "callee", where)
        callers = {decided.function(n) for decided in found for n in range(len(decided)) if decided.callee(n) in wanted}
        shown = {function: name for function, name in shown.items() if function in callers}
    if not shown:
        wrong = f"has no decision of {explainer.problem.name}"
        raise RunError(f"module {module}", wrong, "Give another module", ExitCode.NOTHING_PRODUCED)
    if not request.function and len(shown) > 1:
        terminal.show_blocks(terminal.console(sys.stdout), [_functions(default, policy, shown)])
        return
    name = request.function or next(iter(shown))
    function = selection.the_one(name, shown, "--function", "function", f"module {module}")
    records = [Trace.load(folder, corpus).records[module] for folder in folders]
    page = _page(
        explainer,
        default,
        policy,
        records,
        Shown(function, wanted, request.only_different, request.limit),
        names,
        request,
    )
    terminal.show(sys.stdout, page)
    if request.html:
        files.write_atomically(request.html, rendering.html(page))
        print(f"\nPage: {request.html}")


def _functions(default: View | None, policy: View | None, shown: Mapping[str, str]) -> Table:
    """The functions with their decisions, those with the most differing ones first."""
    rows = []
    for function, name in shown.items():
        decisions = default[0].by_function().get(function, []) if default else []
        own = policy[0].by_function().get(function, []) if policy else []
        differs = default[1].differs if default else None
        rows.append((function, name, len(decisions), 0 if differs is None else int(differs[decisions].sum()), len(own)))
    rows.sort(key=lambda row: (-row[3], -row[2], row[0]))
    caption = "Functions to explain with --function; decisions of the default's compile"
    columns = ("function", "decisions", "differ", "under the policy")
    return Table(caption, columns, [[Cell(name), *map(Cell.of_number, counts)] for _, name, *counts in rows])


def _page(
    explainer: Explainer,
    default: View | None,
    policy: View | None,
    records: Sequence[ModuleRecord],
    shown: Shown,
    names: Mapping[str, str],
    request: FunctionRequest,
) -> Page:
    problem, asked = explainer.problem, explainer.asked
    view = default or policy
    if view is None:
        raise ValueError("a function without decisions has no page")
    decided, answers = view
    typical = typical_of(problem, [decided], [answers.observations])
    report = FunctionReport(
        problem=problem.name,
        policy=f"{request.policy} ({explainer.digest[:_SHORT_DIGEST]})",
        module=decided.module,
        function=shown.function,
        demangled=names,
        outcome=function_report.outcome_lines(problem, shown.function, *records),
        basis=function_report.basis(
            problem.decision_kind == "categorical",
            asked.effect is not None,
            asked.has_probabilities,
            f"over the {len(decided)} decisions of this module",
        ),
        sections=sections_of(asked, problem, default, policy, typical, shown),
        reasons=0 if request.all_features else request.features,
        all_values=request.all_features,
    )
    return function_report.function_page(report)
