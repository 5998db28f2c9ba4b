"""The first table of README.md: what each switch gains, what the same costs without ML, and what is lost."""

from collections.abc import Mapping, Sequence
from typing import Any

from models.results import measured, tables
from models.results.pages import percent

_LANGUAGES = ("C", "C++")


def table(
    inlining: Mapping[str, Any],
    folded: Mapping[str, Any],
    inlining_programs: Mapping[str, Any],
    eviction: Mapping[str, Any],
    eviction_programs: Mapping[str, Any],
    languages: Mapping[str, str],
) -> str:
    """All from results of the exam.

    Args: folded: `inlining` with --icf; languages: library -> "C" or "C++".
    """
    executed = measured.programs(inlining_programs, "executed", "policy", "instructions")
    rows = []
    for side, switch, price in (
        ("trained", "-Oz `--config=mlgo-size.cfg`", f"instructions executed {_mean_and_worst(executed)}"),
        ("search_8", "-Oz `-mllvm -mlgo-search=8`", "compile time"),
    ):
        means, icf = (_by_language(result, languages, side) for result in (inlining, folded))
        worst = max(
            (_libraries(inlining, languages, language, side).worst for language in _LANGUAGES), key=lambda of: of[1]
        )
        without = "; ".join(
            f"{language} {tables.best_single_threshold(inlining, _of(languages, language))}" for language in _LANGUAGES
        )
        gain = f"code of {len(languages)} libraries: {means}"
        rows.append(
            [switch, gain, f"`-inline-threshold`: {without}", _named(worst), f"{price}; with `--icf=all` code {icf}"]
        )
    both, policy, cost = (
        measured.programs(eviction_programs, "run", side, "instructions")
        for side in ("policy_callee_saved_32768", "policy", "default_callee_saved_32768")
    )
    references = measured.programs(eviction_programs, "run", "policy_callee_saved_32768", "data_references")
    code = measured.group(
        {name: measured.object_code(eviction, name, "trained_callee_saved_32768") for name in languages}
    )
    rows.append(
        [
            "-O2 `--config=mlgo-speed.cfg`",
            f"instructions of {both.members} programs: {percent(both.mean.ratio)};"
            f" policy alone {percent(policy.mean.ratio)}",
            f"`-regalloc-csr-first-time-cost`: {percent(cost.mean.ratio)}",
            _named(both.worst),
            f"code {_mean_and_worst(code)}; data references {_mean_and_worst(references)}",
        ]
    )
    return tables.markdown(["switch", "gain", "the same without ML", "worst", "price"], rows)


def _of(languages: Mapping[str, str], language: str) -> Sequence[str]:
    return [name for name, each in languages.items() if each == language]


def _libraries(result: Mapping[str, Any], languages: Mapping[str, str], language: str, side: str) -> measured.Group:
    return measured.group({name: measured.linked_code(result, name, side) for name in _of(languages, language)})


def _by_language(result: Mapping[str, Any], languages: Mapping[str, str], side: str) -> str:
    return "; ".join(
        f"{language} {percent(_libraries(result, languages, language, side).mean.ratio)}" for language in _LANGUAGES
    )


def _mean_and_worst(group: measured.Group) -> str:
    return f"{percent(group.mean.ratio)}, worst {_named(group.worst)}"


def _named(worst: tuple[str, float]) -> str:
    return f"{percent(worst[1])} {worst[0]}"
