"""Counts the code of modules whose image has equal functions folded into one (`ld.lld --icf=all`).

`FoldedCode` counts a function by its share, so that the modules add up to the image. `AddedCode` counts what one module
adds to given builds of all others: what changes the image if only that module changes.
"""

import collections
import dataclasses
from collections.abc import Mapping, Set

from mlgo.compiler.fold_identity import fold_identities
from mlgo.run.manifest import digest_of_json
from mlgo.score.function_scores import NON_FUNCTION_BYTES, FunctionScore
from mlgo.score.score import FunctionScores


@dataclasses.dataclass(frozen=True)
class FoldedCode:
    """A ByteCounter. A function counts once in its module, and there by its share: its bytes divided by the number of
    modules that hold its code or its COMDAT in the reference builds. So over the corpus each piece of code that the
    folded image holds counts once, and a change that makes a function unlike its twins counts in full.
    """

    #: comdats: COMDAT → modules that carry it by default; holders: fold identity → modules that hold a function of it,
    #: in the reference build where they are most. Neither has None.
    comdats: Mapping[str | None, int]
    holders: Mapping[str | None, int]

    @classmethod
    def of_builds(cls, default: Mapping[str, FunctionScores], *others: Mapping[str, FunctionScores]) -> "FoldedCode":
        """Args: module → scores with fold identities, in the compiler's default build and in other reference builds."""
        holders: collections.Counter[str | None] = collections.Counter()
        for build in (default, *others):
            holders |= modules_with(build, "fold")
        return cls(modules_with(default, "comdat"), holders)

    @property
    def digest(self) -> str:
        return digest_of_json({"comdats": dict(self.comdats), "holders": dict(self.holders)})

    def __call__(self, module: str, scores: FunctionScores) -> dict[str, float]:
        counted: dict[str, float] = {}
        for names in _twins(scores):
            modules = max(
                max(self.comdats.get(scores[name].comdat, 1), self.holders.get(scores[name].fold, 1)) for name in names
            )
            counted |= {name: scores[name].score / (modules * len(names)) for name in names}
        return counted


@dataclasses.dataclass(frozen=True)
class FoldedByDefault:
    """A ByteCounter for learning a policy for folded images.

    A policy changes all copies of a function, since it sees the same features at each. So a function that the linker
    folds by default counts by the share it has there, whatever its code becomes. But copies with other callers or in
    other modules may be treated differently, and are then no longer folded. `unlike` is the part of a changed copy that
    counts as if it alone had changed, as `FoldedCode` has it: a half is nearest to the images of the shipped policy
    (docs/adr/0005).
    """

    #: module → function → its fold identity by default.
    folds: Mapping[str, Mapping[str, str]]
    places: Mapping[str, int]  #: fold identity → functions of the default build that have it.
    by_code: FoldedCode
    unlike: float = 0.5

    @classmethod
    def of_build(cls, default: Mapping[str, FunctionScores]) -> "FoldedByDefault":
        """Args: module → scores with fold identities, in the compiler's default build."""
        folds = {
            module: {name: score.fold for name, score in scores.items() if score.fold is not None}
            for module, scores in default.items()
        }
        places = collections.Counter(fold for names in folds.values() for fold in names.values())
        return cls(folds, places, FoldedCode.of_builds(default))

    def __call__(self, module: str, scores: FunctionScores) -> dict[str, float]:
        folds = self.folds.get(module, {})
        counted = self.by_code(module, scores)
        for name in counted.keys() & folds.keys():
            counted[name] = self.unlike * counted[name] + (1 - self.unlike) * self._alike(scores[name], folds[name])
        return counted

    def _alike(self, score: FunctionScore, fold: str) -> float:
        """The share of a function whose identity by default is `fold`, if all its copies change alike."""
        return score.score / max(self.places[fold], self.by_code.comdats.get(score.comdat, 1))


@dataclasses.dataclass(frozen=True)
class AddedCode:
    """A ByteCounter.

    The linker takes a COMDAT from the first module that carries it. There it counts in full; without it there, the next
    copy counts. In later modules it counts nothing, and neither does a function that other modules add anyway.
    """

    places: Mapping[str, int]  #: module → its place in the order of linking.
    owners: Mapping[str, str]  #: COMDAT → the first module that carries it.
    holders: Mapping[str, Set[str]]  #: fold identity → modules that add a function of it.
    #: module → function of a COMDAT that it owns → the copy of the next module that carries it.
    next_copies: Mapping[str, FunctionScores]

    @classmethod
    def of_builds(cls, builds: Mapping[str, FunctionScores]) -> "AddedCode":
        """Args: module, in the order of linking → scores with fold identities."""
        owners: dict[str, str] = {}
        seconds: dict[str, str] = {}
        holders: dict[str, set[str]] = collections.defaultdict(set)
        next_copies: dict[str, dict[str, FunctionScore]] = collections.defaultdict(dict)
        functions = ((module, *function) for module, scores in builds.items() for function in scores.items())
        for module, name, score in functions:
            if name == NON_FUNCTION_BYTES:
                continue
            if score.comdat is not None and owners.setdefault(score.comdat, module) != module:
                if seconds.setdefault(score.comdat, module) == module:
                    next_copies[owners[score.comdat]][name] = score
            elif score.fold is not None:
                holders[score.fold].add(module)
        return cls({module: place for place, module in enumerate(builds)}, owners, holders, next_copies)

    @property
    def digest(self) -> str:
        copies = {
            module: {name: dataclasses.astuple(score) for name, score in scores.items()}
            for module, scores in self.next_copies.items()
        }
        holders = {fold: sorted(modules) for fold, modules in self.holders.items()}
        return digest_of_json([self.places, self.owners, holders, copies])

    def __call__(self, module: str, scores: FunctionScores) -> dict[str, float]:
        carried = {score.comdat for score in scores.values()}
        left = {name: score for name, score in self.next_copies.get(module, {}).items() if score.comdat not in carried}
        held = {name: score for name, score in {**left, **scores}.items() if not self._is_of_others(module, score)}
        return {name: held[name].score / len(names) for names in _twins(held) for name in names}

    def _is_of_others(self, module: str, score: FunctionScore) -> bool:
        """Whether the image holds this code whatever `module` does, or never takes it from there."""
        if score.comdat is not None:
            owner = self.owners.get(score.comdat, module)
            if owner != module and self.places[owner] < self.places[module]:
                return True
        return score.fold is not None and bool(self.holders.get(score.fold, set()) - {module})


def with_folds(scores: FunctionScores, content: bytes | None, module: str) -> dict[str, FunctionScore]:
    """`scores` with the fold identities of functions in the module's object. Raises: RunError: it is damaged."""
    folds = {} if content is None else fold_identities(content, module)
    return {name: dataclasses.replace(score, fold=folds.get(name)) for name, score in scores.items()}


def modules_with(build: Mapping[str, FunctionScores], what: str) -> collections.Counter[str | None]:
    """Value of the attribute `what`, but for None → modules with a function that has it."""
    found: collections.Counter[str | None] = collections.Counter()
    for scores in build.values():
        found.update({getattr(score, what) for score in scores.values()} - {None})
    return found


def _twins(scores: FunctionScores) -> list[list[str]]:
    """The names of the functions, those with one fold identity together."""
    twins: dict[str, list[str]] = {}
    for name, score in scores.items():
        if name != NON_FUNCTION_BYTES:
            twins.setdefault(name if score.fold is None else f"\n{score.fold}", []).append(name)
    return list(twins.values())
