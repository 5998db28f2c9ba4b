"""A compiler of a toy language, in which the size of every choice of inlining can be computed."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence

from mlgo.search.decision_file import DEFAULT, Section
from mlgo.search.module_search import Found, Search
from mlgo.search.moves import Build

_CALL_BYTES = 5


@dataclasses.dataclass(frozen=True)
class Function:
    """A function.

    Attributes:
      bytes: of its body, calls left out.
      calls: what it calls, in order; only functions before it in the program.
      is_local: whether it vanishes when nothing calls it.
      saving: bytes by which each inlined copy is smaller.
    """

    bytes: int
    calls: tuple[str, ...] = ()
    is_local: bool = True
    saving: int = 0


def finished(search: Search, compiler: Callable[[Sequence[Section]], Sequence[Build | None]]) -> Found:
    """The result of `search`, whose attempts `compiler` compiles."""
    try:
        attempts = next(search)
        while True:
            attempts = search.send(compiler(attempts))
    except StopIteration as end:
        return end.value


class ToyCompiler:
    """Compiles a program; its heuristic inlines bodies of less than `limit` bytes."""

    def __init__(self, program: Mapping[str, Function], limit: int = 10):
        self._program = program
        self._limit = limit
        self.compiles = 0

    def __call__(self, attempts: Sequence[Section]) -> list[Build]:
        self.compiles += len(attempts)
        return [self.build(attempt) for attempt in attempts]

    def build(self, attempt: Section) -> Build:
        """Bottom up, as LLVM does: an inlined body brings the calls left in it, which are asked about again."""
        limit = self._limit if attempt.otherwise == DEFAULT else int(attempt.otherwise.rpartition(" ")[2])
        decided: dict[str, bool] = {}
        costs: dict[str, int] = {}
        bodies: dict[str, tuple[int, list[tuple[str, str]]]] = {}
        for name, function in self._program.items():
            size, left = function.bytes, []
            asked: dict[str, int] = {}
            questions = [(callee, f"{name}\t{ordinal}") for ordinal, callee in enumerate(function.calls)]
            while questions:
                callee, written = questions.pop(0)
                key = f"{name}\t{callee}\t{written}"
                site = f"{key}\t{asked.setdefault(key, 0)}"
                asked[key] += 1
                body, calls = bodies[callee]
                costs[site] = body - self._program[callee].saving - _CALL_BYTES
                decided[site] = attempt.decisions.get(site, costs[site] < limit)
                if decided[site]:
                    size += body - self._program[callee].saving
                    left += calls
                else:
                    size += _CALL_BYTES
                    left.append((callee, written))
            bodies[name] = size, left
        called = {callee for name in self._alive(bodies) for callee, _ in bodies[name][1]}
        sizes = {
            name: float(bodies[name][0])
            for name, function in self._program.items()
            if not function.is_local or name in called
        }
        return Build(attempt, decided, costs, sizes)

    def _alive(self, bodies) -> set[str]:
        alive = {name for name, function in self._program.items() if not function.is_local}
        left = list(alive)
        while left:
            new = {callee for callee, _ in bodies[left.pop()][1]} - alive
            alive |= new
            left += new
        return alive
