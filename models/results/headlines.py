"""The first table of README.md: what each switch gains, what the same costs without ML, and what is lost.

All numbers are of the exam. A cell whose look was not made yet says so.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from models.results import measured, tables
from models.results.pages import percent

_LANGUAGES = ("C", "C++")
#: Results of models/exam by folder; those not looked at are missing.
Results = Mapping[str, Mapping[str, Any]]


def table(results: Results, languages: Mapping[str, str]) -> str:
    """The table. Args: languages: library -> "C" or "C++"."""
    rows = [
        [
            "-Oz `--config=mlgo-size.cfg`",
            *_code(results, "inlining_for_size", "trained", languages),
            _size_price(results, languages),
        ],
        [
            "-Oz `-mllvm -mlgo-search=8`",
            *_code(results, "inlining_for_size_searches", "search_8", languages),
            "[compile time](release/search/README.md), three to six times",
        ],
        ["-O2 `--config=mlgo-speed.cfg`", *_speed(results), _speed_price(results, languages)],
    ]
    return tables.markdown(["switch", "gain", "the same without ML", "worst", "price"], rows)


def not_yet(exam: str) -> str:
    """What stands in place of a result that nobody looked at."""
    return f"not measured yet (`//models/exam:{exam}`)"


def _code(results: Results, name: str, side: str, languages: Mapping[str, str]) -> Sequence[str]:
    """Cells of a size switch: gain, the same without ML, worst."""
    if name not in results:
        return [not_yet(name), "", ""]
    worst = max((_libraries(results[name], languages, each, side).worst for each in _LANGUAGES), key=lambda of: of[1])
    without = "; ".join(
        f"{each} {tables.best_single_threshold(results['inlining_for_size'], _of(languages, each))}"
        for each in _LANGUAGES
        if "inlining_for_size" in results
    )
    gain = f"code of {len(languages)} libraries: {_by_language(results[name], languages, side)}"
    return [gain, f"`-inline-threshold`: {without}", _named(worst)]


def _size_price(results: Results, languages: Mapping[str, str]) -> str:
    executed, folded = (not_yet(name) for name in ("programs_inlining", "inlining_for_size_icf"))
    if found := results.get("programs_inlining"):
        executed = _mean_and_worst(measured.programs(found, "executed", "policy", "instructions"))
    if found := results.get("inlining_for_size_icf"):
        folded = _by_language(found, languages, "trained")
    return f"instructions executed: {executed}; code with `--icf=all`: {folded}"


def _speed(results: Results) -> Sequence[str]:
    found = results.get("programs_eviction")
    if found is None:
        return [not_yet("programs_eviction"), "", ""]
    both, policy, cost = (
        measured.programs(found, "run", side, "instructions")
        for side in ("policy_callee_saved_32768", "policy", "default_callee_saved_32768")
    )
    return [
        f"instructions of {both.members} programs: {percent(both.mean.ratio)};"
        f" policy alone {percent(policy.mean.ratio)}",
        f"`-regalloc-csr-first-time-cost`: {percent(cost.mean.ratio)}",
        _named(both.worst),
    ]


def _speed_price(results: Results, languages: Mapping[str, str]) -> str:
    references, code = not_yet("programs_eviction"), not_yet("regalloc_eviction")
    side = "callee_saved_32768"
    if found := results.get("programs_eviction"):
        references = _mean_and_worst(measured.programs(found, "run", f"policy_{side}", "data_references"))
    if found := results.get("regalloc_eviction"):
        bytes_of = {name: measured.object_code(found, name, f"trained_{side}") for name in languages}
        code = _mean_and_worst(measured.group(bytes_of))
    return f"code: {code}; data references: {references}"


def _of(languages: Mapping[str, str], language: str) -> Sequence[str]:
    return [name for name, each in languages.items() if each == language]


def _libraries(result: Mapping[str, Any], languages: Mapping[str, str], language: str, side: str) -> measured.Group:
    return measured.group({name: measured.linked_code(result, name, side) for name in _of(languages, language)})


def _by_language(result: Mapping[str, Any], languages: Mapping[str, str], side: str) -> str:
    return "; ".join(f"{each} {percent(_libraries(result, languages, each, side).mean.ratio)}" for each in _LANGUAGES)


def _mean_and_worst(group: measured.Group) -> str:
    return f"{percent(group.mean.ratio)}, worst {_named(group.worst)}"


def _named(worst: tuple[str, float]) -> str:
    return f"{percent(worst[1])} {worst[0]}"
