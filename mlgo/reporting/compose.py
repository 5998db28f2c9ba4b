"""Composes a report page from records."""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mlgo.compiler.symbols import Demangler
from mlgo.explanation.corpus_page import explanation_blocks
from mlgo.pages.change import Tone
from mlgo.pages.numbers import number
from mlgo.pages.page import Details, Facts, Page, Point, Section, grouped_section
from mlgo.reporting import programs, results, training
from mlgo.reporting.headline import headline
from mlgo.reporting.readable_names import with_readable_names
from mlgo.reporting.reading import digest_of, readable
from mlgo.reporting.records import Content, Evaluation, Kind, Record, Run

#: Seed of the bootstraps that a page computes itself.
SEED = 1
#: The kinds in their order on a page -> name, and the keys of the content that name inputs.
_KINDS: Mapping[Kind, tuple[str, Sequence[str]]] = {
    Kind.PROGRAMS: ("program measurements", ("digests",)),
    Kind.EXPLANATION: ("explanation", ("problem", "policy", "corpus")),
}


def compose(records: Sequence[Record], demangler: Demangler | None = None) -> Page:
    """The page about `records`. Raises: RunError: one has values that this version does not write."""
    with readable(f"results ({', '.join(dict.fromkeys(record.place for record in records))})"):
        return with_readable_names(_composed(records), demangler or Demangler())


def _composed(records: Sequence[Record]) -> Page:
    runs = [record for record in records if isinstance(record, Run)]
    evaluations = [_completed(record, runs) for record in records if isinstance(record, Evaluation)]
    others = [each for kind in _KINDS for each in records if isinstance(each, Content) and each.kind is kind]
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
        _provenance(ordered),
    ]
    names = list(dict.fromkeys(record.name for record in records))
    headlines = programs.cards(measured)
    unfinished = [
        Point(Tone.EQUAL, f"The run {run.name} has not ended: its figures are those of an unfinished policy.")
        for run in runs
        if run.chosen_iteration is None
    ]
    return Page(
        title=" and ".join(map(_title, names)) if len(names) <= 2 else f"{len(names)} policies: {', '.join(names)}",
        lead=_lead(runs, evaluations, others),
        verdict=headline(found, headlines) or Point(Tone.EQUAL, "There is no result on held-out code yet."),
        points=(*results.points(found, SEED), *unfinished, *programs.points(measured)),
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
    problems = [run.problem for run in runs] + [each.problem for each in evaluations if each.problem]
    explained = [each.content.get("problem") for each in others if each.kind is not Kind.PROGRAMS]
    problems += [str(problem) for problem in explained if problem]
    about = ", ".join(map(training.problem_title, dict.fromkeys(problems))) or "a compiler policy"
    parts = []
    if runs:
        algorithms = ", ".join(dict.fromkeys(training.algorithm_title(run.settings["algorithm"]) for run in runs))
        parts.append(f"trained with {algorithms}")
    if evaluations:
        corpora = [corpus for evaluation in evaluations for corpus in evaluation.corpora]
        modules = number(sum(corpus.module_count for corpus in corpora), 0)
        where = f"{len(corpora)} corpora of {modules} modules in all" if len(corpora) > 1 else f"{modules} modules"
        parts.append(f"evaluated on {where}")
    if any(record.kind is Kind.PROGRAMS for record in others):
        parts.append("measured in real programs")
    return f"Machine-learned compiler optimisation: {about}" + (f"; {', '.join(parts)}." if parts else ".")


def _provenance(records: Sequence[Record]) -> Section:
    """Digests of all inputs, settings and versions, which make a report reproducible."""
    blocks = [Details(title, [Facts(rows, code=True)]) for title, rows in map(_described, records)]
    return Section("provenance", "Provenance", "Provenance", blocks)


def _described(record: Record) -> tuple[str, list[tuple[str, str]]]:
    if isinstance(record, Run):
        rows = [("policy", digest_of(record.policy) or "none yet")]
        rows += [(f"policy/{name}", value) for name, value in sorted(record.policy.items())]
        for part in ("inputs", "versions", "configuration"):
            rows += _flat(record.training.get(part), part)
        return f"{record.name}: digests, versions and settings of the training run", rows
    if isinstance(record, Evaluation):
        rows = [("clang", record.clang)]
        rows += [(f"policy {name}", digest) for name, digest in sorted(record.policies.items())]
        rows += [(f"corpus {corpus.name}", corpus.digest or "not recorded") for corpus in record.corpora]
        return f"{record.name}: digests of the evaluation", [*rows, ("seed of the bootstraps", str(record.seed))]
    kind, keys = _KINDS[record.kind]
    return f"{record.name}: digests of the {kind}", [row for key in keys for row in _flat(record.content.get(key), key)]


def _flat(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for name, inner in sorted(value.items()):
            yield from _flat(inner, f"{path}.{name}")
    elif isinstance(value, list):
        yield path, " ".join(map(str, value)) or "none"
    else:
        yield path, "none" if value is None or value == "" else str(value)
