"""Composes a report page from records."""

import dataclasses
from collections.abc import Sequence

from mlgo.compiler.symbols import Demangler
from mlgo.explanation.corpus_page import explanation_blocks
from mlgo.pages.change import Tone
from mlgo.pages.numbers import number
from mlgo.pages.page import Page, Point, grouped_section
from mlgo.reporting import programs, results, training
from mlgo.reporting.headline import headline
from mlgo.reporting.malformed import readable
from mlgo.reporting.provenance import provenance_section
from mlgo.reporting.readable_names import with_readable_names
from mlgo.reporting.records import Content, Evaluation, Kind, Record, Run

#: Seed of the bootstraps that a page computes itself.
SEED = 1

#: The order of the kinds on a page.
_ORDER = (Kind.PROGRAMS, Kind.EXPLANATION)


def compose(records: Sequence[Record], demangler: Demangler | None = None) -> Page:
    """The page about `records`, of one policy or several.

    Raises: RunError: a record has values that this version does not write.
    """
    with readable(f"results ({', '.join(dict.fromkeys(record.place for record in records))})"):
        return with_readable_names(_composed(records), demangler or Demangler())


def _composed(records: Sequence[Record]) -> Page:
    runs = [record for record in records if isinstance(record, Run)]
    evaluations = [_completed(record, runs) for record in records if isinstance(record, Evaluation)]
    others = [each for kind in _ORDER for each in records if isinstance(each, Content) and each.kind is kind]
    measured = [record for record in others if record.kind is Kind.PROGRAMS]
    explained = [(each.name, explanation_blocks(each.content)) for each in others if each.kind is Kind.EXPLANATION]
    found = results.results_of(runs, evaluations)
    # Where the table of an evaluation was not kept, the held-out result of its run is shown.
    tabled = found if any(result.side.rows for result in found) else results.results_of(runs, [])
    ordered: list[Record] = [*runs, *evaluations, *others]
    sections = [
        results.evaluation_section(evaluations, runs),
        results.regressions_section(tabled),
        programs.programs_section(measured),
        training.training_section(runs),
        training.learning_section(runs),
        grouped_section("explanation", "Feature importance", "Explanation", explained),
        training.failures_section(runs, evaluations),
        provenance_section(ordered),
    ]
    names = list(dict.fromkeys(record.name for record in records))
    headlines = programs.cards(measured)
    verdict = headline(found, headlines) or Point(Tone.EQUAL, "There is no result on held-out code yet.")
    unfinished = [run.name for run in runs if run.chosen_iteration is None]
    return Page(
        title=" and ".join(map(_title, names)) if len(names) <= 2 else f"{len(names)} policies: {', '.join(names)}",
        lead=_lead(runs, evaluations, others),
        verdict=verdict,
        points=(
            *results.points(found, SEED),
            *(
                Point(Tone.EQUAL, f"The run {name} has not ended: its figures are those of an unfinished policy.")
                for name in unfinished
            ),
            *programs.points(measured),
        ),
        cards=(*headlines, *results.cards(found)),
        sections=tuple(section for section in sections if section is not None),
    )


def _title(name: str) -> str:
    """ "Inlining for size" for "inlining_for_size"."""
    words = training.problem_title(name)
    return words[:1].upper() + words[1:]


def _completed(evaluation: Evaluation, runs: Sequence[Run]) -> Evaluation:
    """`evaluation` with the problem of the run beside it, where its own record names none."""
    if evaluation.problem is not None:
        return evaluation
    problem = next((run.problem for run in runs if run.name == evaluation.name), None)
    return dataclasses.replace(evaluation, problem=problem)


def _lead(runs: Sequence[Run], evaluations: Sequence[Evaluation], others: Sequence[Content]) -> str:
    problems = dict.fromkeys([run.problem for run in runs] + [each.problem for each in evaluations if each.problem])
    problems |= dict.fromkeys(
        str(record.content["problem"])
        for record in others
        if record.kind is not Kind.PROGRAMS and record.content.get("problem")
    )
    about = ", ".join(training.problem_title(name) for name in problems) or "a compiler policy"
    kinds = {record.kind for record in others}
    parts = []
    if runs:
        algorithms = ", ".join(dict.fromkeys(training.algorithm_title(run.settings["algorithm"]) for run in runs))
        parts.append(f"trained with {algorithms}")
    if evaluations:
        corpora = [corpus for evaluation in evaluations for corpus in evaluation.corpora]
        modules = number(sum(corpus.module_count for corpus in corpora), 0)
        where = f"{len(corpora)} corpora of {modules} modules in all" if len(corpora) > 1 else f"{modules} modules"
        parts.append(f"evaluated on {where}")
    if Kind.PROGRAMS in kinds:
        parts.append("measured in real programs")
    return f"Machine-learned compiler optimisation: {about}" + (f"; {', '.join(parts)}." if parts else ".")
