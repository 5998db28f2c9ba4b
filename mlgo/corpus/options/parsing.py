"""Splits a recorded cc1 command into options with their values, as clang's own parser does."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator, Sequence

from mlgo.corpus.options.table import ClangOption, ValueType, chosen_table, longest_match
from mlgo.run.exit_codes import RunError

#: What stands before an option of LLVM.
LLVM = "-mllvm"


class CommandError(RunError):
    """A recorded command cannot be used."""


# Compared by identity: equal words give the same object (_option), so that a verdict is found again quickly.
@dataclasses.dataclass(frozen=True, eq=False)
class GivenOption:
    """One option of a command."""

    #: As the command has it.
    words: tuple[str, ...]
    #: As the table spells it; an option of LLVM as "-mllvm -name", whatever its dashes. A word that the table does not
    #: know is its own name.
    name: str
    value: str | None
    #: What the table says about an option of cc1.
    clang: ClangOption | None
    #: Of the value; None: the table does not know the option.
    type: ValueType | None

    @property
    def llvm(self) -> str | None:
        """Name of an option of LLVM, without dashes; None: it is one of cc1."""
        return self.name.removeprefix(f"{LLVM} -") if self.words[0] == LLVM else None


def parse_command(words: Sequence[str]) -> Iterator[GivenOption]:
    """The options in `words`, a cc1 command with or without `-cc1`, in their order.
    Raises: CommandError: the last option lacks its argument."""
    place = int(tuple(words[:1]) == ("-cc1",))
    while place < len(words):
        option = _llvm_option(words, place) if words[place] == LLVM else _clang_option(words, place)
        place += len(option.words)
        yield option


def llvm_name(name: str) -> str:
    """How `GivenOption.name` calls LLVM's option `name`, which may have dashes."""
    return f"{LLVM} -{name.lstrip('-')}"


def _clang_option(words: Sequence[str], place: int) -> GivenOption:
    word = words[place]
    found = longest_match(word)
    if found is None:
        return _option((word,), word, None, None)
    option = chosen_table().clang[found]
    kind = "Separate" if option.kind == "JoinedOrSeparate" and word == found else option.kind
    if kind in ("Separate", "JoinedAndSeparate"):
        return _option((word, _next_word(words, place)), found, words[place + 1], option.type)
    return _option((word,), found, None if kind == "Flag" else word.removeprefix(found), option.type)


# Commands of a corpus consist of the same words.
@functools.lru_cache(maxsize=1 << 16)
def _option(words: tuple[str, ...], name: str, value: str | None, kind: ValueType | None) -> GivenOption:
    return GivenOption(words, name, value, chosen_table().clang.get(name), kind)


def _llvm_option(words: Sequence[str], place: int) -> GivenOption:
    word = _next_word(words, place)
    spelling, has_value, value = word.partition("=")
    name = spelling.removeprefix("-").removeprefix("-")
    # LLVM takes exactly one or two dashes, and no value with a space in front; anything else is another word.
    if not word.startswith("-") or not name or name.startswith("-"):
        return _option((LLVM, word), f"{LLVM} {word}", None, None)
    kind = chosen_table().llvm.get(name)
    given: tuple[str, ...] = (LLVM, word)
    # A value may be the next word, with a -mllvm of its own. Only these kinds never take one.
    if not has_value and kind not in (None, "flag", "bool") and tuple(words[place + 2 : place + 3]) == (LLVM,):
        value = _next_word(words, place + 2)
        given, has_value = (*given, LLVM, value), "="
    return _option(given, llvm_name(name), value if has_value else None, kind)


def _next_word(words: Sequence[str], place: int) -> str:
    if place + 1 >= len(words):
        remedy = "extract the module's command again"
        raise CommandError(f"the recorded command's last option {words[place]}", "lacks its argument", remedy)
    return words[place + 1]
