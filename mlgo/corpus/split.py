"""Which modules a policy is trained on and which are kept to judge it. The only place that decides this."""

import hashlib

TRAIN = "train"
HELD_OUT = "held_out"
PARTS = (TRAIN, HELD_OUT)

# Of the built-in corpus's 122 modules this holds out 36, with 620 functions that have eviction decisions; one in five
# would leave 22 modules and 330 functions.
_HELD_OUT_ONE_IN = 4


def part_of(module_name: str) -> str:
    """The part that a module belongs to: a fixed function of its name, so that it never moves when others come or go."""
    digest = hashlib.sha256(module_name.encode("utf-8", "surrogateescape")).digest()
    return HELD_OUT if int.from_bytes(digest[:8], "big") % _HELD_OUT_ONE_IN == 0 else TRAIN
