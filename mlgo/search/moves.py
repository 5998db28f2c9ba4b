"""One compile as the search sees it, changes to it that are worth a try, and which of them can be tried together."""

import dataclasses
import functools
from collections.abc import Callable, Iterable, Mapping, Sequence

from mlgo.compiler.training_log import TrainingLog
from mlgo.search.decision_file import Section, callee_of, caller_of, place_of

#: LLVM's estimate of what inlining costs, in its units (5 per instruction).
_COST = "cost_estimate"

#: Calls of a higher cost are not inlined one by one: almost none pays (docs/adr).
_HIGHEST_COST = 75
#: A callee whose calls together cost more than that of the dearest and this is not inlined as a whole.
_SLACK_OF_A_CALLEE = 150
#: Below this, LLVM counts on the callee's disappearance (InlineConstants::LastCallToStaticBonus is 15,000).
_LAST_CALL = -9000
#: First parts of the names of moves: all calls of a function inlined, or none; one call the other way.
_INLINE_ALL, _INLINE_NONE, _SITE = "inline all", "inline none", "site"


@dataclasses.dataclass(frozen=True)
class Build:
    """What came of a compile that the search asked for."""

    attempt: Section  #: the decisions that the compile was given, and what decided for every other call site.
    decided: Mapping[str, bool]  #: call site → whether it was inlined, in the order of the questions.
    costs: Mapping[str, int]  #: call site → LLVM's estimate.
    sizes: Mapping[str, float]  #: function → bytes that count.

    @functools.cached_property
    def total(self) -> float:
        return sum(self.sizes[name] for name in sorted(self.sizes))

    @functools.cached_property
    def all_given(self) -> dict[str, bool]:
        """Decisions that fix this build: also those that were given and not asked for."""
        return {**self.attempt.decisions, **self.decided}

    @functools.cached_property
    def dependants(self) -> Callable[[str], frozenset[str]]:
        """Function → itself and every function into which it is inlined, directly or through others."""
        into: dict[str, set[str]] = {}
        for site, inlined in self.decided.items():
            if inlined:
                into.setdefault(callee_of(site), set()).add(caller_of(site))

        @functools.cache
        def reached(function: str) -> frozenset[str]:
            seen, left = {function}, [function]
            while left:
                new = into.get(left.pop(), set()) - seen
                seen |= new
                left += new
            return frozenset(seen)

        return reached


def build_of(attempt: Section, log: TrainingLog, sizes: Mapping[str, float]) -> Build:
    """The build that an attempt's log and sizes describe. Each context of the log is one call site's question."""
    sites = [log.contexts[index] for index in log.observation_context.tolist()]
    costs = log.features[_COST].reshape(-1).tolist()
    return Build(attempt, dict(zip(sites, map(bool, log.actions.tolist()))), dict(zip(sites, costs)), sizes)


@dataclasses.dataclass(frozen=True)
class Move:
    """A change to a build. Attributes: changes: call site → new decision; touched: functions whose code may change."""

    name: tuple[str, ...]
    changes: Mapping[str, bool]
    touched: frozenset[str]

    @property
    def described(self) -> str:
        kind, what = self.name
        if kind == _SITE:
            return f"the call of {callee_of(what)} in {caller_of(what)}: the other way"
        return f"all calls of {what}: {'inlined' if kind == _INLINE_ALL else 'kept'}"


def callee_moves(build: Build) -> list[Move]:
    """All calls of one function inlined, or none, if it may pay: often they only together let the function vanish."""
    moves = []
    for callee, sites in _grouped(build, callee_of).items():
        if len({place_of(site) for site in sites}) < 2:
            continue
        out = [site for site in sites if build.decided[site]]
        into = [site for site in sites if not build.decided[site]]
        if len(into) > 1 and _may_pay(build, into):
            moves.append(_move(build, (_INLINE_ALL, callee), dict.fromkeys(into, True)))
        if len(out) > 1:
            moves.append(_move(build, (_INLINE_NONE, callee), dict.fromkeys(out, False)))
    return moves


