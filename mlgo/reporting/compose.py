"""Composes a report page from records."""

import dataclasses
from collections.abc import Sequence

from mlgo.compiler.symbols import Demangler
from mlgo.reporting import eviction_tuning, results, training, tuning
from mlgo.reporting import programs as real_programs
from mlgo.reporting.explanation import explanation_section
from mlgo.reporting.headline import headline
from mlgo.reporting.malformed import readable
from mlgo.reporting.page import Page, Point, Tone
from mlgo.reporting.provenance import commands_section, provenance_section
from mlgo.reporting.readable_names import with_readable_names
from mlgo.reporting.records import Evaluation, EvictionTuning, Explanation, Programs, Record, Run, Tuning
from mlgo.reporting.scale import number

#: Seed of the bootstraps that a page computes itself.
SEED = 1


def compose(records: Sequence[Record], again: str = "", demangler: Demangler | None = None) -> Page:
    """The page about `records`, of one policy or several.

    Args:
      records: at least one.
      again: the command that writes this page, see provenance.page_command; "": unknown.
      demangler: of the names of functions; default: they stay mangled.
    Raises: RunError: a record has values that this version does not write.
    """
    with readable(f"results ({', '.join(dict.fromkeys(record.place for record in records))})"):
        return with_readable_names(_composed(records, again), demangler or Demangler())


def _composed(records: Sequence[Record], again: str) -> Page:
    runs = [record for record in records if isinstance(record, Run)]
    evaluations = [_completed(record, runs) for record in records if isinstance(record, Evaluation)]
    programs = [record for record in records if isinstance(record, Programs)]
    explanations = [record for record in records if isinstance(record, Explanation)]
    tunings = [record for record in records if isinstance(record, Tuning)]
    of_evictions = [record for record in records if isinstance(record, EvictionTuning)]
    ordered: list[Record] = [*runs, *evaluations, *programs, *tunings, *of_evictions, *explanations]
    found = results.results_of(runs, evaluations)
    # Where the table of an evaluation was not kept, the held-out result of its run is shown.
    tabled = found if any(result.side.rows for result in found) else results.results_of(runs, [])
    sections = [
        results.evaluation_section(evaluations, runs),
        results.distribution_section(tabled),
        results.regressions_section(tabled),
        real_programs.programs_section(programs),
        tuning.tuning_section(tunings),
        eviction_tuning.tuning_section(of_evictions),
        training.training_section(runs),
        training.learning_section(runs),
        explanation_section(explanations),
        training.failures_section(runs, evaluations),
        commands_section(ordered, again),
        provenance_section(ordered),
    ]
    names = list(dict.fromkeys(record.name for record in records))
    headlines = [*real_programs.cards(programs), *tuning.cards(tunings), *eviction_tuning.cards(of_evictions)]
    verdict = headline(found, headlines) or Point(Tone.EQUAL, "There is no result on held-out code yet.")
    return Page(
        title=" and ".join(_title(name) for name in names)
        if len(names) <= 2
        else f"{len(names)} policies: {', '.join(names)}",
        lead=_lead(runs, evaluations, programs, [*tunings, *of_evictions], explanations),
        verdict=verdict,
        points=(*_points(found, runs), *real_programs.points(programs)),
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


def _lead(runs, evaluations, programs, tunings, explanations) -> str:
    problems = dict.fromkeys(record.problem for record in (*runs, *evaluations) if record.problem)
    problems |= dict.fromkeys(
        str(record.content["problem"]) for record in (*tunings, *explanations) if record.content.get("problem")
    )
    about = ", ".join(training.problem_title(name) for name in problems) or "a compiler policy"
    parts = []
    if runs:
        algorithms = ", ".join(dict.fromkeys(training.algorithm_title(run.settings["algorithm"]) for run in runs))
        parts.append(f"trained with {algorithms}")
    if evaluations:
        corpora = [corpus for evaluation in evaluations for corpus in evaluation.corpora]
        modules = number(sum(corpus.module_count for corpus in corpora), 0)
        where = f"{len(corpora)} corpora of {modules} modules in all" if len(corpora) > 1 else f"{modules} modules"
        parts.append(f"evaluated on {where}")
    if programs:
        parts.append("measured in real programs")
    if tunings:
        parts.append("searched for one program")
    return f"Machine-learned compiler optimisation: {about}" + (f"; {', '.join(parts)}." if parts else ".")


def _points(found: Sequence[results.Result], runs: Sequence[Run]) -> list[Point]:
    """Arguments for and against the policies."""
    unfinished = [run.name for run in runs if run.chosen_iteration is None]
    return [
        *results.points(found, SEED),
        *(
            Point(Tone.EQUAL, f"The run {name} has not ended: its figures are those of an unfinished policy.")
            for name in unfinished
        ),
    ]
