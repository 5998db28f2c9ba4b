"""Compares policies on the same code, paired by function or module; rows that one lacks are left out and counted."""

import dataclasses
from collections.abc import Mapping, Sequence

from mlgo.evaluation.statistics import RatioSummary, percent_text, summarize, summarize_totals
from mlgo.evaluation.verdict import Verdict, corpus_verdict
from mlgo.evaluation.weighted_sum import WeightedSum
from mlgo.pages.numbers import number
from mlgo.pages.page import Cell, Table
from mlgo.problems.problem import load_problem
from mlgo.reporting.reading import digest_of
from mlgo.reporting.records import CorpusResult, Evaluation, Record, Row, Run, SideResult, sum_of
from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.run.tabular import aligned_lines
from mlgo.score.problem_score import score_of

#: The name that reading.py gives to a run's held-out corpus; a run does not record its name.
HELD_OUT = "held_out"

_FIRST = ("against the first", "95 %", "geometric mean", "better / worse / equal")
_COLUMNS = ("corpus", "policy", *_FIRST, "against the default", "95 %", "samples")


@dataclasses.dataclass(frozen=True)
class Contender:
    """One side of a comparison."""

    name: str
    #: problem, reward, clang: what was measured and how; None: not recorded.
    problem: str | None
    reward: str | None
    clang: str | None
    corpora: Sequence[CorpusResult]
    policy: str = ""  #: its digest; "" for the compiler's heuristic or when it was not recorded.
    folding: str | None = None  #: what the linker did with identical functions, "folded" or "kept"; None: no link.


@dataclasses.dataclass(frozen=True)
class Pairing:
    """The result of a contender on a corpus."""

    corpus: str
    contender: str
    linked: bool  #: whether the ratios are of linked code.
    unit: str  #: of a row, "functions" or "modules".
    left_out: int  #: rows that another contender lacks.
    #: ratio to the default over the common rows: of linked code, of the sum of scores, or their mean.
    against_default: RatioSummary
    #: ratio of linked code, or mean of ratios, to the first contender, paired; None for the first, as all below.
    against_first: RatioSummary | None = None
    sum_against_first: WeightedSum | None = None  #: ratio of the sum of scores; None: there is no sum.
    code: float | None = None  #: ratio of the objects' bytes of code; None: not known of both.

    @property
    def headline(self) -> RatioSummary | None:
        """Against the first: linked code, else the sum of scores, else the mean of ratios; None for the first."""
        if self.linked or self.sum_against_first is None:
            return self.against_first
        return self.sum_against_first.summary

    @property
    def verdict(self) -> Verdict | None:
        """What is known of the contender against the first, and by which measures; None for the first."""
        if self.against_first is None:
            return None
        linked = self.against_first if self.linked else None
        return corpus_verdict(self.unit, self.against_first, self.sum_against_first, linked, self.code)


def contenders_of(records: Sequence[Record], name: str, all_sides: bool) -> list[Contender]:
    """The policies in the records of one folder.

    An evaluation precedes the held-out result of the run beside it, because it covers more code; the held-out result
    is used where other contenders have nothing else.

    Args: all_sides: whether the default with other flags takes part too; contenders then have the names of the sides.
    Raises: RunError: there is no table of functions or modules.
    """
    own = [contender for record in records if isinstance(record, Run) for contender in _of_run(record, name)]
    by_policy = {contender.policy: contender.corpora for contender in own if contender.policy}
    evaluated = [
        dataclasses.replace(each, corpora=[*each.corpora, *by_policy.get(each.policy, ())])
        for record in records
        if isinstance(record, Evaluation)
        for each in _of_evaluation(record, name, all_sides)
    ]
    for found in (evaluated, own):
        if any(side.rows for contender in found for corpus in contender.corpora for side in corpus.sides):
            return found
    wrong = "has no modules.csv or functions.csv with figures of a policy"
    remedy = "Name the folder of //mlgo:evaluate, or of a training run that has ended"
    raise RunError(name, wrong, remedy, ExitCode.NOTHING_PRODUCED)


def _of_evaluation(record: Evaluation, name: str, all_sides: bool) -> list[Contender]:
    sides = dict.fromkeys(side.name for corpus in record.corpora for side in corpus.sides)
    chosen = [side for side in sides if all_sides or side in record.policies]
    is_linked = any(corpus.default_linked_bytes is not None for corpus in record.corpora)
    folding = ("folded" if record.icf else "kept") if is_linked else None
    measured = record.problem, record.reward, record.clang
    found = []
    for side in chosen:
        title = side if all_sides else name if len(chosen) == 1 else f"{name}:{side}"
        corpora = [_only(corpus, side) for corpus in record.corpora]
        found.append(Contender(title, *measured, corpora, record.policies.get(side, ""), folding))
    return found


