"""The search for better inlining decisions in one module.

Three steps, each from the best build so far. Whole policies, and of them the best in each connected part of the call
graph. All calls of one function inlined, or none. Single calls the other way. What is taken was compiled, and is
smaller.

Single calls are searched in Theodoridis, Grosser and Su, "Understanding and exploiting optimal function inlining",
ASPLOS 2022.
"""

import dataclasses
import math
from collections.abc import Generator, Iterable, Mapping, Sequence
from typing import TypeVar

from mlgo.search.decision_file import ANY_MODULE, DEFAULT, POLICY, Section, otherwise_below
from mlgo.search.moves import Build, Move, better_parts, callee_moves, effects, packed, site_moves

#: Besides the two: one limit of cost for all calls. Negative limits leave out what a heuristic of speed inlines.
_ONE_LIMIT = tuple(otherwise_below(limit) for limit in (15, 30, 60, -15, -(1 << 31)))

#: What a round tries, in this order.
_MOVES = (callee_moves, site_moves)
#: A change of half a byte or less is none (COMDATs count by their share).
_LEAST_GAIN = 0.5
#: A move that made the module larger by more is not tried again near the same build.
_RETRY_LOSS_LIMIT_BYTES = 25
#: Moves that overlap others and are tried after them, at a time.
_OVERLAPPING = 16
#: How much of what its moves promise a joint build must gain; else each half is tried.
_SHARE_KEPT = 0.9
_MOST_ROUNDS = 6
#: Of the compiles that are left, those that may try moves: the others take what helps.
_SHARE_FOR_TRYING = 0.7

#: A search: yields attempts that may be compiled side by side, is sent their builds (None: that compile failed).
Search = Generator[Sequence[Section], Sequence[Build | None], "Found"]
_Result = TypeVar("_Result")
_Returning = Generator[Sequence[Section], Sequence[Build | None], _Result]
_Step = _Returning[None]


@dataclasses.dataclass(frozen=True)
class Found:
    """What a search of one module found."""

    #: builds that it began with, by Section.otherwise: of whole policies, the compiler's heuristic first; for
    #: `refine_module` one.
    start: dict[str, Build]
    best: Build  #: the smallest build; never larger than one of `start`.
    curve: tuple[tuple[int, float], ...]  #: (compiles, bytes of the best build) after each improvement.
    compiles: int
    tried: int  #: changes, of a function's calls or of one call, whose effect was measured, each time anew.
    complete: bool  #: whether the search ended because nothing was left to try.
    untried: tuple[Move, ...]  #: what it would have tried next; none if it is complete.


class ModuleCannotBeCompiled(Exception):
    """The module fails with the compiler's own decisions."""


def search_module(budget: int, has_policy: bool) -> Search:
    """Searches one module with at most `budget` compiles, >= 1. Raises: ModuleCannotBeCompiled."""
    search = _Search(budget)
    yield from search.begin([DEFAULT])
    complete = True
    if search.best.decided:
        yield from search.begin([*([POLICY] if has_policy else []), *_ONE_LIMIT])
        yield from search.mix()
        complete = yield from search.improve()
    return search.found(complete)


def refine_module(budget: int, start: Section) -> Search:
    """Searches one module from one build, with what another search may have missed or counted differently.

    Args: budget: compiles at most, >= 1, one of them for the build of `start`.
    Raises: ModuleCannotBeCompiled: with the decisions of `start`.
    """
    search = _Search(budget)
    yield from search.begin([start.otherwise], start.decisions)
    return search.found((yield from search.improve()))


