"""Better inlining decisions for the units of a program, by clang's own search (release/search), within a budget.

First the units with most code for their compile time are searched with two compiles, then those that gained with more.
What a search decided is repeated from a decision file, so that later builds compile each unit once.
"""

from __future__ import annotations

import concurrent.futures
import heapq
import pathlib
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from mlgo.project.budget import Budget
from mlgo.project.command_line import Compile
from mlgo.project.compiling import Compiled, Units, quoted
from mlgo.project.progress import Progress
from mlgo.project.rows import POLICY_FLAGS, search
from mlgo.project.size import code_bytes

_HEADER = "mlgo-decisions 1"
_MODULE = "module\t"
# CPU time of a search, in times of one compile, for Lua (release/search/README.md); 2 takes a tenth more in others.
_TIMES = {2: 2.0, 8: 5.7, 32: 17.0}
# What a search is expected to save before anything is known, as a share of the unit's code (seven programs of
# release/search/README.md: 0.9 % beyond the policy with 8), and what the next larger one adds to what one has found.
_EXPECTED = {2: 0.005, 8: 0.004, 32: 0.002}
_SHARE_OF_LAST_GAIN = 0.5


class Tuned(NamedTuple):
    """What was found.

    Attributes:
      objects: output of the build -> object with the best decisions.
      decisions: a decision file; "": there are none.
      found: units that became smaller.
      searched: units that were searched.
      units: all units with code.
    """

    objects: dict[str, Compiled]
    decisions: str
    found: int
    searched: int
    units: int

    @property
    def summary(self) -> str:
        if not self.units:
            return "no unit has code before the link, as with -flto"
        if not self.searched:
            return "the budget leaves no time for a search"
        rest = (
            "" if self.searched == self.units else f"; the budget ended before the other {self.units - self.searched}"
        )
        return f"{self.found} of {self.searched} searched units became smaller{rest}"


class _Unit(NamedTuple):
    unit: Compile
    code: int
    start: Compiled


def tune(
    units: Sequence[Compile],
    start: Mapping[str, Compiled],
    cache: Units,
    jobs: int,
    budget: Budget,
    share: float,
    scratch: pathlib.Path,
    say: Callable[[str], None],
) -> Tuned:
    """Searches decisions.

    Args:
      units: with an object in `start`.
      start: output -> object with the policy alone, from which the search goes on.
      share: CPU seconds of `budget` that the search may take.
      scratch: folder for the decision file of the check.
      say: prints progress.
    """
    known = {
        unit.output: _Unit(unit, code_bytes(_object(start[unit.output])) or 0, start[unit.output]) for unit in units
    }
    best: dict[str, tuple[int, Compiled]] = {output: (one.code, one.start) for output, one in known.items()}
    limit = budget.spent + share
    searched = set()
    before, progress = budget.spent, Progress(say)
    queue = [_entry(one, 2, _EXPECTED[2] * one.code) for one in known.values() if one.code]
    heapq.heapify(queue)
    with concurrent.futures.ThreadPoolExecutor(jobs) as executor:
        running: dict[concurrent.futures.Future, tuple[str, int]] = {}
        try:
            while queue or running:
                while queue and len(running) < jobs:
                    _, _, output, compiles = heapq.heappop(queue)
                    estimate = known[output].start.seconds * _TIMES[compiles]
                    flags = (*POLICY_FLAGS, search(compiles))
                    # What was searched before counts too, so that a second run finds the same.
                    kept = cache.kept(known[output].unit, flags)
                    estimate = kept.seconds if kept else estimate
                    if budget.spent + estimate > limit or not budget.reserve(estimate):
                        continue
                    running[executor.submit(_search, cache, known[output].unit, flags, budget, estimate)] = (
                        output,
                        compiles,
                    )
                done, _ = concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED)
                # In the order of their names, so that the result does not depend on which thread was first.
                for future in sorted(done, key=lambda one: running[one]):
                    output, compiles = running.pop(future)
                    more = _learn(known[output], compiles, future.result(), best)
                    searched.add(output)
                    spent = f"{budget.spent - before:.0f} of {share:.0f} CPU seconds"
                    progress.at(f"searching decisions: {len(searched)} of {len(known)} units, {spent}")
                    if more:
                        heapq.heappush(queue, more)
        finally:
            executor.shutdown(cancel_futures=True)
    return _tuned(known, best, searched, cache, scratch)


