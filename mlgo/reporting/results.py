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
from mlgo.pages.page import COMMANDS, Block, Card, Cell, Details, Paragraph, Point, Section, Table, grouped_section
from mlgo.reporting.records import CorpusResult, Evaluation, Row, Run, SideResult, corpus_title, side_title

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
    """Every policy on every corpus of the evaluations, and the held-out result, of less code, of runs without one."""
    found = [
        Result(evaluation, corpus, side, _title(evaluation, side.name, evaluations, runs))
        for evaluation in evaluations
        for corpus in evaluation.corpora
        for side in corpus.sides
        if side.name in evaluation.policies
    ]
    for run in runs:
        if run.held_out is not None and run.name not in {evaluation.name for evaluation in evaluations}:
            sides = [side for side in run.held_out.sides if side.name == "policy"]
            found += [Result(run, run.held_out, side, run.name) for side in sides]
    return [result for result in found if result.side.headline is not None]


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
        found.append(Card(title, change_of(first, known.claim), result.what, samples(result.corpus, result.side)))
    return found


def points(results: Sequence[Result], seed: int) -> Iterator[Point]:
    """Arguments for and against each policy."""
    policies = by_title(results)
    for title, of_policy in policies.items():
        for point in _points(of_policy, seed):
            yield Point(point.tone, f"{title}: {point.text}" if len(policies) > 1 else point.text)


def _points(results: Sequence[Result], seed: int) -> Iterator[Point]:
    for result in results:
        verdict = result.side.verdict(result.corpus.unit)
        if verdict.claim is Claim.DISAGREEING:
            yield Point(Tone.EQUAL, f"{corpus_title(result.corpus.name)}: {verdict.sentence(figures_of)}.")
        yield from _against_thresholds(result, seed)
    means = [result.side.mean for result in results if result.side.mean is not None]
    unit, total = results[0].corpus.unit, sum(mean.functions for mean in means)
    if total:
        # Counts have no interval, so they have no tone.
        better, worse = sum(mean.better for mean in means), sum(mean.worse for mean in means)
        signs = f"{number(better, 0)} are better, {number(worse, 0)} worse, the rest equal"
        yield Point(Tone.PLAIN, f"Of {number(total, 0)} {unit}, {signs}.")
    rows = [row for result in results for row in result.side.rows if row.ratio > 1.0]
    if rows:
        worst = max(rows, key=lambda row: row.ratio)
        name = recognisable(worst.function or worst.module)
        yield Point(Tone.PLAIN, f"The worst regression is {percent_of(worst.ratio)} in {name}.")
    if failed := sum(len(result.corpus.failed) for result in results):
        yield Point(Tone.PLAIN, f"{failed} modules failed to compile on one side and are omitted on all sides.")


def _against_thresholds(result: Result, seed: int) -> Iterator[Point]:
    """Against the best -inline-threshold on the same corpus, paired by module."""
    sides = [side for side in result.corpus.sides if threshold_of(side.name)]
    others = [(side.linked.geometric_mean, side) for side in sides if side.linked]
    if not others or result.side.linked is None:
        return
    _, best = min(others, key=lambda entry: entry[0])
    own, base = (
        {row.module: row.linked for row in side.rows if row.linked is not None} for side in (result.side, best)
    )
    pairs = {module: (size, base[module]) for module, size in own.items() if module in base}
    paired = summarize_totals(pairs, seed) if pairs else None
    if paired is not None:
        change, named = Change.of(paired), f"-inline-threshold={threshold_of(best.name)}"
        text = f"On {corpus_title(result.corpus.name)}, against the best threshold ({named}), paired by module"
        yield Point(change.tone, f"{text}: {change.figures}: {change.verdict}.")


def evaluation_section(evaluations: Sequence[Evaluation], runs: Sequence[Run]) -> Section | None:
    """Every side on every corpus, with intervals; None: there is nothing."""
    groups = [(f"{each.name}, evaluation", _evaluation_blocks(each.policies, each.corpora)) for each in evaluations]
    for run in runs:
        if run.held_out is not None:
            blocks = _evaluation_blocks(("policy",), [run.held_out])
            groups.append((f"{run.name}, held-out result of the training run", blocks))
    found = grouped_section("result", "Result by corpus", "Result", groups)
    return found and dataclasses.replace(found, blocks=[Paragraph(_HOW_TO_READ), *found.blocks])


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


