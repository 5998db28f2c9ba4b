"""The table about Debian's packages in docs/results-smaller.md."""

import dataclasses
import json
import pathlib
import re
from typing import Any

BEGIN, END = "<!-- begin packages -->", "<!-- end packages -->"
_HEAD = (
    "| package | build, language | units | program | code | file | xz | best variant | compile time | build | "
    "recording |",
    "| --- | --- | ---: | --- | ---: | ---: | ---: | --- | ---: | ---: | ---: |",
)
_BUILT = "as built"


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What became of a package.

    Attributes:
      result: mlgo.json; None: there is none.
      failure: why there is none.
      build_seconds: CPU seconds of the build behind `mlgo smaller`.
      overhead: CPU time of the recorded build, in times of the same build by the same clang; None: not measured.
    """

    name: str
    kind: str
    result: dict[str, Any] | None
    failure: str = ""
    build_seconds: float = 0.0
    overhead: float | None = None

    def text(self) -> str:
        """As JSON, for `outcome_of`."""
        return json.dumps(dataclasses.asdict(self), indent=1, sort_keys=True)


def outcome_of(text: str) -> Outcome:
    """What `Outcome.text` wrote."""
    return Outcome(**json.loads(text))


def row(outcome: Outcome) -> str:
    """A line of the table."""
    begin = f"| {outcome.name} | {outcome.kind} |"
    if outcome.result is None:
        return f"{begin} | failed: {_plain(outcome.failure)} | | | | | | | |"
    result = outcome.result
    rows = {one["name"]: one for one in result["rows"]}
    built, program = rows[_BUILT], pathlib.PurePosixPath(result["program"]).name
    overhead = "" if outcome.overhead is None else f"{outcome.overhead:.2f} ×"
    end = f"{outcome.build_seconds:.0f} s | {overhead} |"
    chosen = rows.get(result["chosen"])
    if chosen is None:
        return (
            f"{begin} {len(result['sources'])} | {program} | {built['bytes']['code']:,} | | | none is smaller | | {end}"
        )
    cells = " | ".join(_change(built["bytes"][key], chosen["bytes"][key]) for key in ("code", "file", "xz"))
    time = f"{chosen['compile_seconds'] / built['compile_seconds']:.2f} ×" if built["compile_seconds"] else ""
    return f"{begin} {len(result['sources'])} | {program} | {cells} | {chosen['name']} | {time} | {end}"


def with_table(page: str, outcomes: list[Outcome]) -> str:
    """The page with the table between its two marks. Raises: ValueError: it has no marks."""
    if BEGIN not in page or END not in page:
        raise ValueError(f"the page has no {BEGIN} and {END}")
    text = "\n".join([BEGIN, *_HEAD, *map(row, outcomes), END])
    return re.sub(re.escape(BEGIN) + ".*?" + re.escape(END), lambda _: text, page, flags=re.DOTALL)


def _change(old: int, new: int) -> str:
    return f"{old:,} {100 * (new / old - 1):+.1f} %".replace("-", "−")


def _plain(text: str) -> str:
    return " ".join(text.replace("|", "/").split())