class _Search:
    def __init__(self, budget: int):
        self._left = budget
        self._budget = budget
        self._curve: list[tuple[int, float]] = []
        self._start: dict[str, Build] = {}
        self.best: Build
        self._measurements = 0
        #: Builds of tried moves, which may be the best as they are.
        self._trial_builds: list[Build] = []
        #: Move → its effect when it was tried last, while nothing that it touches has changed.
        self._known: dict[tuple[str, ...], float] = {}
        #: The same for all moves that were ever tried.
        self._last: dict[tuple[str, ...], float] = {}

    def begin(self, policies: Sequence[str], given: Mapping[str, bool] | None = None) -> _Step:
        """Builds with `given` decisions, and what decides otherwise. Raises: ModuleCannotBeCompiled: none yet."""
        attempts = [Section(ANY_MODULE, otherwise, given or {}) for otherwise in policies[: self._left]]
        builds = yield from self._compile(attempts)
        self._start |= {build.attempt.otherwise: build for build in builds if build is not None}
        if not self._start:
            raise ModuleCannotBeCompiled()
        self.best = min(self._start.values(), key=lambda build: build.total)
        self._curve.append((self._budget - self._left, self.best.total))

    def mix(self) -> _Step:
        """Takes the better of the builds in each part of the module."""
        for other in sorted(self._start.values(), key=lambda build: build.total):
            given = better_parts(self.best, other) if other is not self.best else None
            if given is not None:
                self._take_if_smaller((yield from self._try(given)))

    def improve(self) -> _Returning[bool]:
        """Rounds of moves until none helps. Returns: whether that was reached within the budget."""
        for round_number in range(_MOST_ROUNDS):
            before = self.best
            for moves_of in _MOVES:
                moves = self._worth_trying(moves_of(self.best), round_number)
                most = math.ceil(self._left * _SHARE_FOR_TRYING)
                yield from self._take((yield from self._tried(moves, most)))
            if self._left <= 0:
                return False
            if self.best is before:
                return True
        return True

    def found(self, complete: bool) -> Found:
        moves = [] if complete else [move for moves_of in _MOVES for move in moves_of(self.best)]
        untried = tuple(self._worth_trying(moves, _MOST_ROUNDS))
        compiles = self._budget - self._left
        return Found(self._start, self.best, tuple(self._curve), compiles, self._measurements, complete, untried)

    def _worth_trying(self, moves: Sequence[Move], round_number: int) -> list[Move]:
        return [
            move
            for move in moves
            if move.name not in self._known
            and (round_number == 0 or self._last.get(move.name, 0.0) <= _RETRY_LOSS_LIMIT_BYTES)
        ]

    def _tried(self, moves: Sequence[Move], most: int) -> _Returning[list[Move]]:
        """Tries moves, those together that touch nothing in common; returns those that help, the best first."""
        groups = packed(moves, most)
        attempts = [Section(ANY_MODULE, self.best.attempt.otherwise, self._changed(group)) for group in groups]
        gains: dict[tuple[str, ...], float] = {}
        for group, build in zip(groups, (yield from self._compile(attempts))):
            if build is not None:
                gains |= effects(group, self.best, build)
                self._trial_builds.append(build)
        self._measurements += len(gains)
        self._known |= gains
        self._last |= gains
        helpful = [move for group in groups for move in group if gains.get(move.name, 0.0) < -_LEAST_GAIN]
        return sorted(helpful, key=lambda move: (gains[move.name], move.name))

    def _take(self, moves: Sequence[Move]) -> _Step:
        """Applies moves together; if that gains less than most of what they promise, one half after the other."""
        before = self.best
        independent, overlapping = _split(moves)
        yield from self._apply(independent)
        for first in range(0, len(overlapping), _OVERLAPPING):
            yield from self._apply(overlapping[first : first + _OVERLAPPING])
        for build in self._trial_builds:
            self._take_if_smaller(build)
        self._trial_builds.clear()
        self._forget_what_changed(before)

    def _apply(self, moves: Sequence[Move]) -> _Step:
        if not moves or self._left <= 0:
            return
        before = self.best
        build = yield from self._try(self._changed(reversed(moves)))
        promised = sum(self._last[move.name] for move in moves)
        gain = before.total - build.total if build is not None else 0.0
        if gain >= -_SHARE_KEPT * promised or (len(moves) == 1 and gain > _LEAST_GAIN):
            self._take_if_smaller(build)
        elif len(moves) > 1:
            middle = (len(moves) + 1) // 2
            yield from self._apply(moves[:middle])
            yield from self._apply(moves[middle:])
            self._take_if_smaller(build)

    def _forget_what_changed(self, before: Build) -> None:
        """Moves near changed functions may be worth something else now."""
        if self.best is before:
            return
        changed = {
            name
            for name in before.sizes.keys() | self.best.sizes.keys()
            if before.sizes.get(name) != self.best.sizes.get(name)
        }
        self._known = {
            move.name: self._known[move.name]
            for moves_of in _MOVES
            for move in moves_of(self.best)
            if move.name in self._known and move.touched.isdisjoint(changed)
        }

    def _changed(self, moves: Iterable[Move]) -> dict[str, bool]:
        """The decisions of the best build with `moves`, of which the last decides about a call."""
        return self.best.all_given | {site: to for move in moves for site, to in move.changes.items()}

    def _try(self, given: Mapping[str, bool]) -> _Returning[Build | None]:
        if self._left <= 0:
            return None
        return (yield from self._compile([Section(ANY_MODULE, self.best.attempt.otherwise, given)]))[0]

    def _compile(self, attempts: Sequence[Section]) -> _Returning[Sequence[Build | None]]:
        self._left -= len(attempts)
        return (yield attempts) if attempts else []

    def _take_if_smaller(self, build: Build | None) -> None:
        if build is not None and build.total < self.best.total - _LEAST_GAIN:
            self.best = build
            self._curve.append((self._budget - self._left, build.total))


def _split(moves: Sequence[Move]) -> tuple[list[Move], list[Move]]:
    """Moves that touch nothing in common with a better one, and the others."""
    independent: list[Move] = []
    overlapping: list[Move] = []
    touched: set[str] = set()
    for move in moves:
        if touched.isdisjoint(move.touched):
            independent.append(move)
            touched |= move.touched
        else:
            overlapping.append(move)
    return independent, overlapping
