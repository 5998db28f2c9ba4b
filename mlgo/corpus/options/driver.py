"""Splits a command of clang's driver (`clang -O2 -c a.c -o a.o`) into options with their values, as the driver does.

Which option takes a value, and whether as a part of its word or as the next one, is in clang's table of options alone.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator, Sequence

from mlgo.corpus.options.table import chosen_table, longest_match

_JOINED = frozenset(("Joined", "CommaJoined", "RemainingArgsJoined"))
_OUTPUT, _COMPILE_ONLY = "-o", "-c"


@dataclasses.dataclass(frozen=True)
class GivenWord:
    """One option, or one input.

    Attributes:
      words: as the command has it.
      name: the spelling of the option that it stands for: "-o" for `--output=a.o`. "" for an input. A word that the
        table does not know is its own name.
      values: what it is given; empty also where the command ends too early.
    """

    words: tuple[str, ...]
    name: str
    values: tuple[str, ...] = ()

    @property
    def value(self) -> str | None:
        """The first value; None: there is none."""
        return self.values[0] if self.values else None


def parse_driver(words: Sequence[str]) -> Iterator[GivenWord]:
    """The options and inputs in `words`, a command without its program, in their order."""
    place = 0
    while place < len(words):
        given = _given(words, place)
        place += len(given.words)
        yield given


def output_of(words: Sequence[str], source: str | None) -> str | None:
    """The file that `words` write: the last -o, else with -c clang's default for `source`; None: no object file."""
    output, compiles_only = None, False
    for given in parse_driver(words):
        if given.name == _OUTPUT:
            output = given.value
        compiles_only |= given.name == _COMPILE_ONLY
    if output is None and compiles_only and source:
        return os.path.splitext(os.path.basename(source))[0] + ".o"
    return output


def _given(words: Sequence[str], place: int) -> GivenWord:
    word = words[place]
    if not word.startswith("-") or word == "-":
        return GivenWord((word,), "")
    spelling = longest_match(word, of_driver=True)
    if spelling is None:
        return GivenWord((word,), word)
    known = chosen_table().driver
    option = known[spelling]
    rest = word.removeprefix(spelling)
    values = [rest] if option.kind in _JOINED or (option.kind != "Flag" and rest) else []
    taken = 1 + _following(option.kind, option.count, bool(rest), len(words) - place - 1)
    values += words[place + 1 : place + taken]
    name = spelling
    while name in known and known[name].alias:
        name, *fixed = known[name].alias
        values = fixed or values
    return GivenWord(tuple(words[place : place + taken]), name, tuple(values))


def _following(kind: str, count: int, has_rest: bool, left: int) -> int:
    """How many words behind its own an option takes, of `left`."""
    if kind == "RemainingArgs":
        return left
    wanted = {"Separate": 1, "JoinedAndSeparate": 1, "JoinedOrSeparate": int(not has_rest), "MultiArg": count}
    return min(wanted.get(kind, 0), left)