def site_moves(build: Build) -> list[Move]:
    """The opposite decision at one call, each time the compiler asks about it, if it may pay; the best first."""
    ranked = []
    for place, sites in _grouped(build, place_of).items():
        inlined = any(build.decided[site] for site in sites)
        cost = min(build.costs[site] for site in sites)
        if not inlined and cost > _HIGHEST_COST:
            continue
        changes = {site: not inlined for site in sites if build.decided[site] == inlined}
        ranked.append((_rank(inlined, cost), place, changes))
    return [_move(build, (_SITE, place), changes) for _, place, changes in sorted(ranked, key=lambda item: item[:2])]


def packed(moves: Iterable[Move], most: int | None = None) -> list[list[Move]]:
    """Groups of moves that touch nothing in common, in their order: one compile tells what each of a group does.

    Args: most: groups at most; moves that fit into none of them are left out.
    """
    groups: list[tuple[list[Move], set[str]]] = []
    for move in moves:
        for group, touched in groups:
            if touched.isdisjoint(move.touched):
                group.append(move)
                touched |= move.touched
                break
        else:
            if most is None or len(groups) < most:
                groups.append(([move], set(move.touched)))
    return [group for group, _ in groups]


def effects(group: Sequence[Move], before: Build, after: Build) -> dict[tuple[str, ...], float]:
    """Name of a move → the bytes that it is worth, by what changed among the functions that it touches.

    What changed elsewhere is counted for a group of one, and for no move of a larger group: to take a move needs a
    compile of its own.
    """
    changed = {
        name: after.sizes.get(name, 0.0) - before.sizes.get(name, 0.0)
        for name in before.sizes.keys() | after.sizes.keys()
    }
    if len(group) == 1:
        return {group[0].name: after.total - before.total}
    return {move.name: sum(changed.get(name, 0.0) for name in sorted(move.touched)) for move in group}


def better_parts(current: Build, other: Build) -> dict[str, bool] | None:
    """The smaller of two builds in each connected part of the call graph; None if `other` is smaller in none.

    Functions belong together where a call is decided differently and one may be part of the other.
    """
    parent: dict[str, str] = {}

    def root(function: str) -> str:
        while (above := parent.setdefault(function, function)) != function:
            parent[function] = function = parent[above]
        return function

    for site in current.decided.keys() | other.decided.keys():
        if current.decided.get(site) != other.decided.get(site):
            caller = caller_of(site)
            for function in current.dependants(caller) | other.dependants(caller) | {callee_of(site)}:
                parent[root(function)] = root(caller)
    parts: dict[str, set[str]] = {}
    for function in parent:
        parts.setdefault(root(function), set()).add(function)
    taken = {
        function
        for part in parts.values()
        if sum(other.sizes.get(name, 0.0) - current.sizes.get(name, 0.0) for name in sorted(part)) < 0
        for function in part
    }
    if not taken:
        return None
    kept = {site: decision for site, decision in current.all_given.items() if caller_of(site) not in taken}
    return kept | {site: decision for site, decision in other.all_given.items() if caller_of(site) in taken}


def _grouped(build: Build, key: Callable[[str], str]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for site in build.decided:
        groups.setdefault(key(site), []).append(site)
    return groups


def _may_pay(build: Build, sites: Sequence[str]) -> bool:
    costs = [max(0, build.costs[site]) for site in sites]
    return sum(costs) <= 1.5 * max(costs) + _SLACK_OF_A_CALLEE


def _rank(inlined: bool, cost: int) -> int:
    """Calls that LLVM inlines because the callee then vanishes; then by cost, where an inlined one has the cost 20."""
    if cost < _LAST_CALL:
        return -20_000 if inlined else -30_000
    return 20 if inlined else cost


def _move(build: Build, name: tuple[str, ...], changes: Mapping[str, bool]) -> Move:
    touched = {callee_of(site) for site in changes}
    for site in changes:
        touched |= build.dependants(caller_of(site))
    return Move(name, changes, frozenset(touched))
