"""The sections about results on corpora: headline, verdict, results by corpus, distributions, regressions."""

import dataclasses
import re
import shlex
from collections.abc import Callable, Collection, Iterator, Sequence

from mlgo.compiler.symbols import is_mangled
from mlgo.evaluation.sides import threshold_of
from mlgo.evaluation.statistics import RatioSummary, summarize_totals
from mlgo.evaluation.verdict import Claim, Evidence
from mlgo.pages.change import Change, Tone
from mlgo.pages.charts import Forest, ForestRow
from mlgo.pages.numbers import number, percent_of
from mlgo.pages.page import (
    COMMANDS,
    Block,
    Card,
    Cell,
    Details,
    Group,
    Paragraph,
    Point,
    Section,
    Table,
    grouped_section,
)
from mlgo.reporting.records import CorpusResult, Evaluation, Row, Run, SideResult
from mlgo.reporting.titles import corpus_title, side_title

#: How many of the worst rows are shown of each result.
WORST = 15


@dataclasses.dataclass(frozen=True)
class Result:
    """The result of a policy on a corpus, which `owner` measured; `title` is the policy's name for headings."""

    owner: Run | Evaluation
    corpus: CorpusResult
    side: SideResult
    title: str

    @property
    def headline(self) -> RatioSummary:
        """The headline figure. Raises: ValueError: nothing was measured; results_of leaves such results out."""
        if self.side.headline is None:
            raise ValueError(f"{self.title} has no figure on {self.corpus.name}")
        return self.side.headline

    @property
    def what(self) -> str:
        if self.side.linked:
            return "linked code"
        return f"score, {'weighted sum' if self.side.weighted else 'geometric mean'} over {self.corpus.unit}"


def results_of(runs: Sequence[Run], evaluations: Sequence[Evaluation]) -> list[Result]:
    """Every policy on every corpus of the evaluations, and the held-out results of runs without an evaluation.

    An evaluation of the same name replaces a run's own result, because it covers more code.
    """
    found = []
    for evaluation in evaluations:
        for corpus in evaluation.corpora:
            for side in corpus.sides:
                if side.name in evaluation.policies and side.headline is not None:
                    found.append(Result(evaluation, corpus, side, _title(evaluation, side.name, evaluations, runs)))
    for run in runs:
        if run.held_out is not None and run.name not in {evaluation.name for evaluation in evaluations}:
            for side in run.held_out.sides:
                if side.name == "policy" and side.headline is not None:
                    found.append(Result(run, run.held_out, side, run.name))
    return found


def _title(evaluation: Evaluation, side: str, evaluations: Sequence[Evaluation], runs: Sequence[Run]) -> str:
    names = {each.name for each in evaluations} | {run.name for run in runs}
    if len(evaluation.policies) == 1 and (len(names) > 1 or side in ("policy", "trained")):
        return evaluation.name
    return side if len(names) == 1 else f"{evaluation.name}, {side}"


def cards(results: Sequence[Result]) -> list[Card]:
    several = len({result.title for result in results}) > 1
    found = []
    for result in results:
        title = f"{result.title}: {corpus_title(result.corpus.name)}" if several else corpus_title(result.corpus.name)
        known = result.side.verdict(result.corpus.unit)
        first = known.evidence[0]
        change = Change.of_ratios(first.ratio, first.low, first.high, known.claim)
        found.append(Card(title, change, result.what, samples(result.corpus, result.side)))
    return found


def points(results: Sequence[Result], seed: int) -> list[Point]:
    """Arguments for and against each policy."""
    found = []
    several = len(by_title(results)) > 1
    for title, of_policy in by_title(results).items():
        prefix = f"{title}: " if several else ""
        found += [Point(point.tone, prefix + point.text) for point in _points(of_policy, seed)]
    return found


def _points(results: Sequence[Result], seed: int) -> Iterator[Point]:
    for result in results:
        yield from _disagreement(result)
        yield from _against_thresholds(result, seed)
    means = [result.side.mean for result in results if result.side.mean is not None]
    unit, total = results[0].corpus.unit, sum(mean.functions for mean in means)
    if total:
        # Counts have no interval, so they have no tone.
        better, worse = sum(mean.better for mean in means), sum(mean.worse for mean in means)
        yield Point(
            Tone.PLAIN,
            f"Of {number(total, 0)} {unit}, {number(better, 0)} are better, {number(worse, 0)} worse, the rest equal.",
        )
    rows = [row for result in results for row in result.side.rows]
    if rows:
        worst = max(rows, key=lambda row: row.ratio)
        if worst.ratio > 1.0:
            name = worst.function or worst.module
            yield Point(Tone.PLAIN, f"The worst regression is {percent_of(worst.ratio)} in {recognisable(name)}.")
    if failed := sum(len(result.corpus.failed) for result in results):
        yield Point(Tone.PLAIN, f"{failed} modules failed to compile on one side and are omitted on all sides.")


