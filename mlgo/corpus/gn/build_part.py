"""One part of a build's objects, so that several machines can share a build."""

import dataclasses
import re
from collections.abc import Iterable, Mapping, Sequence

from mlgo.run.exit_codes import RunError

#: A Ninja file of ours beside build.ninja, and its target for a part.
NINJA_FILE = "mlgo_part.ninja"
NINJA_TARGET = "mlgo_part"

_OBJECT_SUFFIX = ".o"
_SPECIAL = re.compile(r"[$ :]")


@dataclasses.dataclass(frozen=True)
class BuildPart:
    """Part `number` of `count`, from 1. A part depends on the names of the objects alone.

    Raises: RunError: there is no such part.
    """

    number: int
    count: int

    def __post_init__(self):
        if not 1 <= self.number <= self.count:
            raise RunError(
                f"--part={self.number}/{self.count}", "is no part", "Give N/M with N from 1 to M, as in --part=1/4"
            )

    def of(self, inputs: Iterable[str]) -> list[str]:
        """The objects of this part, sorted: every `count`-th object, so that parts have equal sizes and mixed folders.

        Args: inputs: all files that a build reads or makes; other files than objects are left out.
        """
        return sorted({path for path in inputs if path.endswith(_OBJECT_SUFFIX)})[self.number - 1 :: self.count]


def parse(text: str) -> BuildPart | None:
    """The part that --part=`text` names; None for "", which is the whole. Raises: RunError: it names none."""
    if not text:
        return None
    match = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", text)
    if not match:
        raise RunError(f"--part={text}", "is not N/M", "Give two numbers, as in --part=1/4")
    return BuildPart(int(match[1]), int(match[2]))


def ninja_text(targets: Mapping[str, Sequence[str]]) -> str:
    """A Ninja file with the rules of build.ninja, and further targets: name -> files that it stands for."""
    lines = ["include build.ninja\n"]
    for name, files in targets.items():
        paths = "".join(" $\n    " + _SPECIAL.sub(r"$\g<0>", path) for path in files)
        lines.append(f"build {name}: phony{paths}\n")
    return "".join(lines)
