"""How many compiles a search may spend on each module.

CPU time differs from machine to machine and from run to run, and a search has to find the same everywhere. So a budget
of CPU seconds becomes compiles before the first compile, by a fixed estimate of what a compile costs.
"""

import dataclasses
import math
from collections.abc import Mapping, Sequence

from mlgo.corpus.bitcode import function_bytes
from mlgo.corpus.corpus import Module
from mlgo.run.exit_codes import RunError

# CPU seconds of one compile in a search, and of one KiB of bitcode in functions. Measured with the compile server on
# the modules of lua (0.0060 s for a KiB) and on LLVM's held-out modules (0.0038).
_SECONDS_OF_A_COMPILE = 0.005
_SECONDS_OF_A_KIBIBYTE = 0.0045

#: Compiles of a module below which there is no search: the compiler's own decisions, and one try.
_FEWEST = 2
#: Part of a module's compiles that a refinement has. On re2, after 70 compiles of the search, 20 of it gain 0.5 %, and
#: 20 more of the search 0.1 %.
_SHARE_OF_REFINEMENT = 0.4


@dataclasses.dataclass(frozen=True)
class Budget:
    """What a search may use."""

    compiles: int  #: of a module, at most, >= 1.
    cpu_seconds: float | None = None  #: of all compiles of all modules, as `estimated_seconds` has them; None: any.

    def compiles_of(self, modules: Sequence[Module], others: int) -> dict[str, int]:
        """Module → compiles at most for its search, besides `others` that each module has.

        All modules get equally many, so large modules get more time. What is left then gives one more to each of the
        largest.

        Raises: RunError: the CPU seconds are not enough for a search.
        """
        if self.cpu_seconds is None:
            return {module.name: self.compiles for module in modules}
        seconds = {module.name: estimated_seconds(module) for module in modules}
        once = math.fsum(seconds.values())
        left = self.cpu_seconds - others * once
        each = min(self.compiles, math.floor(left / once))
        if each < min(_FEWEST, self.compiles):
            least = math.ceil((others + _FEWEST) * once)
            wrong = f"is not enough to search {len(modules)} modules, whose compiles take about {once:,.1f} s each time"
            raise RunError(f"--budget={self.cpu_seconds:g}", wrong, f"Give at least {least}")
        found = dict.fromkeys(seconds, each)
        left -= each * once
        for name in sorted(seconds, key=lambda name: (-seconds[name], name)):
            if each < self.compiles and seconds[name] <= left:
                found[name] += 1
                left -= seconds[name]
        return found


def split_budget(compiles: Mapping[str, int]) -> tuple[dict[str, int], dict[str, int]]:
    """Module → compiles of its search, and of the refinement; none if they are too few for one."""
    refinement = {name: math.floor(count * _SHARE_OF_REFINEMENT) for name, count in compiles.items()}
    if min(refinement.values(), default=0) < _FEWEST:
        return dict(compiles), {}
    return {name: count - refinement[name] for name, count in compiles.items()}, refinement


def estimated_seconds(module: Module) -> float:
    """CPU seconds of one compile of `module`, estimated."""
    return _SECONDS_OF_A_COMPILE + _SECONDS_OF_A_KIBIBYTE * function_bytes(module.read_bitcode()) / 1024
