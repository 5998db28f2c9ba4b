"""Counts what one module adds to the folded image of given builds of all other modules (`ld.lld --icf=all`).

The linker takes a COMDAT from the first module that carries it. There it counts in full; without it there, the next
copy counts. In later modules it counts nothing, and neither does a function that other modules add anyway. For a single
module that is what changes the image; the sum over all modules is not the image.
"""

import collections
import dataclasses
from collections.abc import Iterator, Mapping, Set

from mlgo.run.manifest import digest_of_json
from mlgo.score.function_scores import NON_FUNCTION_BYTES, FunctionScore
from mlgo.score.score import FunctionScores


@dataclasses.dataclass(frozen=True)
class AddedCode:
    """What counts, a ByteCounter.

    Attributes:
      places: module → its place in the order of linking.
      owners: COMDAT → the first module that carries it.
      holders: fold identity → modules that add a function of it.
      next_copies: module → function of a COMDAT that it owns → the copy of the next module that carries it.
    """

    places: Mapping[str, int]
    owners: Mapping[str, str]
    holders: Mapping[str, Set[str]]
    next_copies: Mapping[str, FunctionScores]

    @classmethod
    def of_builds(cls, builds: Mapping[str, FunctionScores]) -> "AddedCode":
        """Args: module, in the order of linking → scores with fold identities."""
        owners: dict[str, str] = {}
        seconds: dict[str, str] = {}
        holders: dict[str, set[str]] = collections.defaultdict(set)
        next_copies: dict[str, dict[str, FunctionScore]] = collections.defaultdict(dict)
        for module, name, score in _functions(builds):
            if score.comdat is not None and owners.setdefault(score.comdat, module) != module:
                if seconds.setdefault(score.comdat, module) == module:
                    next_copies[owners[score.comdat]][name] = score
            elif score.fold is not None:
                holders[score.fold].add(module)
        return cls({module: place for place, module in enumerate(builds)}, owners, holders, next_copies)

    @property
    def digest(self) -> str:
        """Of everything that decides what a function counts."""
        copies = {
            module: {name: dataclasses.astuple(score) for name, score in scores.items()}
            for module, scores in self.next_copies.items()
        }
        holders = {fold: sorted(modules) for fold, modules in self.holders.items()}
        return digest_of_json([self.places, self.owners, holders, copies])

    def __call__(self, module: str, scores: FunctionScores) -> dict[str, float]:
        """See ByteCounter."""
        carried = {score.comdat for score in scores.values()}
        left = {name: score for name, score in self.next_copies.get(module, {}).items() if score.comdat not in carried}
        twins: dict[str, list[str]] = {}
        held = {**left, **scores}
        for name, score in held.items():
            if name != NON_FUNCTION_BYTES and not self._is_of_others(module, score):
                twins.setdefault(name if score.fold is None else f"\n{score.fold}", []).append(name)
        return {name: held[name].score / len(names) for names in twins.values() for name in names}

    def _is_of_others(self, module: str, score: FunctionScore) -> bool:
        """Whether the image holds this code whatever `module` does, or never takes it from there."""
        if score.comdat is not None:
            owner = self.owners.get(score.comdat, module)
            if owner != module and self.places[owner] < self.places[module]:
                return True
        return score.fold is not None and bool(self.holders.get(score.fold, set()) - {module})


def _functions(builds: Mapping[str, FunctionScores]) -> Iterator[tuple[str, str, FunctionScore]]:
    for module, scores in builds.items():
        for name, score in scores.items():
            if name != NON_FUNCTION_BYTES:
                yield module, name, score
