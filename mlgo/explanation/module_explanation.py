"""Explains the decisions in one function of one module."""

import sys
from collections.abc import Mapping

from mlgo.compiler.symbols import demangled
from mlgo.explanation import selection
from mlgo.explanation.explainer import Explainer
from mlgo.explanation.function_report import FunctionRequest, Shown, function_page
from mlgo.explanation.replay import Replay
from mlgo.pages import rendering, terminal
from mlgo.pages.page import Cell, Table
from mlgo.run import files
from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.trace.trace import Trace


def explain_module(explainer: Explainer, module: str, request: FunctionRequest) -> None:
    """Prints the report of a function, or lists the module's. Raises: RunError: a name is unknown or ambiguous."""
    corpus = explainer.corpus.select([module])
    folders = [explainer.compiled(f"modules/{module}", corpus, under_policy) for under_policy in (False, True)]
    default, policy = (explainer.replayed(folders[own], module, check=bool(own)) for own in (0, 1))
    found = [view.recorded for view in (default, policy) if view is not None]
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
    page = function_page(explainer.digest, default, policy, records, Shown(request, function, names, wanted))
    terminal.show(sys.stdout, page)
    if request.html:
        files.write_atomically(request.html, rendering.html(page))
        print(f"\nPage: {request.html}")


def _functions(default: Replay | None, policy: Replay | None, shown: Mapping[str, str]) -> Table:
    """The functions with their decisions, those with the most differing ones first."""
    rows = []
    for function, name in shown.items():
        decisions, own = (
            [] if view is None else view.recorded.by_function().get(function, []) for view in (default, policy)
        )
        differs = None if default is None else default.differs
        rows.append((function, name, len(decisions), 0 if differs is None else int(differs[decisions].sum()), len(own)))
    rows.sort(key=lambda row: (-row[3], -row[2], row[0]))
    caption = "Functions to explain with --function; decisions of the default's compile"
    columns = ("function", "decisions", "differ", "under the policy")
    return Table(caption, columns, [[Cell(name), *map(Cell.of_number, counts)] for _, name, *counts in rows])
