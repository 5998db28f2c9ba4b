"""Compares policies with each other on the same code, paired by function or module.

The first policy is the reference. Rows that one policy lacks are omitted for all and counted.
"""

import dataclasses
from collections.abc import Mapping, Sequence

from mlgo.evaluation.statistics import RatioSummary, percent_text, summarize, summarize_totals
from mlgo.evaluation.verdict import Verdict, corpus_verdict
from mlgo.evaluation.weighted_sum import ScorePair, WeightedSum, weighted_sum
from mlgo.problems.problem import load_problem
from mlgo.reporting.reading import digest_of
from mlgo.reporting.records import CorpusResult, Evaluation, Record, Row, Run, SideResult, larger_is_better
from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.score.problem_score import score_of

#: The name that reading.py gives to a run's held-out corpus; a run does not record its name.
HELD_OUT = "held_out"


@dataclasses.dataclass(frozen=True)
class Contender:
    """One side of a comparison."""

    name: str
    #: problem, reward, clang: what was measured and how; None: not recorded.
    problem: str | None
    reward: str | None
    clang: str | None
    corpora: Sequence[CorpusResult]
    policy: str = ""  #: digest of the policy; "" for the compiler's heuristic or when it was not recorded.
    folding: str | None = None  #: what the linker did with identical functions, "folded" or "kept"; None: no link.


@dataclasses.dataclass(frozen=True)
class Pairing:
    """The result of a contender on a corpus."""

    #: corpus, contender: names.
    corpus: str
    contender: str
    #: ratio to the default over the common rows: of linked code, of the sum of scores, or their mean.
    against_default: RatioSummary
    #: ratio of linked code, or mean of ratios, to the first contender, paired; None for the first.
    against_first: RatioSummary | None
    #: ratio of the sum of scores to the first contender's; None: for the first, or there is no sum.
    sum_against_first: WeightedSum | None
    #: ratio of the objects' bytes of code to the first contender's; None: for the first, or not known of both.
    code: float | None
    linked: bool  #: whether the ratios are of linked code.
    unit: str  #: of a row, "functions" or "modules".
    left_out: int  #: rows that another contender lacks.

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
        contender
        for record in records
        if isinstance(record, Evaluation)
        for contender in _of_evaluation(record, name, all_sides)
    ]
    evaluated = [
        dataclasses.replace(each, corpora=[*each.corpora, *by_policy.get(each.policy, ())]) for each in evaluated
    ]
    for found in (evaluated, own):
        if any(side.rows for contender in found for corpus in contender.corpora for side in corpus.sides):
            return found
    raise RunError(
        name,
        "has no modules.csv or functions.csv with figures of a policy",
        "Name the folder of //mlgo:evaluate, or of a training run that has ended",
        ExitCode.NOTHING_PRODUCED,
    )


def _of_evaluation(record: Evaluation, name: str, all_sides: bool) -> list[Contender]:
    sides = dict.fromkeys(side.name for corpus in record.corpora for side in corpus.sides)
    chosen = [side for side in sides if all_sides or side in record.policies]
    is_linked = any(corpus.default_linked_bytes is not None for corpus in record.corpora)
    return [
        Contender(
            side if all_sides else name if len(chosen) == 1 else f"{name}:{side}",
            record.problem,
            record.reward,
            record.clang,
            [_only(corpus, side) for corpus in record.corpora],
            record.policies.get(side, ""),
            ("folded" if record.icf else "kept") if is_linked else None,
        )
        for side in chosen
    ]


def default_reward(problem: str) -> str | None:
    """The reward that //mlgo:evaluate compares by default; None: the problem is not in this workspace."""
    try:
        return score_of(load_problem(problem)).rewards[0]
    except ValueError:
        return None


def _of_run(record: Run, name: str) -> list[Contender]:
    if record.held_out is None:
        return []
    corpus = _only(record.held_out, "policy")
    reward = default_reward(record.problem) if not record.settings.get("reward") else record.settings["reward"]
    return [
        Contender(
            name, record.problem, reward, record.training["inputs"].get("clang"), [corpus], digest_of(record.policy)
        )
    ]


def _only(corpus: CorpusResult, side: str) -> CorpusResult:
    return dataclasses.replace(corpus, sides=[each for each in corpus.sides if each.name == side and each.rows])


def compare(contenders: Sequence[Contender], seed: int) -> list[Pairing]:
    """The results on every common corpus, by corpus, then in the order of the contenders; the first is the reference.

    Raises: RunError: problem, reward, compiler or corpus differ, or nothing is common.
    """
    first = contenders[0]
    for other in contenders[1:]:
        _refuse_other("problem", first, other, first.problem, other.problem, "evaluate both on one problem")
        _refuse_other("reward", first, other, first.reward, other.reward, "evaluate both with one --reward")
        _refuse_other("clang", first, other, first.clang, other.clang, "evaluate both with one compiler")
        remedy = "evaluate both with --icf, or both without"
        _refuse_other("linking of identical functions", first, other, first.folding, other.folding, remedy)
    tables = [_by_corpus(contender, first) for contender in contenders]
    common = _common(tables)
    if not common:
        had = "; ".join(
            f"{contender.name} has {', '.join(table) or 'none'}" for contender, table in zip(contenders, tables)
        )
        raise RunError(
            f"{len(contenders)} policies",
            f"have no corpus in common: {had}",
            "Evaluate them on the same corpora",
            ExitCode.NOTHING_PRODUCED,
        )
    found = []
    for corpus in common:
        _refuse_other_corpora(corpus, contenders, tables)
        found += _pairings(corpus, contenders, [table[corpus] for table in tables], seed)
    if not found:
        wrong = "have no function or module in common"
        raise RunError(
            f"{len(contenders)} policies", wrong, "Evaluate them on the same corpora", ExitCode.NOTHING_PRODUCED
        )
    return found


