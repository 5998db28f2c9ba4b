"""The options that the compiler of a corpus knows: the checked-in table of the chosen major of LLVM.

A corpus belongs to one major (docs/another-llvm.md), so one table counts: an option that is harmless in one major may
write a file in another. Bazel makes `chosen.json` of the table of the major that the workspace is configured for.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import pathlib
from collections.abc import Mapping
from typing import Any, Union

_FOLDER = pathlib.Path(__file__).parent
_CHOSEN = _FOLDER / "chosen.json"
# Python without Bazel, as editors start it, has only the sources.
_DEFAULT = _FOLDER / "llvm22.json"

#: What only our compilers have: LLVM with TensorFlow Lite, and our patches. The table is made of packages. No recorded
#: command may have these; they are named here so that their values are found.
OF_OUR_COMPILERS = frozenset(
    """
    ml-inliner-model-under-training ml-inliner-output-spec-override ml-inliner-trained-model-feed-prefix
    mlgo-allocations mlgo-allocations-with-profile mlgo-allocations-work mlgo-callee-saved-cost
    mlgo-callee-saved-longest-call mlgo-decisions mlgo-decisions-replay mlgo-decisions-taken mlgo-eviction-flips
    mlgo-eviction-flips-per-root-cost
    mlgo-eviction-more-flips mlgo-eviction-noisy-tries mlgo-eviction-search mlgo-eviction-seed mlgo-eviction-selector
    mlgo-evictions-taken mlgo-executed-cost mlgo-executed-cost-file mlgo-ir2vec mlgo-policies mlgo-policy-with-profile
    mlgo-priority-selector mlgo-search mlgo-warn-unmeasured
    regalloc-model regalloc-priority-model regalloc-priority-training-log regalloc-training-log training-log
    training-log-callsites
    """.split()
)

#: Kinds of options whose spelling is a whole word, never the beginning of one. RemainingArgs is the driver's `--`.
_WHOLE_WORDS = frozenset(("Flag", "Separate", "MultiArg", "RemainingArgs"))

#: The type of a value: "flag" (none), "bool", "int", "uint", "double", "string", or the values of an enumeration.
ValueType = Union[str, tuple[str, ...]]  # noqa: UP007


@dataclasses.dataclass(frozen=True)
class ClangOption:
    """An option of cc1."""

    #: How its value follows, in the words of llvm/Option/Option.h: "Flag", "Joined", "Separate", ...
    kind: str
    type: ValueType
    #: The variable of clang that the value goes to, such as "CodeGenOpts.FramePointer"; "" where the table has none.
    sets: str = ""
    #: The option that this one stands for, then its value if that is fixed.
    alias: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class DriverOption:
    """An option of clang's driver. `count` words follow one of kind "MultiArg"."""

    kind: str
    alias: tuple[str, ...] = ()
    count: int = 0


@dataclasses.dataclass(frozen=True)
class Table:
    """What one compiler knows: options of cc1 and of the driver by their spelling, and types of the options of -mllvm
    by their name without dashes."""

    clang: Mapping[str, ClangOption]
    driver: Mapping[str, DriverOption]
    llvm: Mapping[str, ValueType]
    major: int


def read_table(path: pathlib.Path) -> Table:
    """The table that make_table wrote to `path`."""

    def without_lists(option: dict[str, Any]) -> dict[str, Any]:
        return {key: tuple(value) if isinstance(value, list) else value for key, value in option.items()}

    content = json.loads(path.read_text("utf-8"))
    return Table(
        {name: ClangOption(**without_lists(option)) for name, option in content["cc1"].items()},
        {name: DriverOption(**without_lists(option)) for name, option in content["driver"].items()},
        {**dict.fromkeys(OF_OUR_COMPILERS, "string"), **without_lists(content["llvm"])},
        content["major"],
    )


@functools.cache
def chosen_table() -> Table:
    """The table of the major that the workspace is configured for."""
    return read_table(_CHOSEN if _CHOSEN.exists() else _DEFAULT)


@functools.lru_cache(maxsize=1 << 16)
def longest_match(word: str, of_driver: bool = False) -> str | None:
    """The option that cc1, or the driver, takes `word` for: the longest spelling that it is, or starts with if that may
    be."""
    options: Mapping[str, ClangOption | DriverOption] = chosen_table().driver if of_driver else chosen_table().clang
    for end in range(min(len(word), _longest_spelling(of_driver)), 0, -1):
        option = options.get(word[:end])
        if option is not None and (end == len(word) or option.kind not in _WHOLE_WORDS):
            return word[:end]
    return None


@functools.cache
def _longest_spelling(of_driver: bool) -> int:
    return max(map(len, chosen_table().driver if of_driver else chosen_table().clang))
