"""What becomes of an option of a recorded command: kept, dropped or refused."""

import enum
import functools
import re
from collections.abc import Collection

from mlgo.corpus.options import clang_rules, llvm_rules
from mlgo.corpus.options.parsing import LLVM, GivenOption, llvm_name
from mlgo.corpus.options.table import ValueType, chosen_table

#: A file that a corpus carries for its commands (mlgo/corpus/writer.py), as commands name it.
CARRIED_FILE = re.compile(r"files/[0-9a-f]{16}-[^/\x00-\x1f]+")

# clang and LLVM replace an argument `@FILE` by the words in that file, wherever it stands.
_EXPANDED = "@"

# The spellings that LLVM's parsers take (llvm/lib/Support/CommandLine.cpp), decimal or hexadecimal.
_PATTERNS = {
    "bool": re.compile(r"true|TRUE|True|false|FALSE|False|0|1"),
    "uint": re.compile(r"[0-9]{1,20}|0[xX][0-9a-fA-F]{1,16}"),
    "int": re.compile(r"-?([0-9]{1,20}|0[xX][0-9a-fA-F]{1,16})"),
    "double": re.compile(r"-?([0-9]{1,40}(\.[0-9]{0,40})?|\.[0-9]{1,40})([eE][+-]?[0-9]{1,4})?"),
}


class Verdict(enum.Enum):
    """What becomes of an option."""

    #: It can only change code.
    KEPT = "kept"
    #: Bitcode needs nothing of it: it belongs to the front end, only names an output, or switches a policy on.
    DROPPED = "dropped"
    #: It may read, write or run something, or is unknown.
    REFUSED = "refused"


def judge(option: GivenOption, allowed: Collection[str] = ()) -> Verdict:
    """What becomes of `option`. `allowed`: names, see `normal_name`, of further options that are kept."""
    if allowed and is_allowed(option, allowed) and expanded_word(option) is None:
        return Verdict.KEPT
    return _judge(option)


@functools.lru_cache(maxsize=1 << 16)
def _judge(option: GivenOption) -> Verdict:
    if expanded_word(option) is not None:
        return Verdict.REFUSED
    return _judge_clang(option) if option.llvm is None else _judge_llvm(option, option.llvm)


def expanded_word(option: GivenOption) -> str | None:
    """The word that a compiler replaces by those in a file; such an option is refused although it is allowed."""
    return next((word for word in option.words if word.startswith(_EXPANDED)), None)


def can_be_allowed(name: str) -> bool:
    """Whether --allow_option helps for the refused option that a message calls `name`: not for a response file."""
    return not name.startswith(_EXPANDED)


def is_allowed(option: GivenOption, allowed: Collection[str]) -> bool:
    """Whether a user's list has the option, with or without the "=" that ends its name."""
    name = option.name.partition("=")[0]
    return not {option.name, name, f"{name}="}.isdisjoint(allowed)


def normal_name(given: str) -> str:
    """How judge names the option that a user calls "-foo", "-foo=", "-mllvm -bar" or "-mllvm --bar"."""
    words = given.split()
    return llvm_name(words[1].partition("=")[0]) if words[:1] == [LLVM] and len(words) > 1 else given.strip()


def _judge_llvm(option: GivenOption, name: str) -> Verdict:
    if option.type is None:
        return Verdict.REFUSED
    if name == llvm_rules.EMBEDDING or name in llvm_rules.DECIDING:
        return Verdict.DROPPED
    if option.type == "string":
        carried = name in llvm_rules.READS and CARRIED_FILE.fullmatch(option.value or "")
        return _kept_if(bool(carried) or llvm_rules.is_text(name, option.value))
    return _kept_if(llvm_rules.only_changes_code(name) and is_of_type(option.type, option.value))


def _judge_clang(option: GivenOption) -> Verdict:
    if option.clang is None:
        return Verdict.REFUSED
    name, known, value = option.name, option.clang, option.value
    if clang_rules.is_dropped(name, known):
        return Verdict.DROPPED
    if known.alias:
        # An alias means what it stands for: `-exception-model=` is judged as `-exception-model`.
        name, *fixed = known.alias
        known, value = chosen_table().clang.get(name, known), fixed[0] if fixed else value
        if clang_rules.is_dropped(name, known):
            return Verdict.DROPPED
    if known.kind == "CommaJoined" and isinstance(known.type, tuple):
        return _kept_if(all(part in known.type for part in (value or "").split(",")))
    if known.type != "string":
        return _kept_if(clang_rules.is_known_flag(name, known) and is_of_type(known.type, value))
    return _kept_if(value is not None and (clang_rules.is_known_string(name, value) or _reads_carried(name, value)))


def _reads_carried(name: str, value: str) -> bool:
    path = value.removeprefix(clang_rules.READS.get(name, ""))
    return name in clang_rules.READS and (not value or CARRIED_FILE.fullmatch(path) is not None)


def _kept_if(condition: bool) -> Verdict:
    return Verdict.KEPT if condition else Verdict.REFUSED


def is_of_type(kind: ValueType, value: str | None) -> bool:
    """Whether `value` (None: the option has none) is one that an option of this type takes; no string is."""
    if kind == "flag":
        return value is None
    if value is None:
        return kind == "bool"
    if isinstance(kind, tuple):
        return value in kind
    return kind in _PATTERNS and _PATTERNS[kind].fullmatch(value) is not None