def default_reward(problem: str) -> str | None:
    """The reward that //mlgo:evaluate compares by default; None: the problem is not in this workspace."""
    try:
        return score_of(load_problem(problem)).rewards[0]
    except ValueError:
        return None


def _of_run(record: Run, name: str) -> list[Contender]:
    if record.held_out is None:
        return []
    measured = record.problem, record.settings.get("reward") or default_reward(record.problem)
    clang, corpora = record.training["inputs"].get("clang"), [_only(record.held_out, "policy")]
    return [Contender(name, *measured, clang, corpora, digest_of(record.policy))]


def _only(corpus: CorpusResult, side: str) -> CorpusResult:
    return dataclasses.replace(corpus, sides=[each for each in corpus.sides if each.name == side and each.rows])


def compare(contenders: Sequence[Contender], seed: int) -> list[Pairing]:
    """The results on every common corpus, by corpus, then in the order of the contenders; the first is the reference.

    Raises: RunError: problem, reward, compiler or corpus differ, or nothing is common.
    """
    for other in contenders[1:]:
        _refuse_other(contenders[0], other)
    tables = [_by_corpus(contender, contenders[0]) for contender in contenders]
    common, found = _common(tables), []
    for corpus in common:
        _refuse_other_corpora(corpus, contenders, tables)
        found += _pairings(corpus, contenders, [table[corpus] for table in tables], seed)
    if not found:
        had = [f"{contender.name} has {', '.join(table) or 'none'}" for contender, table in zip(contenders, tables)]
        what = "function or module in common" if common else f"corpus in common: {'; '.join(had)}"
        subject, remedy = f"{len(contenders)} policies", "Evaluate them on the same corpora"
        raise RunError(subject, f"have no {what}", remedy, ExitCode.NOTHING_PRODUCED)
    return found


def left_out_corpora(contenders: Sequence[Contender]) -> list[str]:
    """Corpora that some contender lacks, sorted."""
    tables = [_by_corpus(contender, contenders[0]) for contender in contenders]
    return sorted(set.union(*map(set, tables)) - set(_common(tables)) - {HELD_OUT})


def worse_than(pairings: Sequence[Pairing], allowed: float) -> list[str]:
    """ "CORPUS: NAME +0.30 %" where the first measure of a verdict is worse by more than `allowed` (0.001 is 0.1 %)."""
    ratios = [(each, each.verdict.evidence[0].ratio) for each in pairings if each.verdict is not None]
    worse = [(each, ratio) for each, ratio in ratios if ratio > 1.0 + allowed]
    return [f"{each.corpus}: {each.contender} {percent_text(ratio)}" for each, ratio in worse]


def _common(tables: Sequence[Mapping[str, object]]) -> list[str]:
    """The corpora that all contenders have; held-out results of runs only where there are no others."""
    shared = [name for name in tables[0] if all(name in table for table in tables)]
    return [name for name in shared if name != HELD_OUT] or shared


_Table = Mapping[tuple[str, str], Row]
_OfCorpus = tuple[str | None, _Table, SideResult]


def _by_corpus(contender: Contender, first: Contender) -> dict[str, _OfCorpus]:
    """Corpus -> (digest, rows by module and function, result). Equal digests get the name that `first` uses."""
    names: dict[str | None, str] = {each.digest: each.name for each in first.corpora if each.digest is not None}
    found: dict[str, _OfCorpus] = {}
    for corpus in contender.corpora:
        for side in corpus.sides:
            measured = corpus.digest, {row.key: row for row in side.rows}, side
            found.setdefault(names.get(corpus.digest, corpus.name), measured)
    return found


#: (what, field of a contender, remedy) of what must be the same.
_THE_SAME = (
    ("problem", "problem", "evaluate both on one problem"),
    ("reward", "reward", "evaluate both with one --reward"),
    ("clang", "clang", "evaluate both with one compiler"),
    ("linking of identical functions", "folding", "evaluate both with --icf, or both without"),
)


def _refuse_other(first: Contender, other: Contender) -> None:
    for what, field, remedy in _THE_SAME:
        expected, found = getattr(first, field), getattr(other, field)
        # Older results record none; for them the scores under the default are compared row by row.
        if expected is not None and found is not None and expected != found:
            wrong = f"is of another {what} than {first.name}: {found!r} instead of {expected!r}"
            raise RunError(other.name, wrong, f"These cannot be compared; {remedy}")