def _disagreement(result: Result) -> Iterator[Point]:
    """The measures of one corpus, where they contradict each other."""
    found = result.side.verdict(result.corpus.unit)
    if found.claim is Claim.DISAGREEING:
        said = found.sentence(figures_of)
        yield Point(Tone.EQUAL, f"{corpus_title(result.corpus.name)}: {said}.")


def _against_thresholds(result: Result, seed: int) -> Iterator[Point]:
    """Against the best -inline-threshold on the same corpus, paired by module."""
    others = [
        (side.linked.geometric_mean, side) for side in result.corpus.sides if threshold_of(side.name) and side.linked
    ]
    if not others or result.side.linked is None:
        return
    _, best = min(others, key=lambda entry: entry[0])
    of_default = {row.module: row.linked for row in best.rows if row.linked is not None}
    pairs = {
        row.module: (row.linked, of_default[row.module])
        for row in result.side.rows
        if row.linked is not None and row.module in of_default
    }
    paired = summarize_totals(pairs, seed) if pairs else None
    if paired is not None:
        change, threshold = Change.of(paired), threshold_of(best.name)
        text = (
            f"On {corpus_title(result.corpus.name)}, against the best threshold (-inline-threshold={threshold}), paired"
        )
        yield Point(change.tone, f"{text} by module: {change.figures}: {change.verdict}.")


def evaluation_section(evaluations: Sequence[Evaluation], runs: Sequence[Run]) -> Section | None:
    """Every side on every corpus, with intervals; None: there is nothing."""
    blocks: list[Block] = []
    owners: list[tuple[Run | Evaluation, Sequence[CorpusResult]]] = [(each, each.corpora) for each in evaluations]
    owners += [(run, [run.held_out]) for run in runs if run.held_out is not None]
    for owner, corpora in owners:
        own = _evaluation_blocks(owner, corpora)
        if len(owners) > 1:
            where = "evaluation" if isinstance(owner, Evaluation) else "held-out result of the training run"
            own = [Group(f"{owner.name}, {where}", own)]
        blocks += own
    if not blocks:
        return None
    return Section("result", "Result by corpus", "Result", [Paragraph(_HOW_TO_READ), *blocks])


_HOW_TO_READ = (
    "Change against the compiler's default in percent; negative is better. The bar is the 95 % interval, a bootstrap"
    " over modules; an interval that contains 0 shows no difference. A module that fails on one side is omitted on all."
    " Where 31 of 39 modules are named, the other 8 have nothing to compare: no function with a decision, or no code in"
    " the image."
)


_NO_SUM = (
    "The weighted sum is missing: this result does not record it, and its table (modules.csv or functions.csv) was not"
    " kept."
)


def _evaluation_blocks(owner: Run | Evaluation, corpora: Sequence[CorpusResult]) -> list[Block]:
    policies = owner.policies if isinstance(owner, Evaluation) else ("policy",)
    linked = any(side.linked for corpus in corpora for side in corpus.sides)
    blocks: list[Block] = []
    if linked:
        blocks.append(_forest("Code bytes in the linked image.", corpora, policies, lambda side: side.linked))
    unit = corpora[0].unit if corpora else "modules"
    means = _forest(f"Geometric mean over {unit}.", corpora, policies, lambda side: side.mean)
    blocks.append(Details(f"By {unit.removesuffix('s')} instead of by image", [means]) if linked else means)
    sides = [side for corpus in corpora for side in corpus.sides]
    if any(side.weighted for side in sides):
        caption = f"Weighted sum: the sum of the scores of all {unit}, which counts each by its score."
        blocks.append(
            _forest(caption, corpora, policies, lambda side: side.weighted.summary if side.weighted else None)
        )
    elif any(side.mean for side in sides):
        blocks.append(Paragraph(_NO_SUM))
    if any(side.unseen != side.mean for side in sides if side.unseen is not None):
        caption = "Only functions whose names do not occur in the training corpus."
        blocks.append(_forest(caption, corpora, policies, lambda side: side.unseen))
    blocks.append(Details("The same figures as a table", [_figures(corpora)]))
    return blocks


def _forest(
    caption: str,
    corpora: Sequence[CorpusResult],
    policies: Collection[str],
    summary_of: Callable[[SideResult], RatioSummary | None],
) -> Block:
    rows = [
        ForestRow.of(corpus_title(corpus.name), side_title(side.name), summary, side.name in policies)
        for corpus in corpora
        for side in corpus.sides
        if (summary := summary_of(side)) is not None
    ]
    return Forest(caption, rows)


