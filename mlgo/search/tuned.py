"""What a search of a corpus found."""

import dataclasses
from collections.abc import Mapping, Sequence

from mlgo.evaluation.corpora.coverage import Coverage
from mlgo.search.corpus_search import ModuleResult
from mlgo.search.image import Image
from mlgo.search.replay import Replayed


@dataclasses.dataclass(frozen=True)
class Tuned:
    """What was found.

    Attributes:
      modules: module → result of its search.
      image: the linked code.
      decisions: the decision file.
      left_out: modules without decisions in the file: they do not compile, the image holds none of their code, or
        another has the same source or none.
      replayed: what the files for -cgscc-inline-replay hold; None: none were asked for.
      coverage: which modules the images that the search starts from hold code of; None: this is not known.
    """

    modules: Mapping[str, ModuleResult]
    image: Image
    decisions: bytes
    left_out: Sequence[str]
    replayed: Replayed | None = None
    coverage: Coverage | None = None

    @property
    def vanished(self) -> list[str]:
        """Searched modules of which the chosen image holds no code, and the images before it did, sorted."""
        before = {name for sizes in self.image.starts.values() for name, size in sizes.items() if size}
        return sorted(name for name in before & self.modules.keys() if not self.image.sizes[name])

    @property
    def compiles(self) -> int:
        """Compiles of all searches."""
        return sum(each.compiles for each in self.modules.values())

    @property
    def tried(self) -> int:
        """Changes that all searches tried."""
        return sum(each.tried for each in self.modules.values())