def left_out_corpora(contenders: Sequence[Contender]) -> list[str]:
    """Corpora that some contender lacks, sorted."""
    tables = [_by_corpus(contender, contenders[0]) for contender in contenders]
    return sorted(set.union(*map(set, tables)) - set(_common(tables)) - {HELD_OUT})


def worse_than(pairings: Sequence[Pairing], allowed: float) -> list[str]:
    """ "CORPUS: NAME +0.30 %" for each contender worse than the first by more than `allowed` (0.001 is 0.1 %).

    The first measure of each verdict is compared.
    """
    headlines = [(pairing, pairing.verdict.evidence[0].ratio) for pairing in pairings if pairing.verdict is not None]
    return [
        f"{pairing.corpus}: {pairing.contender} {percent_text(ratio)}"
        for pairing, ratio in headlines
        if ratio > 1.0 + allowed
    ]


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
            found.setdefault(
                names.get(corpus.digest, corpus.name), (corpus.digest, {row.key: row for row in side.rows}, side)
            )
    return found


def _refuse_other(
    what: str, first: Contender, other: Contender, expected: str | None, found: str | None, remedy: str
) -> None:
    # Older results record none; for them the scores under the default are compared row by row.
    if expected is not None and found is not None and expected != found:
        wrong = f"is of another {what} than {first.name}: {found!r} instead of {expected!r}"
        raise RunError(other.name, wrong, f"These cannot be compared; {remedy}")


def _refuse_other_corpora(
    corpus: str, contenders: Sequence[Contender], tables: Sequence[Mapping[str, _OfCorpus]]
) -> None:
    digest, rows, _ = tables[0][corpus]
    for contender, table in zip(contenders[1:], tables[1:], strict=True):
        other_digest, other_rows, _ = table[corpus]
        if digest is not None and other_digest is not None and digest != other_digest:
            digests = f"{other_digest[:12]} instead of {digest[:12]}"
            wrong = f"was measured on another content of {corpus} than {contenders[0].name}: {digests}"
            raise RunError(contender.name, wrong, "Evaluate both on the same corpus")
        for key in rows.keys() & other_rows.keys():
            if rows[key].default_score != other_rows[key].default_score:
                scores = f"{other_rows[key].default_score:g} instead of {rows[key].default_score:g}"
                wrong = (
                    f"has another default than {contenders[0].name} in {corpus}: {scores} for"
                    f" {' '.join(filter(None, key))}, so corpus, compiler or reward differ"
                )
                raise RunError(
                    contender.name, wrong, "Evaluate both on the same corpus with the same compiler and reward"
                )


def _pairings(corpus: str, contenders: Sequence[Contender], measured: Sequence[_OfCorpus], seed: int) -> list[Pairing]:
    tables = [table for _, table, _ in measured]
    common = sorted(set.intersection(*(set(table) for table in tables)))
    everything = set.union(*(set(table) for table in tables))
    if not common:
        return []
    # Linked code is compared where all contenders were linked, with the same image of the default: another linker, or a
    # module that failed, gives other images.
    linked = all(
        table[key].linked is not None
        and table[key].default_linked is not None
        and table[key].default_linked == tables[0][key].default_linked
        for table in tables
        for key in common
    )
    linked = (
        linked and any(tables[0][key].linked for key in common) and any(tables[0][key].default_linked for key in common)
    )
    found, unit = [], "functions" if any(function for _, function in common) else "modules"
    for contender, (_, table, side) in zip(contenders, measured, strict=True):
        if linked:
            default = summarize_totals(_linked(table, {key: table[key].default_linked for key in common}), seed)
            first = summarize_totals(_linked(table, {key: tables[0][key].linked for key in common}), seed)
        else:
            of_default = _sum({key: (table[key].score, table[key].default_score) for key in common}, table, seed)
            mean = _geometric({key: table[key].ratio for key in common}, seed)
            default = mean if of_default is None else of_default.summary
            first = _geometric({key: table[key].ratio / tables[0][key].ratio for key in common}, seed)
        if default is None or first is None:
            return []
        left_out = len(everything) - len(common)
        if contender is contenders[0]:
            found.append(Pairing(corpus, contender.name, default, None, None, None, linked, unit, left_out))
            continue
        sums = _sum({key: (table[key].score, tables[0][key].score) for key in common}, table, seed)
        base = measured[0][2].object_bytes
        code = side.object_bytes / base if side.object_bytes and base else None
        found.append(Pairing(corpus, contender.name, default, first, sums, code, linked, unit, left_out))
    return found


def _linked(table: _Table, base: Mapping[tuple[str, str], int | None]) -> dict[str, tuple[float, float]]:
    """Module -> (bytes in the linked image, those of `base`), where both are known."""
    pairs = {key[0]: (table[key].linked, default) for key, default in base.items()}
    return {
        module: (own, default) for module, (own, default) in pairs.items() if own is not None and default is not None
    }


def _sum(scores: Mapping[tuple[str, str], tuple[float, float]], table: _Table, seed: int) -> WeightedSum | None:
    """The sum of the first scores against that of the second ones; None: there is none."""
    if any(score < 0.0 for pair in scores.values() for score in pair):
        return None  # Such scores do not add up.
    pairs = [ScorePair(*key, base, own) for key, (own, base) in scores.items()]
    return weighted_sum(pairs, seed, larger_is_better([table[key] for key in scores]))


def _geometric(ratios: Mapping[tuple[str, str], float], seed: int) -> RatioSummary | None:
    by_module: dict[str, list[float]] = {}
    for (module, _), ratio in ratios.items():
        by_module.setdefault(module, []).append(ratio)
    return summarize(by_module, seed)