def _figures(corpora: Sequence[CorpusResult]) -> Table:
    rows = []
    for corpus in corpora:
        for side in corpus.sides:
            cells = [Cell(corpus_title(corpus.name)), Cell(side_title(side.name))]
            cells += [*Cell.of_summary(side.linked), *Cell.of_summary(side.mean)]
            counts = "" if side.mean is None else f"{side.mean.better} / {side.mean.worse} / {side.mean.equal}"
            size = "" if side.linked_bytes is None else number(side.linked_bytes, 0)
            objects = ""
            if side.object_bytes is not None and corpus.default_object_bytes:
                objects = percent_of(side.object_bytes / corpus.default_object_bytes)
            rows.append((*cells, *(Cell(text, number=True) for text in (counts, size, objects))))
    means = ("linked code", "95 %", "geometric mean", "95 %")
    columns = ("corpus", "side", *means, "better / worse / equal", "image, bytes of code", "object code")
    caption = "All figures. Object code, before linking, contains duplicates and unused functions and is misleading."
    return Table(caption, columns, rows)


def regressions_section(results: Sequence[Result]) -> Section | None:
    """The worst rows of every policy, with the commands that reproduce them; None: no table was kept."""
    groups: list[tuple[str, list[Block]]] = []
    for title, of_policy in by_title(results).items():
        worst = sorted(
            ((result, row) for result in of_policy for row in result.side.rows if row.ratio > 1.0),
            key=lambda entry: (-entry[1].ratio, entry[0].corpus.name, entry[1].key),
        )
        own: list[Block] = [_worst_table(worst[:WORST])] if worst else [Paragraph("No regression.")]
        if len(worst) > WORST:
            rest = number(len(worst) - WORST, 0)
            own.append(Paragraph(f"{rest} smaller ones are only in the CSV file of the result."))
        groups.append((title, own if any(result.side.rows for result in of_policy) else []))
    return grouped_section("regressions", "Worst regressions", "Regressions", groups)


def _worst_table(worst: Sequence[tuple[Result, Row]]) -> Table:
    rows = []
    by_function = any(row.function for _, row in worst)
    for result, row in worst:
        name = [Cell.of_name(row.module), *([Cell.of_name(row.function)] if by_function else [])]
        rows.append(
            (
                *name,
                Cell(corpus_title(result.corpus.name)),
                Cell.of_ratio(row.ratio),
                Cell(score_text(row.default_score), number=True),
                Cell(score_text(row.score), number=True),
                Cell(reproduce(result, row), code=True, folded=COMMANDS),
            )
        )
    columns = (
        "module",
        *(("function",) if by_function else ()),
        "corpus",
        "change",
        "default",
        "policy",
        "to reproduce",
    )
    return Table("Scores under the default and under the policy; largest increase first.", columns, rows)


def reproduce(result: Result, row: Row) -> str:
    """Two commands: one compares the row's module again, one shows the decisions in it."""
    problem = [f"--problem={result.owner.problem}"] if result.owner.problem else []
    again = [*problem, f"--module_filter=^{re.escape(row.module)}$", "--output_dir=out/evaluation_of_one"]
    why = [*problem, f"--module={row.module}", *([f"--function={row.function}"] if row.function else [])]
    # A page names no folder of this machine.
    folders = ['--policy="$POLICY"', '--corpus="$CORPUS"']
    commands = (("evaluate", again), ("explain", why))
    return "\n".join(
        " ".join([f"./bazelw run //mlgo:{name} --", *folders, *map(shlex.quote, words)]) for name, words in commands
    )


def samples(corpus: CorpusResult, side: SideResult) -> str:
    """ "36 modules", "37 of 39 modules", "621 functions in 36 modules"."""
    headline, count = side.headline, corpus.module_count
    if headline is None:
        return f"{count} modules"
    modules = f"{headline.modules} modules" if headline.modules == count else f"{headline.modules} of {count} modules"
    if side.linked is not None or corpus.unit == "modules":
        return modules
    return f"{number(headline.functions, 0)} functions in {modules}"


def figures_of(measured: Evidence) -> str:
    """ "−1.40 %, −2.10 … −0.70"; "−1.40 %" where the interval has no width."""
    change = Change.of_ratios(measured.ratio, measured.low, measured.high)
    width = measured.high - measured.low
    return f"{change.percent_text}, {change.interval_text}" if width else change.percent_text


def score_text(score: float) -> str:
    """A score; large ones without decimals."""
    return number(score, 0 if abs(score) >= 1000 else 2)


def recognisable(name: str, longest: int = 60) -> str:
    """A symbol, cut to `longest` characters; a mangled one is demangled, and shortened, later (readable_names.py)."""
    return name if len(name) <= longest or is_mangled(name) else f"{name[: longest - 1]}…"


def by_title(results: Sequence[Result]) -> dict[str, list[Result]]:
    found: dict[str, list[Result]] = {}
    for result in results:
        found.setdefault(result.title, []).append(result)
    return found
