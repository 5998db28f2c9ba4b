"""The first table of README.md: what each switch gains, what the same costs without ML, and what is lost.

All numbers are of the exam.
"""

from collections.abc import Callable, Mapping, Sequence

from models.results import measured, tables
from models.results.pages import percent

_LANGUAGES = ("C", "C++")


def table(result: Callable[[str], measured.Result], languages: Mapping[str, str], by_function: str) -> str:
    """The table.

    Args:
      result: reads the result of a look at the exam, by its name.
      languages: library -> "C" or "C++".
      by_function: end of the names of sides with the cost of callee-saved registers that mlgo-speed.cfg has.
    """
    speed, profiled, libraries = (
        result(look) for look in ("programs_eviction", "programs_eviction_pgo", "regalloc_eviction")
    )
    code = _mean_and_worst(
        measured.group({name: measured.object_code(libraries, name, f"trained_{by_function}") for name in languages})
    )
    executed = _mean_and_worst(measured.programs(result("programs_inlining"), "executed", "policy", "instructions"))
    both, cost, everywhere = f"policy_{by_function}", f"default_{by_function}", "default_callee_saved_32768"
    rows = [
        [
            "-Oz `--config=mlgo-size.cfg`",
            *_code(result("inlining_for_size"), "trained", result("inlining_for_size"), languages),
            f"instructions executed: {executed}",
        ],
        [
            "-Oz `-mllvm -mlgo-search=8`",
            *_code(result("inlining_for_size_searches"), "search_8", result("inlining_for_size"), languages),
            "[compile time](release/search/README.md), three to six times",
        ],
        [
            "-O2 `--config=mlgo-speed.cfg`: policy and a cost of callee-saved registers",
            f"{_instructions(speed, both)}; policy alone {_mean(speed, 'policy')}",
            f"the cost alone {_mean(speed, cost)}, LLVM's in all functions {_mean(speed, everywhere)}",
            tables.named(measured.programs(speed, "run", both, "instructions").worst),
            f"code: {code}; data references: {_references(speed, both)}",
        ],
        [
            "-O2 `-fprofile-use --config=mlgo-speed.cfg`: the cost; LLVM's heuristic evicts",
            _instructions(profiled, cost),
            "all of it",
            tables.named(measured.programs(profiled, "run", cost, "instructions").worst),
            f"code: {_code_bytes(profiled, cost)}; data references: {_references(profiled, cost)}",
        ],
    ]
    return tables.markdown(["switch", "gain", "the same without ML", "worst", "price"], rows)


def _code(
    result: measured.Result, side: str, thresholds: measured.Result, languages: Mapping[str, str]
) -> Sequence[str]:
    """Cells of a size switch: gain, the same without ML, worst."""
    members = {each: [name for name, language in languages.items() if language == each] for each in _LANGUAGES}
    found = {
        each: measured.group({name: measured.linked_code(result, name, side) for name in names})
        for each, names in members.items()
    }
    means = "; ".join(f"{each} {percent(group.mean.ratio)}" for each, group in found.items())
    without = "; ".join(f"{each} {tables.best_threshold(thresholds, names)}" for each, names in members.items())
    worst = max((group.worst for group in found.values()), key=lambda of: of[1])
    return [f"code of {len(languages)} libraries: {means}", f"`-inline-threshold`: {without}", tables.named(worst)]


def _instructions(result: measured.Result, side: str) -> str:
    found = measured.programs(result, "run", side, "instructions")
    return f"instructions of {found.members} programs: {percent(found.mean.ratio)}"


def _mean(result: measured.Result, side: str) -> str:
    return percent(measured.programs(result, "run", side, "instructions").mean.ratio)


def _references(result: measured.Result, side: str) -> str:
    return _mean_and_worst(measured.programs(result, "run", side, "data_references"))


def _code_bytes(result: measured.Result, side: str) -> str:
    return _mean_and_worst(measured.programs(result, "run", side, "code_bytes"))


def _mean_and_worst(group: measured.Group) -> str:
    return f"{percent(group.mean.ratio)}, worst {tables.named(group.worst)}"
