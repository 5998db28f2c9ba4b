"""Files of decisions on inlining, which compilers read with -mlgo-decisions (llvm/decisions).

The first line names the format. Then each module has a section: a line with the module's source file, a line with what
decides at call sites that are not listed, and a line for each call site that is. No module has two sections, and no
call site is named twice in a section. The compilers' files may have sections of evictions too, which are not read here.

    mlgo-decisions 1
    module  src/lapi.c
    otherwise default
    inline  lua_settop  adjust2reg  lua_settop  0  0
    keep    ...

Tabs separate fields. A call site has five: caller, callee, origin (the function in which the call was written),
ordinal, occurrence. The compiler writes these names, so here they are opaque but for the functions.
"""

import dataclasses
import re
import string
import urllib.parse
from collections.abc import Iterable, Mapping

from mlgo.run.exit_codes import RunError

_FIRST_LINE = "mlgo-decisions 1"
_WORDS = {True: "inline", False: "keep"}
_SITE_FIELDS = 5
_MODULE = "module"
_OTHERWISE = "otherwise "
_BELOW = "cost-below "
#: For Section.otherwise: the compiler's heuristic decides, or the model.
DEFAULT, POLICY = "default", "policy"
_OTHERWISE_LINE = re.compile(rf"{_OTHERWISE}({DEFAULT}|{POLICY}|{_BELOW}-?[0-9]{{1,18}})")
#: Stands for every module in place of a source file.
ANY_MODULE = "*"
_REMEDY = "Make it again with //mlgo:tune"
_AS_THEY_ARE = string.punctuation.replace("%", "")


@dataclasses.dataclass(frozen=True)
class Section:
    """The inlining decisions of one module."""

    source: str  #: its source file, as its bitcode names it, or ANY_MODULE.
    otherwise: str  #: what decides elsewhere: DEFAULT, POLICY or what `otherwise_below` gives.
    decisions: Mapping[str, bool]  #: call site → whether it is inlined.


def otherwise_below(cost_limit: int) -> str:
    """For Section.otherwise: a call is inlined if LLVM's estimate of its cost is lower than `cost_limit`."""
    return f"{_BELOW}{cost_limit}"


def caller_of(call_site: str) -> str:
    """The function in which the call stands, as symbol tables have it."""
    return _unescaped(call_site.split("\t", 1)[0])


def callee_of(call_site: str) -> str:
    """The function that is called, as symbol tables have it."""
    return _unescaped(call_site.split("\t", 2)[1])


def place_of(call_site: str) -> str:
    """The call site without its occurrence: the compiler may ask about one call several times."""
    return call_site.rsplit("\t", 1)[0]


def written(sections: Iterable[Section]) -> bytes:
    """The content of a file with `sections`. Equal sections give equal bytes."""
    lines = [_FIRST_LINE]
    for section in sections:
        source = section.source if section.source == ANY_MODULE else _escaped(section.source)
        lines += [f"{_MODULE}\t{source}", f"{_OTHERWISE}{section.otherwise}"]
        lines += [f"{_WORDS[section.decisions[site]]}\t{site}" for site in sorted(section.decisions)]
    return "".join(f"{line}\n" for line in lines).encode("ascii")


def read(content: bytes, name: str) -> list[Section]:
    """The sections in `content`, whose origin is not trusted, in their order.

    Raises: RunError: it is no such file; the message names the line.
    """
    try:
        lines = content.decode("ascii").removesuffix("\n").split("\n")
    except UnicodeDecodeError as error:
        raise RunError(name, f"is no file of decisions: byte {error.start} is not ASCII", _REMEDY) from error
    if lines[0] != _FIRST_LINE:
        raise RunError(name, f'is no file of decisions: its first line is not "{_FIRST_LINE}"', _REMEDY)
    sections: dict[str, Section] = {}
    decisions: dict[str, bool] | None = None
    left = enumerate(lines[1:], 2)
    for number, line in left:
        word, tab, rest = line.partition("\t")
        if tab and word == _MODULE:
            decisions = {}
            section = Section(_unescaped(rest), _otherwise_of(next(left, (number, "")), name), decisions)
            if section.source in sections:
                raise RunError(name, f"names module {section.source!r:.200} a second time in line {number}", _REMEDY)
            sections[section.source] = section
            continue
        if decisions is None or word not in _WORDS.values() or rest.count("\t") != _SITE_FIELDS - 1:
            raise RunError(name, f"has no decision in line {number}: {line[:80]!r}", _REMEDY)
        if rest in decisions:
            raise RunError(name, f"decides about a call site a second time in line {number}", _REMEDY)
        decisions[rest] = word == _WORDS[True]
    return list(sections.values())


def _otherwise_of(numbered: tuple[int, str], name: str) -> str:
    number, line = numbered
    if _OTHERWISE_LINE.fullmatch(line) is None:
        raise RunError(name, f"does not say in line {number} what is decided otherwise", _REMEDY)
    return line.removeprefix(_OTHERWISE)


def _escaped(text: str) -> str:
    """`text` with %XX for each byte that would break the format."""
    return urllib.parse.quote_from_bytes(text.encode("utf-8", "surrogateescape"), _AS_THEY_ARE)


def _unescaped(field: str) -> str:
    """What `_escaped` was given. LLVM's names are bytes; a byte that is no UTF-8 becomes a surrogate."""
    return urllib.parse.unquote_to_bytes(field).decode("utf-8", "surrogateescape")
