"""Counts the code of modules whose image has equal functions folded into one (`ld.lld --icf=all`).

A function counts once in its module, and there by its share: its bytes divided by the number of modules that hold its
code or its COMDAT in the reference builds. So over the corpus each piece of code that the folded image holds counts
once, and a change that makes a function unlike its twins counts in full.
"""

import collections
import dataclasses
from collections.abc import Mapping

from mlgo.compiler.fold_identity import fold_identities
from mlgo.run.manifest import digest_of_json
from mlgo.score.function_scores import NON_FUNCTION_BYTES, FunctionScore
from mlgo.score.score import FunctionScores


@dataclasses.dataclass(frozen=True)
class FoldedCode:
    """What counts, a ByteCounter.

    Attributes:
      comdats: COMDAT → modules that carry it by default.
      holders: fold identity → modules that hold a function of it, in the reference build where they are most.
    """

    comdats: Mapping[str, int]
    holders: Mapping[str, int]

    @classmethod
    def of_builds(cls, default: Mapping[str, FunctionScores], *others: Mapping[str, FunctionScores]) -> "FoldedCode":
        """Args: module → scores with fold identities, in the compiler's default build and in other reference builds."""
        holders: collections.Counter[str] = collections.Counter()
        for build in (default, *others):
            holders |= _modules_of(build, "fold")
        return cls(_modules_of(default, "comdat"), holders)

    @property
    def digest(self) -> str:
        """Of everything that decides what a function counts."""
        return digest_of_json({"comdats": dict(self.comdats), "holders": dict(self.holders)})

    def __call__(self, module: str, scores: FunctionScores) -> dict[str, float]:
        """See ByteCounter."""
        del module
        twins: dict[str, list[str]] = {}
        for name, score in scores.items():
            if name != NON_FUNCTION_BYTES:
                twins.setdefault(name if score.fold is None else f"\n{score.fold}", []).append(name)
        counted: dict[str, float] = {}
        for names in twins.values():
            modules = max(self._modules(scores[name].comdat, scores[name].fold) for name in names)
            counted |= {name: scores[name].score / (modules * len(names)) for name in names}
        return counted

    def _modules(self, comdat: str | None, fold: str | None) -> int:
        by_comdat = 1 if comdat is None else self.comdats.get(comdat, 1)
        return max(1, by_comdat, 1 if fold is None else self.holders.get(fold, 1))


def with_folds(scores: FunctionScores, content: bytes | None, module: str) -> dict[str, FunctionScore]:
    """`scores` with the fold identities of their functions. Args: content: the module's object; None: there is none.

    Raises: RunError: it is damaged.
    """
    folds = {} if content is None else fold_identities(content, module)
    return {name: dataclasses.replace(score, fold=folds.get(name)) for name, score in scores.items()}


def _modules_of(build: Mapping[str, FunctionScores], what: str) -> collections.Counter[str]:
    """Value of the attribute `what` → modules with a function that has it."""
    return collections.Counter(
        value
        for scores in build.values()
        for value in {getattr(score, what) for score in scores.values()}
        if value is not None
    )
