"""The search for better inlining decisions in one module.

Three steps, each from the best build so far. Whole policies, and of them the best in each connected part of the call
graph. All calls of one function inlined, or none. Single calls the other way. What is taken was compiled, and is
smaller.

Single calls are searched in Theodoridis, Grosser and Su, "Understanding and exploiting optimal function inlining",
ASPLOS 2022.
"""

import dataclasses
import math
from collections.abc import Generator, Sequence
from typing import TypeVar

from mlgo.search.build import Attempt, Build, Policy
from mlgo.search.moves import Move, better_parts, callee_moves, effects, packed, site_moves

DEFAULT = Policy("default")
POLICY = Policy("policy", uses_model=True)
#: Besides the two: one limit of cost for all calls. Negative limits leave out what a heuristic of speed inlines.
_ONE_LIMIT = tuple(Policy(f"cost below {limit}", cost_limit=limit) for limit in (15, 30, 60, -15, -(1 << 31)))

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
Search = Generator[Sequence[Attempt], Sequence[Build | None], "Found"]
_Result = TypeVar("_Result")
_Returning = Generator[Sequence[Attempt], Sequence[Build | None], _Result]
_Step = _Returning[None]


@dataclasses.dataclass(frozen=True)
class Found:
    """What a search of one module found."""

    #: builds of the whole policies that it began with, by name, the compiler's heuristic first; for `refine_module` the
    #: build that it began with.
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
    return (yield from _Search(budget).run(has_policy))


def refine_module(budget: int, start: Attempt) -> Search:
    """Searches one module from one build, with what another search may have missed or counted differently.

    Args: budget: compiles at most, >= 1, one of them for the build of `start`.
    Raises: ModuleCannotBeCompiled: with the decisions of `start`.
    """
    return (yield from _Search(budget).run_from(start))


class _Search:
    def __init__(self, budget: int):
        self._left = budget
        self._budget = budget
        self._curve: list[tuple[int, float]] = []
        self._best: Build
        self._measurements = 0
        #: Builds of tried moves, which may be the best as they are.
        self._trial_builds: list[Build] = []
        #: Move → its effect when it was tried last, while nothing that it touches has changed.
        self._known: dict[tuple[str, ...], float] = {}
        #: The same for all moves that were ever tried.
        self._last: dict[tuple[str, ...], float] = {}

    def run(self, has_policy: bool) -> Search:
        start: dict[str, Build] = {}
        yield from self._begin(start, [DEFAULT])
        complete = True
        if self._best.decided:
            yield from self._begin(start, [*([POLICY] if has_policy else []), *_ONE_LIMIT])
            yield from self._mix(sorted(start.values(), key=lambda build: build.total))
            complete = yield from self._improve()
        untried = () if complete else tuple(self._left_to_try(_MOST_ROUNDS))
        return self._found(start, complete, untried)

    def run_from(self, attempt: Attempt) -> Search:
        (build,) = yield from self._compile([attempt])
        if build is None:
            raise ModuleCannotBeCompiled()
        self._best = build
        self._curve.append((1, build.total))
        complete = yield from self._improve()
        untried = () if complete else tuple(self._left_to_try(_MOST_ROUNDS))
        return self._found({attempt.policy.name: build}, complete, untried)

    def _found(self, start: dict[str, Build], complete: bool, untried: tuple[Move, ...]) -> Found:
        compiles = self._budget - self._left
        return Found(start, self._best, tuple(self._curve), compiles, self._measurements, complete, untried)

    def _begin(self, start: dict[str, Build], policies: Sequence[Policy]) -> _Step:
        """Adds builds of whole policies to `start`. Raises: ModuleCannotBeCompiled: there is none."""
        builds = yield from self._compile([Attempt(policy) for policy in policies[: self._left]])
        start |= {build.attempt.policy.name: build for build in builds if build is not None}
        if not start:
            raise ModuleCannotBeCompiled()
        self._best = min(start.values(), key=lambda build: build.total)
        self._curve.append((self._budget - self._left, self._best.total))

    def _mix(self, builds: Sequence[Build]) -> _Step:
        for other in builds:
            given = better_parts(self._best, other) if other is not self._best else None
            if given is not None:
                self._take_if_smaller((yield from self._try(given)))

    def _improve(self) -> _Returning[bool]:
        """Rounds of moves until none helps. Returns: whether that was reached within the budget."""
        for round_number in range(_MOST_ROUNDS):
            before = self._best
            for moves_of in _MOVES:
                moves = [move for move in moves_of(self._best) if self._is_worth_trying(move, round_number)]
                most = math.ceil(self._left * _SHARE_FOR_TRYING)
                yield from self._take((yield from self._tried(moves, most)))
            if self._left <= 0:
                return False
            if self._best is before:
                return True
        return True

    def _left_to_try(self, round_number: int) -> list[Move]:
        """What round `round_number` would try of all kinds."""
        moves = [move for moves_of in _MOVES for move in moves_of(self._best)]
        return [move for move in moves if self._is_worth_trying(move, round_number)]

    def _is_worth_trying(self, move: Move, round_number: int) -> bool:
        return move.name not in self._known and (
            round_number == 0 or self._last.get(move.name, 0.0) <= _RETRY_LOSS_LIMIT_BYTES
        )

    def _tried(self, moves: Sequence[Move], most: int) -> _Returning[list[Move]]:
        """Tries moves, those together that touch nothing in common; returns those that help, the best first."""
        groups = packed(moves, most)
        fixed = self._best.all_given
        attempts = [
            Attempt(
                self._best.attempt.policy, fixed | {site: to for move in group for site, to in move.changes.items()}
            )
            for group in groups
        ]
        gains: dict[tuple[str, ...], float] = {}
        for group, build in zip(groups, (yield from self._compile(attempts))):
            if build is not None:
                gains |= effects(group, self._best, build)
                self._trial_builds.append(build)
        self._measurements += len(gains)
        self._known |= gains
        self._last |= gains
        helpful = [move for group in groups for move in group if gains.get(move.name, 0.0) < -_LEAST_GAIN]
        return sorted(helpful, key=lambda move: (gains[move.name], move.name))

    def _take(self, moves: Sequence[Move]) -> _Step:
        """Applies moves together; if that gains less than most of what they promise, one half after the other."""
        before = self._best
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
        before = self._best
        given = before.all_given | {site: to for move in reversed(moves) for site, to in move.changes.items()}
        build = yield from self._try(given)
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
        if self._best is before:
            return
        changed = {
            name
            for name in before.sizes.keys() | self._best.sizes.keys()
            if before.sizes.get(name) != self._best.sizes.get(name)
        }
        self._known = {
            move.name: self._known[move.name]
            for moves_of in _MOVES
            for move in moves_of(self._best)
            if move.name in self._known and move.touched.isdisjoint(changed)
        }

    def _try(self, given: dict[str, bool]) -> _Returning[Build | None]:
        if self._left <= 0:
            return None
        return (yield from self._compile([Attempt(self._best.attempt.policy, given)]))[0]

    def _compile(self, attempts: Sequence[Attempt]) -> _Returning[Sequence[Build | None]]:
        self._left -= len(attempts)
        return (yield attempts) if attempts else []

    def _take_if_smaller(self, build: Build | None) -> None:
        if build is not None and build.total < self._best.total - _LEAST_GAIN:
            self._best = build
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