def _refuse_other_corpora(
    corpus: str, contenders: Sequence[Contender], tables: Sequence[Mapping[str, _OfCorpus]]
) -> None:
    digest, rows, _ = tables[0][corpus]
    first = contenders[0].name
    for contender, table in zip(contenders[1:], tables[1:], strict=True):
        other_digest, other_rows, _ = table[corpus]
        if digest is not None and other_digest is not None and digest != other_digest:
            digests = f"{other_digest[:12]} instead of {digest[:12]}"
            wrong = f"was measured on another content of {corpus} than {first}: {digests}"
            raise RunError(contender.name, wrong, "Evaluate both on the same corpus")
        wrong = f"has another default than {first} in"
        for key in sorted(rows.keys() & other_rows.keys(), key=str):
            if rows[key].default_score != other_rows[key].default_score:
                scores = f"{other_rows[key].default_score:g} instead of {rows[key].default_score:g}"
                said = f"{scores} for {' '.join(filter(None, key))}, so corpus, compiler or reward differ"
                remedy = "Evaluate both on the same corpus with the same compiler and reward"
                raise RunError(contender.name, f"{wrong} {corpus}: {said}", remedy)


def _pairings(corpus: str, contenders: Sequence[Contender], measured: Sequence[_OfCorpus], seed: int) -> list[Pairing]:
    keys = [set(table) for _, table, _ in measured]
    common = sorted(set.intersection(*keys))
    if not common:
        return []
    rows = [[table[key] for key in common] for _, table, _ in measured]
    first = rows[0]
    # Linked code is compared where all contenders were linked, with the same image of the default: another linker, or a
    # module that failed, gives other images.
    linked = all(
        row.linked is not None and base.default_linked is not None and row.default_linked == base.default_linked
        for own in rows
        for row, base in zip(own, first, strict=True)
    )
    linked = linked and any(row.linked for row in first) and any(row.default_linked for row in first)
    unit = "functions" if any(function for _, function in common) else "modules"
    found = []
    for contender, (_, _, side), own in zip(contenders, measured, rows, strict=True):
        pairs = list(zip(own, first, strict=True))
        if linked:
            default = summarize_totals({row.module: (row.linked or 0, row.default_linked or 0) for row in own}, seed)
            mean = summarize_totals({row.module: (row.linked or 0, base.linked or 0) for row, base in pairs}, seed)
        else:
            of_default = sum_of(own, [row.default_score for row in own], seed)
            default = of_default.summary if of_default else _geometric(own, [row.ratio for row in own], seed)
            mean = _geometric(own, [row.ratio / base.ratio for row, base in pairs], seed)
        if default is None or mean is None:
            return []
        pairing = Pairing(corpus, contender.name, linked, unit, len(set.union(*keys)) - len(common), default)
        if contender is not contenders[0]:
            sums, base = sum_of(own, [row.score for row in first], seed), measured[0][2].object_bytes
            code = side.object_bytes / base if side.object_bytes and base else None
            pairing = dataclasses.replace(pairing, against_first=mean, sum_against_first=sums, code=code)
        found.append(pairing)
    return found


def _geometric(rows: Sequence[Row], ratios: Sequence[float], seed: int) -> RatioSummary | None:
    by_module: dict[str, list[float]] = {}
    for row, ratio in zip(rows, ratios, strict=True):
        by_module.setdefault(row.module, []).append(ratio)
    return summarize(by_module, seed)


def table_of(pairings: Sequence[Pairing]) -> Table:
    rows = []
    for pairing in pairings:
        if (paired := pairing.against_first) is None:
            first = [Cell("reference", number=True), *[Cell("", number=True)] * 3]
        else:
            signs = f"{paired.better} / {paired.worse} / {paired.equal}"
            mean = None if pairing.linked else paired
            # Without its interval, which the verdict has: the table must fit the paper.
            first = [*Cell.of_summary(pairing.headline), Cell.of_summary(mean)[0], Cell(signs, number=True)]
        names, default = (Cell(pairing.corpus), Cell(pairing.contender)), Cell.of_summary(pairing.against_default)
        rows.append((*names, *first, *default, Cell(_samples(pairing), number=True)))
    return Table("Paired by function or module; negative is better.", _COLUMNS, rows)


def text_lines(table: Table) -> list[str]:
    return aligned_lines([table.columns, *([cell.text for cell in row] for row in table.rows)])


def verdict_lines(pairings: Sequence[Pairing]) -> list[str]:
    """ "zstd, new against old: better by ..." for each pairing but those of the first contender."""
    reference = {pairing.corpus: pairing.contender for pairing in pairings if pairing.against_first is None}
    return [
        f"{each.corpus}, {each.contender} against {reference[each.corpus]}: {each.verdict.sentence()}"
        for each in pairings
        if each.verdict is not None
    ]


def _samples(pairing: Pairing) -> str:
    summary = pairing.against_default
    if pairing.linked or summary.functions == summary.modules:
        return f"{summary.modules} modules"
    return f"{number(summary.functions, 0)} functions in {summary.modules} modules"
