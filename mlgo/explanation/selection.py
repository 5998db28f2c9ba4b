"""Finds modules and functions by parts of their names; selects varied examples."""

import collections
import difflib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from mlgo.run.exit_codes import ExitCode, RunError

#: How many names a message lists.
_LISTED = 20
#: Listed names are cut to this length.
_NAME_WIDTH = 160

T = TypeVar("T")


def matching(wanted: str, names: Mapping[str, str]) -> list[str]:
    """The keys of `names` that match `wanted`.

    The first rule with a match applies: equal key; equal demangled name; equal function name without namespace and
    parameters; contained in key or demangled name.

    Args: names: name -> demangled name, or the name itself.
    """
    if wanted in names:
        return [wanted]
    tests = (
        lambda name, shown: shown == wanted,
        lambda name, shown: _is_called(shown, wanted),
        lambda name, shown: wanted in name or wanted in shown,
    )
    return next(
        (found for test in tests if (found := [name for name, shown in names.items() if test(name, shown)])), []
    )


def the_one(wanted: str, names: Mapping[str, str], flag: str, what: str, of_what: str) -> str:
    """The only name of `names` that matches `wanted`; the other arguments are for messages.

    Raises: RunError: none or several match; the message lists candidates.
    """
    found = matching(wanted, names)
    if len(found) == 1:
        return found[0]
    if found:
        wrong = f"could be {len(found)} {what}s of {of_what}:{listing(found, names)}\n"
        raise RunError(f"{flag}={wanted}", wrong, "Give more of the name, or all of it")
    if not names:
        wrong = f"{of_what} has no {what} with a decision"
        raise RunError(f"{flag}={wanted}", wrong, "Give another", ExitCode.NOTHING_PRODUCED)
    shown = {text: name for name, text in names.items()}
    close = [shown[text] for text in difflib.get_close_matches(wanted, shown, _LISTED, 0.4)]
    rest = [name for name in names if name not in close]
    wrong = f"is in no name of the {len(names)} {what}s of {of_what}:{listing(close + rest, names)}\n"
    raise RunError(f"{flag}={wanted}", wrong, "Give one of these")


def listing(found: Sequence[str], names: Mapping[str, str]) -> str:
    """A line per name, demangled first, and the number of names that are not listed."""
    lines = [
        f"\n  {_cut(names[name])}" + ("" if names[name] == name else f"  {_cut(name)}") for name in found[:_LISTED]
    ]
    more = [f"\n  ... and {len(found) - _LISTED} more"] if len(found) > _LISTED else []
    return "".join(lines + more)


def varied(candidates: Iterable[T], count: int, keys: Sequence[Callable[[T], str]], limits: Sequence[int]) -> list[T]:
    """The first `count` of `candidates`, of which at most limits[i] have the same keys[i]."""
    seen: collections.Counter[tuple[int, str]] = collections.Counter()
    chosen: list[T] = []
    for candidate in candidates:
        found = [(index, key(candidate)) for index, key in enumerate(keys)]
        if len(chosen) < count and all(seen[each] < limit for each, limit in zip(found, limits, strict=True)):
            chosen.append(candidate)
            seen.update(found)
    return chosen


def _is_called(shown: str, wanted: str) -> bool:
    """Whether "void a::b::wanted(int)" is `shown`, and not "c<a::wanted(int)>(...)"."""
    for found in re.finditer(rf"(?:^|[ :*&]){re.escape(wanted)}(?=\(|$)", shown):
        before, after = shown[: found.start()], _without_parameters(shown[found.end() :])
        if before.count("<") == before.count(">") and "(" not in before and "::" not in after:
            return True
    return False


def _without_parameters(text: str) -> str:
    """`text` without the parameter list at its beginning."""
    depth = 0
    for place, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if not depth:
            return text[place + 1 :]
    return ""


def _cut(text: str) -> str:
    return text if len(text) <= _NAME_WIDTH else f"{text[:_NAME_WIDTH]}..."
