"""The linked image with the decisions that were found: never larger than the smaller one of those it starts from."""

import dataclasses
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mlgo.run.json_fields import Fields

#: Links that choose module by module at most: each takes seconds where a corpus has thousands of modules.
_MOST_LINKS = 300

#: Code bytes of each module in the image in which each module's object is that of the given side.
Link = Callable[[Mapping[str, str]], Mapping[str, int]]


@dataclasses.dataclass(frozen=True)
class LinkedSelection:
    """What was chosen."""

    side_of: Mapping[str, str]  #: module → the side whose object it has.
    sizes: Mapping[str, int]
    #: side to start from → module → code bytes of the image in which all modules have its objects.
    starts: Mapping[str, Mapping[str, int]]

    @property
    def size(self) -> int:
        return sum(self.sizes.values())


def parsed_selection(value: Any, subject: str, remedy: str) -> LinkedSelection:
    """The image that a JSON value describes. Raises: RunError: it is none."""
    fields = Fields(value, subject, remedy)
    starts = fields.inner("starts")
    return LinkedSelection(
        fields.texts_by_name("side_of"),
        fields.inner("sizes").integers_by_name(),
        {name: starts.inner(name).integers_by_name() for name in fields.read("starts", dict)},
    )


def most_links(modules: int, starts: int, greedy_per_module: bool) -> int:
    """How many links `smallest_image` makes at most, by the numbers of modules and of sides to start from."""
    # Half of the modules that are left go back at a time.
    return starts + 1 + modules.bit_length() + (_MOST_LINKS if greedy_per_module else 0)


def smallest_image(
    link: Link, modules: Sequence[str], starts: Sequence[str], found: str, greedy_per_module: Sequence[str] = ()
) -> LinkedSelection:
    """The image of the side `found`; while it is larger than that of the best start, modules go back to that one.

    Linking may show what the search of single modules does not: it keeps one copy of each COMDAT, and folds functions.

    Args: greedy_per_module: of these sides, each module then takes the one that makes the image smallest, with up to
      _MOST_LINKS links; none: it keeps what it has.
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
    if greedy_per_module:
        side_of, current = _greedy_per_module(link, side_of, current, greedy_per_module)
    return LinkedSelection(side_of, current, sizes)


def _greedy_per_module(
    link: Link, side_of: Mapping[str, str], current: Mapping[str, int], sides: Sequence[str]
) -> tuple[dict[str, str], Mapping[str, int]]:
    """Rounds over the modules until no other side of one module makes the image smaller. Args: current: its sizes."""
    chosen, links, unchanged = dict(side_of), 0, 0
    for module in itertools.cycle(side_of):
        if unchanged == len(chosen):
            break
        unchanged += 1
        for side in sides:
            if side == chosen[module]:
                continue
            if links == _MOST_LINKS:
                return chosen, current
            links += 1
            sizes = link({**chosen, module: side})
            if sum(sizes.values()) < sum(current.values()):
                chosen[module], current, unchanged = side, sizes, 0
    return chosen, current