def _evaluation_blocks(policies: Collection[str], corpora: Sequence[CorpusResult]) -> list[Block]:
    def forest(caption: str, summary_of: Callable[[SideResult], RatioSummary | None]) -> Block:
        rows = [
            ForestRow.of(corpus_title(corpus.name), side_title(side.name), summary, side.name in policies)
            for corpus in corpora
            for side in corpus.sides
            if (summary := summary_of(side)) is not None
        ]
        return Forest(caption, rows)

    unit, sides = corpora[0].unit if corpora else "modules", [side for corpus in corpora for side in corpus.sides]
    means = forest(f"Geometric mean over {unit}.", lambda side: side.mean)
    blocks: list[Block] = [means]
    if any(side.linked for side in sides):
        by_image = forest("Code bytes in the linked image.", lambda side: side.linked)
        blocks = [by_image, Details(f"By {unit.removesuffix('s')} instead of by image", [means])]
    if any(side.weighted for side in sides):
        caption = f"Weighted sum: the sum of the scores of all {unit}, which counts each by its score."
        blocks.append(forest(caption, lambda side: side.weighted.summary if side.weighted else None))
    elif any(side.mean for side in sides):
        blocks.append(Paragraph(_NO_SUM))
    if any(side.unseen != side.mean for side in sides if side.unseen is not None):
        caption = "Only functions whose names do not occur in the training corpus."
        blocks.append(forest(caption, lambda side: side.unseen))
    return [*blocks, Details("The same figures as a table", [_figures(corpora)])]


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
        names = [Cell.of_name(row.module), *([Cell.of_name(row.function)] if by_function else [])]
        scores = (Cell(score_text(score), number=True) for score in (row.default_score, row.score))
        commands = Cell(reproduce(result, row), code=True, folded=COMMANDS)
        rows.append((*names, Cell(corpus_title(result.corpus.name)), Cell.of_ratio(row.ratio), *scores, commands))
    names_of = ("module", "function") if by_function else ("module",)
    columns = (*names_of, "corpus", "change", "default", "policy", "to reproduce")
    return Table("Scores under the default and under the policy; largest increase first.", columns, rows)


def reproduce(result: Result, row: Row) -> str:
    """Two commands: one compares the row's module again, one shows the decisions in it."""
    problem = [f"--problem={result.owner.problem}"] if result.owner.problem else []
    again = [*problem, f"--module_filter=^{re.escape(row.module)}$", "--output_dir=out/evaluation_of_one"]
    why = [*problem, f"--module={row.module}", *([f"--function={row.function}"] if row.function else [])]
    # A page names no folder of this machine.
    folders = '--policy="$POLICY" --corpus="$CORPUS"'
    commands = (("evaluate", again), ("explain", why))
    return "\n".join(f"./bazelw run //mlgo:{name} -- {folders} {shlex.join(words)}" for name, words in commands)


def samples(corpus: CorpusResult, side: SideResult) -> str:
    """ "36 modules", "37 of 39 modules", "621 functions in 36 modules"."""
    headline, count = side.headline, corpus.module_count
    if headline is None:
        return f"{count} modules"
    modules = f"{headline.modules} modules" if headline.modules == count else f"{headline.modules} of {count} modules"
    if side.linked is not None or corpus.unit == "modules":
        return modules
    return f"{number(headline.functions, 0)} functions in {modules}"


def change_of(measured: Evidence, claim: Claim | None = None) -> Change:
    return Change.of_ratios(measured.ratio, measured.low, measured.high, claim)


def figures_of(measured: Evidence) -> str:
    """ "−1.40 %, −2.10 … −0.70"; "−1.40 %" where the interval has no width."""
    change = change_of(measured)
    return f"{change.percent_text}, {change.interval_text}" if measured.high != measured.low else change.percent_text


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