def _entry(one: _Unit, compiles: int, expected: float) -> tuple[float, int, str, int]:
    """For the queue: the best bytes per CPU second first."""
    price = max(one.start.seconds, 0.01) * _TIMES[compiles]
    return (-expected / price, compiles, one.unit.output, compiles)


def _search(cache: Units, unit: Compile, flags: tuple[str, ...], budget: Budget, estimate: float) -> Compiled:
    made = cache.compile(unit, flags)
    budget.settle(estimate, made.seconds)
    return made


def _learn(
    one: _Unit, compiles: int, made: Compiled, best: dict[str, tuple[int, Compiled]]
) -> tuple[float, int, str, int] | None:
    """Keeps the object if it is smaller; the entry of the next larger search."""
    output = one.unit.output
    before = best[output][0]
    code = None if made.object is None or not made.decisions else code_bytes(made.object)
    if code is not None and code < before:
        best[output] = (code, made)
    larger = next((number for number in _TIMES if number > compiles), None)
    if larger is None or made.object is None:
        return None
    gain = one.code - best[output][0]
    return _entry(one, larger, max(gain * _SHARE_OF_LAST_GAIN, _EXPECTED[larger] * one.code))


def _tuned(
    known: Mapping[str, _Unit],
    best: Mapping[str, tuple[int, Compiled]],
    searched: set[str],
    cache: Units,
    scratch: pathlib.Path,
) -> Tuned:
    """Takes the decisions of the units that gained, unless a decision file cannot repeat them."""
    start = {output: one.start for output, one in known.items()}
    gained = {output: made for output, (code, made) in best.items() if code < known[output].code}
    texts = {output: _sections(made.decisions) for output, made in gained.items()}
    names = [_name(text) for text in texts.values()]
    # Two units of one source name would share a section.
    chosen = {output: text for output, text in texts.items() if names.count(_name(text)) == 1}
    decisions = "".join([_HEADER, "\n", *(chosen[output] for output in sorted(chosen))]) if chosen else ""
    if chosen and not _is_repeated(known, gained, chosen, decisions, cache, scratch):
        chosen, decisions = {}, ""
    objects = {**start, **{output: _repeated(gained[output], start[output]) for output in chosen}}
    return Tuned(objects, decisions, len(chosen), len(searched), sum(one.code > 0 for one in known.values()))


def _repeated(made: Compiled, start: Compiled) -> Compiled:
    """The object as a build with the file makes it, in the time of one compile."""
    return made._replace(seconds=start.seconds)


def _is_repeated(
    known: Mapping[str, _Unit],
    gained: Mapping[str, Compiled],
    chosen: Mapping[str, str],
    decisions: str,
    cache: Units,
    scratch: pathlib.Path,
) -> bool:
    """Whether a compile of the cheapest unit with the file gives the object of its search."""
    output = min(chosen, key=lambda one: known[one].start.seconds)
    scratch.mkdir(parents=True, exist_ok=True)
    file = scratch / "check.decisions"
    file.write_text(decisions, encoding="utf-8", errors="surrogateescape")
    made = cache.compile(known[output].unit, (*POLICY_FLAGS, decision_option(str(file))))
    return made.object is not None and code_bytes(made.object) == code_bytes(_object(gained[output]))


def decision_option(path: str) -> str:
    """The line of a configuration file with which clang repeats the decisions in the file at `path`."""
    return f"-mllvm {quoted(f'-mlgo-decisions={path}')}"


def _sections(text: str) -> str:
    """A decision file without its first line."""
    return text.partition("\n")[2]


def _name(sections: str) -> str:
    return next((line for line in sections.splitlines() if line.startswith(_MODULE)), "")


def _object(compiled: Compiled) -> pathlib.Path:
    assert compiled.object is not None
    return compiled.object
