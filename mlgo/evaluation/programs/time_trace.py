"""Reads the stages of a compile from clang's -ftime-trace."""

import json
from collections.abc import Mapping

#: Stage -> total in the trace. The register allocator has no total and is summed over functions.
_TOTALS = {
    "front_end": "Total Frontend",
    "optimiser": "Total Optimizer",
    "code_generation": "Total CodeGenPasses",
    "inliner": "Total InlinerPass",
}
_ALLOCATOR = "Greedy Register Allocator"
#: The inliner is a part of the optimiser, the allocator of code generation.
STAGES = (*_TOTALS, "register_allocator")
#: Shorter passes over one function are not listed, microseconds; one allocation takes about 100.
GRANULARITY = 20


class TraceFailure(Exception):
    """A file is not a time trace."""


def parse_time_trace(content: bytes) -> Mapping[str, float]:
    """Seconds by stage; 0 for one that did not run.

    Raises: TraceFailure: `content` is not a time trace of a compile.
    """
    try:
        events = json.loads(content)["traceEvents"]
        totals = {event["name"]: float(event["dur"]) for event in events if str(event["name"]).startswith("Total ")}
        allocator = sum(
            float(event["dur"])
            for event in events
            if event["name"] == "RunPass" and event["args"].get("detail") == _ALLOCATOR
        )
    except (ValueError, OverflowError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise TraceFailure(f"is not a time trace: {error!r}") from error
    if "Total Backend" not in totals and "Total Frontend" not in totals:
        raise TraceFailure("is not a time trace of a compile")
    seconds = {stage: totals.get(name, 0.0) / 1e6 for stage, name in _TOTALS.items()}
    return {**seconds, "register_allocator": allocator / 1e6}
