"""Files of decisions on inlining and register eviction, which compilers read with -mlgo-decisions (llvm/decisions).

The first line names the format. Then each module has a section for each kind of decision. A section of inlining
decisions has a line with the module's source file, a line with what decides at call sites that are not listed, and a
line for each call site that is. A section of eviction decisions has a line with the source file and a line for each
live range that finds no free register: the register from which others are evicted, or none ("spare"). No module has two
sections of one kind, and no call site and no live range is named twice in a section.

    mlgo-decisions 1
    module  src/lapi.c
    otherwise default
    inline  lua_settop  adjust2reg  lua_settop  0  0
    keep    ...
    evictions  src/lapi.c
    evict  lua_settop  0  27f3a5c1990b4e60  RBX
    spare  lua_settop  1  5d01c8aa3be2f914

Tabs separate fields. A call site has five: caller, callee, origin (the function in which the call was written),
ordinal, occurrence. A live range has three: function, ordinal, look. The compiler writes these names, so here they are
opaque but for the functions of a call site.
"""

import dataclasses
import re
import string
import urllib.parse
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from mlgo.run.exit_codes import RunError

_FIRST_LINE = "mlgo-decisions 1"
_WORDS = {True: "inline", False: "keep"}
_SITE_FIELDS = 5
_MODULE, _EVICTIONS = "module", "evictions"
_EVICT, _SPARE = "evict", "spare"
_LIVE_RANGE_FIELDS = 3
_OTHERWISE = "otherwise "
_BELOW = "cost-below "
_OTHERWISE_LINE = re.compile(rf"{_OTHERWISE}(default|policy|{_BELOW}-?[0-9]{{1,18}})")
#: Stands for every module in place of a source file.
ANY_MODULE = "*"
_REMEDY = "Make it again with //mlgo:tune"
_AS_THEY_ARE = string.punctuation.replace("%", "")


@dataclasses.dataclass(frozen=True)
class Section:
    """The inlining decisions of one module."""

    source: str  #: its source file, as its bitcode names it, or ANY_MODULE.
    otherwise: str  #: what decides elsewhere: "default", "policy" or "cost-below N".
    decisions: Mapping[str, bool]  #: call site → whether it is inlined.


@dataclasses.dataclass(frozen=True)
class EvictionSection:
    """The eviction decisions of one module."""

    source: str  #: its source file, as its bitcode names it, or ANY_MODULE.
    #: live range → the register from which others are evicted, as the target names it; None: the range is split or
    #: spilled itself.
    decisions: Mapping[str, str | None]


AnySection = Section | EvictionSection


def otherwise_below(cost_limit: int) -> str:
    """For Section.otherwise: a call is inlined if LLVM's estimate of its cost is lower than `cost_limit`."""
    return f"{_BELOW}{cost_limit}"


def cost_limit_of(otherwise: str) -> int | None:
    """The limit that `otherwise_below` was given; None: another word is given."""
    return int(otherwise.removeprefix(_BELOW)) if otherwise.startswith(_BELOW) else None


def caller_of(call_site: str) -> str:
    """The function in which the call stands, as symbol tables have it."""
    return _unescaped(call_site.split("\t", 1)[0])


def callee_of(call_site: str) -> str:
    """The function that is called, as symbol tables have it."""
    return _unescaped(call_site.split("\t", 2)[1])


def place_of(call_site: str) -> str:
    """The call site without its occurrence: the compiler may ask about one call several times."""
    return call_site.rsplit("\t", 1)[0]


def written(sections: Iterable[AnySection]) -> bytes:
    """The content of a file with `sections`. Equal sections give equal bytes."""
    lines = [_FIRST_LINE]
    for section in sections:
        source = section.source if section.source == ANY_MODULE else _escaped(section.source)
        if isinstance(section, Section):
            lines += [f"{_MODULE}\t{source}", f"{_OTHERWISE}{section.otherwise}"]
            lines += [f"{_WORDS[section.decisions[site]]}\t{site}" for site in sorted(section.decisions)]
        else:
            lines.append(f"{_EVICTIONS}\t{source}")
            lines += [_eviction_line(name, section.decisions[name]) for name in sorted(section.decisions)]
    return "".join(f"{line}\n" for line in lines).encode("ascii")


