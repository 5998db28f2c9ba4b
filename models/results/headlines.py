"""The first table of README.md: what each switch gains, what the same costs without ML, and what is lost.

Numbers are of the exam. Where a look was not made yet, a result that people looked at stands in its place, and says so.
"""

import dataclasses
from collections.abc import Mapping, Sequence

from models.results import measured, tables
from models.results.pages import percent

_LANGUAGES = ("C", "C++")


@dataclasses.dataclass(frozen=True)
class Source:
    """A result, and where it stands.

    Attributes:
      languages: library -> "C" or "C++", of evaluations; empty for programs.
      of_exam: whether nobody had looked at the code before.
    """

    result: measured.Result
    languages: Mapping[str, str]
    of_exam: bool

    def said(self, text: str) -> str:
        """`text`, with a note if the code had been looked at."""
        return text if self.of_exam else f"{text} (code that was looked at)"


def table(sources: Mapping[str, Source], thresholds: Source) -> str:
    """The table.

    Args:
      sources: by the name of the look: "inlining_for_size", "inlining_for_size_searches", "programs_inlining",
        "programs_eviction" and "regalloc_eviction".
      thresholds: an evaluation with values of -inline-threshold.
    """
    executed, code = sources["programs_inlining"], sources["regalloc_eviction"]
    size_price = _mean_and_worst(measured.programs(executed.result, "executed", "policy", "instructions"))
    both = "callee_saved_32768"
    bytes_of = {name: measured.object_code(code.result, name, f"trained_{both}") for name in code.languages}
    speed = sources["programs_eviction"]
    references = measured.programs(speed.result, "run", f"policy_{both}", "data_references")
    rows = [
        [
            "-Oz `--config=mlgo-size.cfg`",
            *_code(sources["inlining_for_size"], "trained", thresholds),
            executed.said(f"instructions executed: {size_price}"),
        ],
        [
            "-Oz `-mllvm -mlgo-search=8`",
            *_code(sources["inlining_for_size_searches"], "search_8", thresholds),
            "[compile time](release/search/README.md), three to six times",
        ],
        [
            "-O2, policy and `-regalloc-csr-first-time-cost=32768`",
            *_speed(speed),
            f"{code.said(f'code: {_mean_and_worst(measured.group(bytes_of))}')};"
            f" {speed.said(f'data references: {_mean_and_worst(references)}')}",
        ],
    ]
    return tables.markdown(["switch", "gain", "the same without ML", "worst", "price"], rows)


def not_yet(exam: str) -> str:
    """What stands in place of a table of a look that was not made."""
    return f"Not measured yet: `./bazelw run //models/exam:{exam}`."


def _code(source: Source, side: str, thresholds: Source) -> Sequence[str]:
    """Cells of a size switch: gain, the same without ML, worst."""
    found = {each: _libraries(source, each, side) for each in _LANGUAGES}
    means = "; ".join(f"{each} {percent(group.mean.ratio)}" for each, group in found.items())
    without = "; ".join(
        f"{each} {tables.best_threshold(thresholds.result, _of(thresholds.languages, each))}" for each in _LANGUAGES
    )
    worst = max((group.worst for group in found.values()), key=lambda of: of[1])
    gain = source.said(f"code of {len(source.languages)} libraries: {means}")
    return [gain, f"`-inline-threshold`: {without}", tables.named(worst)]


def _speed(source: Source) -> Sequence[str]:
    both, policy, cost = (
        measured.programs(source.result, "run", side, "instructions")
        for side in ("policy_callee_saved_32768", "policy", "default_callee_saved_32768")
    )
    gain = f"instructions of {both.members} programs: {percent(both.mean.ratio)}"
    return [
        source.said(f"{gain}; policy alone {percent(policy.mean.ratio)}"),
        f"`-regalloc-csr-first-time-cost`: {percent(cost.mean.ratio)}",
        tables.named(both.worst),
    ]


def _of(languages: Mapping[str, str], language: str) -> Sequence[str]:
    return [name for name, each in languages.items() if each == language]


def _libraries(source: Source, language: str, side: str) -> measured.Group:
    names = _of(source.languages, language)
    return measured.group({name: measured.linked_code(source.result, name, side) for name in names})


def _mean_and_worst(group: measured.Group) -> str:
    return f"{percent(group.mean.ratio)}, worst {tables.named(group.worst)}"
