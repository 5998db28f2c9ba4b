"""Which modules a policy is trained on and which are kept to judge it. The only place that decides this."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence

TRAIN = "train"
HELD_OUT = "held_out"
PARTS = (TRAIN, HELD_OUT)

#: What stands between a source and the target that compiled it, in the name of a module whose source several targets compile.
OWNER_MARK = "@@"

# Of the built-in corpus's 122 modules this holds out 36, with 620 functions that have eviction decisions; one in five
# would leave 22 modules and 330 functions.
HELD_OUT_ONE_IN = 4


def part_of(module_name: str, held_out_one_in: int = HELD_OUT_ONE_IN) -> str:
    """The part that a module belongs to: a fixed function of its source's name, so that it never moves when others come or go."""
    return HELD_OUT if _hash(_source(module_name)) % held_out_one_in == 0 else TRAIN


def by_hash(names: Iterable[str], held_out_one_in: int = HELD_OUT_ONE_IN) -> dict[str, str]:
    """Part of each module, by its name alone: see `part_of`."""
    return {name: part_of(name, held_out_one_in) for name in names}


def by_directory(
    names: Iterable[str], held_out: Sequence[str] = (), held_out_one_in: int = HELD_OUT_ONE_IN
) -> dict[str, str]:
    """Part of each module, all of a directory in one part: files of one directory are much alike.

    Args:
      held_out: the directories to hold out, with all below them. Without any, a hash of a directory's name decides.
      held_out_one_in: for the latter, about one directory in so many is held out.
    """
    if held_out:
        below = tuple(f"{folder.rstrip('/')}/" for folder in held_out)
        return {name: HELD_OUT if name.startswith(below) else TRAIN for name in names}
    return {name: part_of(_source(name).rpartition("/")[0], held_out_one_in) for name in names}


def by_size(sizes: Mapping[str, int], held_out_one_in: int = HELD_OUT_ONE_IN) -> dict[str, str]:
    """Part of each module, small and large ones alike in both: of so many neighbours in size, one is held out.

    Which one, a hash of the names decides. Unlike the other ways, this one may move modules when others come or go.

    Args: sizes: bytes of bitcode by module name.
    """
    ordered = sorted(sizes, key=lambda name: (sizes[name], name))
    parts = dict.fromkeys(ordered, TRAIN)
    for start in range(0, len(ordered), held_out_one_in):
        neighbours = ordered[start : start + held_out_one_in]
        if len(neighbours) == held_out_one_in:
            parts[min(neighbours, key=_hash)] = HELD_OUT
    return parts


def _source(module_name: str) -> str:
    return module_name.partition(OWNER_MARK)[0]


def _hash(name: str) -> int:
    return int.from_bytes(hashlib.sha256(name.encode("utf-8", "surrogateescape")).digest()[:8], "big")
