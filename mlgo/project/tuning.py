"""Better inlining decisions for the units of a program, by clang's own search (release/search), within a budget.

First the units with most code for their compile time are searched with two compiles, then those that gained with more.
What a search decided is repeated from a decision file, so that later builds compile each unit once.
"""

from __future__ import annotations

import concurrent.futures
import dataclasses
import heapq
import pathlib
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from mlgo.project.command_line import Compile
from mlgo.project.compiler import quoted
from mlgo.project.compiling import Compiled, Units
from mlgo.project.rows import POLICY_FLAGS, search
from mlgo.project.size import code_bytes
from mlgo.project.steps import Budget, Progress

_HEADER = "mlgo-decisions 1"
_MODULE = "module\t"
# CPU time of a search, in times of one compile, for Lua (release/search/README.md); 2 takes a tenth more in others.
_TIMES = {2: 2.0, 8: 5.7, 32: 17.0}
# What a search is expected to save before anything is known, as a share of the unit's code (seven programs of
# release/search/README.md: 0.9 % beyond the policy with 8), and what the next larger one adds to what one has found.
_EXPECTED = {2: 0.005, 8: 0.004, 32: 0.002}
_SHARE_OF_LAST_GAIN = 0.5
#: In the queue: minus the bytes per CPU second, compiles, output.
_Entry = tuple[float, int, str]


class Tuned(NamedTuple):
    """What was found."""

    objects: dict[str, Compiled]  #: output of the build -> object with the best decisions.
    decisions: str  #: a decision file; "": there are none.
    found: int  #: units that became smaller.
    searched: int  #: units that were searched.
    units: int  #: all units with code.

    @property
    def summary(self) -> str:
        if not self.units:
            return "no unit has code before the link, as with -flto"
        if not self.searched:
            return "the budget leaves no time for a search"
        rest = self.units - self.searched
        more = f"; the budget ended before the other {rest}" if rest else ""
        return f"{self.found} of {self.searched} searched units became smaller{more}"


@dataclasses.dataclass
class _Unit:
    """A unit, its object with the policy alone, and the best one that was found."""

    unit: Compile
    code: int
    start: Compiled
    least: int
    best: Compiled

    def entry(self, compiles: int) -> _Entry:
        """For the queue: the best bytes per CPU second first."""
        gain = (self.code - self.least) * _SHARE_OF_LAST_GAIN
        expected = max(gain, _EXPECTED[compiles] * self.code)
        price = max(self.start.seconds, 0.01) * _TIMES[compiles]
        return (-expected / price, compiles, self.unit.output)

    def learn(self, compiles: int, made: Compiled) -> _Entry | None:
        """Keeps the object if it is smaller; the entry of the next larger search."""
        code = None if made.object is None or not made.decisions else code_bytes(made.object)
        if code is not None and code < self.least:
            self.least, self.best = code, made
        larger = next((number for number in _TIMES if number > compiles), None)
        return None if larger is None or made.object is None else self.entry(larger)


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

    Args: units: with an object in `start`. start: output -> object with the policy alone, from which the search goes
      on. share: CPU seconds of `budget` that the search may take. scratch: folder for the decision file of the check.
    """
    known: dict[str, _Unit] = {}
    for unit in units:
        made = start[unit.output]
        code = code_bytes(made.object or "") or 0
        known[unit.output] = _Unit(unit, code, made, code, made)
    limit = budget.spent + share
    searched = set()
    before, progress = budget.spent, Progress(say)
    queue = [one.entry(2) for one in known.values() if one.code]
    heapq.heapify(queue)

    def search_of(one: _Unit, flags: tuple[str, ...], estimate: float) -> Compiled:
        made = cache.compile(one.unit, flags)
        budget.settle(estimate, made.seconds)
        return made

    with concurrent.futures.ThreadPoolExecutor(jobs) as executor:
        running: dict[concurrent.futures.Future, tuple[str, int]] = {}
        try:
            while queue or running:
                while queue and len(running) < jobs:
                    _, compiles, output = heapq.heappop(queue)
                    one, flags = known[output], (*POLICY_FLAGS, search(compiles))
                    # What was searched before counts too, so that a second run finds the same.
                    kept = cache.kept(one.unit, flags)
                    estimate = kept.seconds if kept else one.start.seconds * _TIMES[compiles]
                    if budget.spent + estimate <= limit and budget.reserve(estimate):
                        running[executor.submit(search_of, one, flags, estimate)] = (output, compiles)
                done, _ = concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED)
                # In the order of their names, so that the result does not depend on which thread was first.
                for future in sorted(done, key=lambda one: running[one]):
                    output, compiles = running.pop(future)
                    more = known[output].learn(compiles, future.result())
                    searched.add(output)
                    spent = f"{budget.spent - before:.0f} of {share:.0f} CPU seconds"
                    progress.at(f"searching decisions: {len(searched)} of {len(known)} units, {spent}")
                    if more:
                        heapq.heappush(queue, more)
        finally:
            executor.shutdown(cancel_futures=True)
    chosen, decisions = _repeatable(known, cache, scratch)
    objects = {output: one.start for output, one in known.items()}
    # As a build with the file makes them, in the time of one compile.
    objects |= {one.unit.output: one.best._replace(seconds=one.start.seconds) for one in chosen}
    return Tuned(objects, decisions, len(chosen), len(searched), sum(one.code > 0 for one in known.values()))


def _repeatable(known: Mapping[str, _Unit], cache: Units, scratch: pathlib.Path) -> tuple[list[_Unit], str]:
    """The units that gained, and the file of their decisions; none where a compile with the file shows another gain."""
    gained = [one for one in known.values() if one.least < one.code]
    names = [_name(_sections(one)) for one in gained]
    # Two units of one source name would share a section.
    chosen = [one for one, name in zip(gained, names) if names.count(name) == 1]
    if not chosen:
        return [], ""
    decisions = "".join([_HEADER, "\n", *map(_sections, sorted(chosen, key=lambda one: one.unit.output))])
    scratch.mkdir(parents=True, exist_ok=True)
    file = scratch / "check.decisions"
    file.write_text(decisions, encoding="utf-8", errors="surrogateescape")
    cheapest = min(chosen, key=lambda one: one.start.seconds)
    made = cache.compile(cheapest.unit, (*POLICY_FLAGS, decision_option(str(file))))
    is_repeated = made.object is not None and code_bytes(made.object) == cheapest.least
    return (chosen, decisions) if is_repeated else ([], "")


def decision_option(path: str) -> str:
    """The line of a configuration file with which clang repeats the decisions in the file at `path`."""
    return f"-mllvm {quoted(f'-mlgo-decisions={path}')}"


def _sections(one: _Unit) -> str:
    """The best decisions of a unit, without the first line of a file."""
    return one.best.decisions.partition("\n")[2]


def _name(sections: str) -> str:
    return next((line for line in sections.splitlines() if line.startswith(_MODULE)), "")
