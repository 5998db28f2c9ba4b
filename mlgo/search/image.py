"""The linked image with the decisions that were found: never larger than the smaller one of those it starts from."""

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence

#: Code bytes of each module in the image in which each module's object is that of the given side.
Link = Callable[[Mapping[str, str]], Mapping[str, int]]


@dataclasses.dataclass(frozen=True)
class Image:
    """What was chosen.

    Attributes:
      side_of: module → the side whose object it has.
      sizes: module → code bytes.
      starts: side to start from → module → code bytes of the image in which all modules have its objects.
    """

    side_of: Mapping[str, str]
    sizes: Mapping[str, int]
    starts: Mapping[str, Mapping[str, int]]

    @property
    def size(self) -> int:
        """Code bytes of the whole image."""
        return sum(self.sizes.values())


def smallest_image(link: Link, modules: Sequence[str], starts: Sequence[str], found: str) -> Image:
    """The image of the side `found`; while it is larger than that of the best start, modules go back to that one.

    Linking may show what the search of single modules does not: it keeps one copy of each COMDAT, and folds functions.

    Args: starts: sides to start from, at least one.
    """
    sizes = {side: link(dict.fromkeys(modules, side)) for side in starts}
    start = min(starts, key=lambda side: sum(sizes[side].values()))
    side_of = dict.fromkeys(modules, found)
    current = link(side_of)
    while sum(current.values()) > sum(sizes[start].values()):
        left = [module for module in modules if side_of[module] == found]
        left.sort(key=lambda module: (sizes[start][module] - current[module], module))
        side_of |= dict.fromkeys(left[: math.ceil(len(left) / 2)], start)
        current = link(side_of)
    return Image(side_of, current, sizes)
