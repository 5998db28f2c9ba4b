"""Our patches, by version of Chromium."""

import dataclasses
from typing import Optional, Tuple

CHROMIUM_PATCHES = "patches/chromium"


@dataclasses.dataclass(frozen=True)
class PatchSet:
    """The patches with which a build keeps the bitcode for a corpus.

    Attributes:
        last_major: the last major version that it is for; None: it is the newest.
        patches: names in patches/chromium, in order.
    """

    last_major: Optional[int]
    patches: Tuple[str, ...]


# Trees up to 108 lack the argument; 150 has it. For versions in between a patch may not apply: then the error says so,
# and `patch_set` selects the set.
PATCH_SETS = {
    "older": PatchSet(108, ("older_trees_have_both_arguments.patch",)),
    "current": PatchSet(None, ("bitcode_of_the_default_toolchain.patch", "lld_emits_index.patch")),
}


def chosen(major: int) -> str:
    """The name of the set for a major version."""
    return next(
        name for name, patch_set in PATCH_SETS.items() if patch_set.last_major is None or major <= patch_set.last_major
    )
