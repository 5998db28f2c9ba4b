"""The first table of README.md: what each switch gains, what the same costs without ML, and what is lost.

All numbers are of the exam.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence

from mlgo.reporting.records import Content, Evaluation
from models.results import measured, tables
from models.results.pages import percent

_LANGUAGES = ("C", "C++")
#: End of the names of sides with the cost of callee-saved registers that mlgo-speed.cfg has.
BY_FUNCTION = "callee_saved_by_function_32768"


@dataclasses.dataclass(frozen=True)
class Exam:
    """Reads the result of a look at the exam, by its name: of its libraries or of its programs."""

    evaluation: Callable[[str], Evaluation]
    programs: Callable[[str], Content]


def table(exam: Exam, languages: Mapping[str, str]) -> str:
    """The table. Args: languages: library -> "C" or "C++"."""
    speed, profiled = exam.programs("programs_eviction"), exam.programs("programs_eviction_pgo")
    libraries = exam.evaluation("regalloc_eviction")
    sizes, searches = (exam.evaluation(name) for name in ("inlining_for_size", "inlining_for_size_searches"))
    code = _mean_and_worst(
        measured.group({name: measured.object_code(libraries, name, f"trained_{BY_FUNCTION}") for name in languages})
    )
    executed = _mean_and_worst(
        measured.programs(exam.programs("programs_inlining"), "executed", "policy", "instructions")
    )
    both, cost, everywhere = f"policy_{BY_FUNCTION}", f"default_{BY_FUNCTION}", "default_callee_saved_32768"
    searched, cold = exam.programs("programs_speed_pgo"), exam.programs("programs_cold")
    rows = [
        [
            "-Oz `--config=mlgo-size.cfg`: policy or default, whichever makes the smaller object",
            *_code(searches, "search_2", sizes, languages),
            "[compile time](release/search/README.md), 1.1 to 1.6 times;"
            f" with the policy alone, instructions executed: {executed}",
        ],
        [
            "-Oz `-mllvm -mlgo-search=8`",
            *_code(searches, "search_8", sizes, languages),
            "[compile time](release/search/README.md), three to six times",
        ],
        [
            "-O2 `--config=mlgo-speed.cfg`: policy and a cost of callee-saved registers",
            f"{_instructions(speed, both)}; policy alone {_mean(_executed(speed, 'policy'))}",
            f"the cost alone {_mean(_executed(speed, cost))},"
            f" LLVM's in all functions {_mean(_executed(speed, everywhere))}",
            tables.named(_executed(speed, both).worst),
            f"code: {code}; data references: {_mean_and_worst(_executed(speed, both, 'data_references'))}",
        ],
        [
            "-O2 `-fprofile-use --config=mlgo-speed.cfg`: the cost, and a search for evictions by the profile",
            _instructions(searched, "speed"),
            f"all of it: no policy decides; the cost alone {_mean(_executed(profiled, cost))}",
            tables.named(_executed(searched, "speed").worst),
            f"[compile time](release/search/README.md#register-allocation);"
            f" code: {_mean_and_worst(_executed(searched, 'speed', 'code_bytes'))};"
            f" data references: {_mean_and_worst(_executed(searched, 'speed', 'data_references'))}",
        ],
        [
            "-O2 `-fprofile-use --config=mlgo-cold.cfg`: cold functions for size",
            f"code of {_executed(cold, 'cold').members} programs: {_mean(_executed(cold, 'cold', 'code_bytes'))}",
            "all of it: two options of LLVM",
            tables.named(_executed(cold, "cold", "code_bytes").worst),
            f"instructions: {_mean_and_worst(_executed(cold, 'cold'))};"
            f" data references: {_mean_and_worst(_executed(cold, 'cold', 'data_references'))}",
        ],
    ]
    return tables.markdown(["switch", "gain", "the same without ML", "worst", "price"], rows)


def _code(result: Evaluation, side: str, thresholds: Evaluation, languages: Mapping[str, str]) -> Sequence[str]:
    """Cells of a size switch: gain, the same without ML, worst."""
    members = {each: [name for name, language in languages.items() if language == each] for each in _LANGUAGES}
    found = {
        each: measured.group({name: measured.linked_code(result, name, side) for name in names})
        for each, names in members.items()
    }
    means = "; ".join(f"{each} {_mean(group)}" for each, group in found.items())
    without = "; ".join(f"{each} {tables.best_threshold(thresholds, names)}" for each, names in members.items())
    worst = max((group.worst for group in found.values()), key=lambda of: of[1])
    return [f"code of {len(languages)} libraries: {means}", f"`-inline-threshold`: {without}", tables.named(worst)]


def _executed(result: Content, side: str, measure: str = "instructions") -> measured.Group:
    return measured.programs(result, "run", side, measure)


def _instructions(result: Content, side: str) -> str:
    found = _executed(result, side)
    return f"instructions of {found.members} programs: {_mean(found)}"


def _mean(group: measured.Group) -> str:
    return percent(group.mean.ratio)


def _mean_and_worst(group: measured.Group) -> str:
    return f"{_mean(group)}, worst {tables.named(group.worst)}"