def read(content: bytes, name: str) -> list[Section]:
    """The sections of inlining decisions in `content`; those of evictions are checked too. As `read_all`."""
    return [section for section in read_all(content, name) if isinstance(section, Section)]


def read_all(content: bytes, name: str) -> list[AnySection]:
    """The sections in `content`, whose origin is not trusted, in their order.

    Raises: RunError: it is no such file; the message names the line.
    """
    try:
        lines = content.decode("ascii").removesuffix("\n").split("\n")
    except UnicodeDecodeError as error:
        raise RunError(name, f"is no file of decisions: byte {error.start} is not ASCII", _REMEDY) from error
    if lines[0] != _FIRST_LINE:
        raise RunError(name, f'is no file of decisions: its first line is not "{_FIRST_LINE}"', _REMEDY)
    sections: dict[tuple[type, str], AnySection] = {}
    decisions: dict[str, Any] = {}
    current: type = type(None)
    left = enumerate(lines[1:], 2)
    for number, line in left:
        word, tab, rest = line.partition("\t")
        if tab and word in (_MODULE, _EVICTIONS):
            section: AnySection
            decisions = {}
            if word == _MODULE:
                section = Section(_unescaped(rest), _otherwise_of(next(left, (number, "")), name), decisions)
            else:
                section = EvictionSection(_unescaped(rest), decisions)
            current = type(section)
            if (current, section.source) in sections:
                where = f"a second time in line {number}"
                raise RunError(name, f"names {word} {section.source!r:.200} {where}", _REMEDY)
            sections[current, section.source] = section
            continue
        parse = _DECISION_OF.get(current)
        if parse is None or (parsed := parse(word, rest)) is None:
            raise RunError(name, f"has no decision in line {number}: {line[:80]!r}", _REMEDY)
        asked, decision = parsed
        if asked in decisions:
            kind = "call site" if current is Section else "live range"
            raise RunError(name, f"decides about a {kind} a second time in line {number}", _REMEDY)
        decisions[asked] = decision
    return list(sections.values())


def _otherwise_of(numbered: tuple[int, str], name: str) -> str:
    number, line = numbered
    if _OTHERWISE_LINE.fullmatch(line) is None:
        raise RunError(name, f"does not say in line {number} what is decided otherwise", _REMEDY)
    return line.removeprefix(_OTHERWISE)


def _inlining_of(word: str, rest: str) -> tuple[str, bool] | None:
    """The call site and the decision of a line; None: it is another line."""
    if word not in _WORDS.values() or rest.count("\t") != _SITE_FIELDS - 1:
        return None
    return rest, word == _WORDS[True]


def _eviction_of(word: str, rest: str) -> tuple[str, str | None] | None:
    """The live range and the decision of a line; None: it is another line."""
    fields = rest.split("\t")
    if word == _SPARE and len(fields) == _LIVE_RANGE_FIELDS:
        return rest, None
    if word == _EVICT and len(fields) == _LIVE_RANGE_FIELDS + 1 and fields[-1]:
        return "\t".join(fields[:-1]), fields[-1]
    return None


_DECISION_OF: Mapping[type, Callable[[str, str], tuple[str, Any] | None]] = {
    Section: _inlining_of,
    EvictionSection: _eviction_of,
}


def _eviction_line(live_range: str, register: str | None) -> str:
    return f"{_SPARE}\t{live_range}" if register is None else f"{_EVICT}\t{live_range}\t{register}"


def _escaped(text: str) -> str:
    """`text` with %XX for each byte that would break the format."""
    return urllib.parse.quote_from_bytes(text.encode("utf-8", "surrogateescape"), _AS_THEY_ARE)


def _unescaped(field: str) -> str:
    """What `_escaped` was given. LLVM's names are bytes; a byte that is no UTF-8 becomes a surrogate."""
    return urllib.parse.unquote_to_bytes(field).decode("utf-8", "surrogateescape")
