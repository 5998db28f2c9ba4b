"""Makes new inputs out of known ones: damaged bytes, and JSON values of the wrong kind."""

import json
import random
from collections.abc import Sequence
from typing import Any

#: Lengths, counts and offsets at which parsers go wrong.
_NUMBERS = (
    0,
    1,
    2,
    3,
    7,
    8,
    16,
    24,
    40,
    64,
    127,
    128,
    255,
    256,
    0x7FFF,
    0xFF00,
    0xFFFF,
    0x10000,
    0x7FFFFFFF,
    0x80000000,
)
_NUMBER_BYTES = (1, 2, 4, 8)
_MOST_CHANGES = 4
#: Longest run of bytes that one change removes, repeats or copies.
_PIECE_BYTES = 64

#: Stand in the place of any value of a JSON document. The text is what `json.dumps` does not write.
_JSON_VALUES: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    1.5,
    2**63,
    10**400,
    float("nan"),
    float("inf"),
    "",
    "x",
    "../x",
    "/x",
    "a\0b",
    "\ud800",
    "\u202e\x1b[31m",
    [],
    [None],
    [[]],
    {},
    {"": None},
)


def mutated(pool: Sequence[bytes], words: Sequence[bytes], source: random.Random, max_bytes: int) -> bytes:
    """A damaged copy of one of `pool`.

    Args:
      pool: at least one input.
      words: what the format is written with, such as magic numbers and keywords.
      max_bytes: of the result.
    """
    content = source.choice(pool)
    if content[:1] in (b"{", b"[") and source.random() < 0.7:
        damaged = _mutated_json(content, source)
        if damaged is not None:
            return damaged[:max_bytes]
    changed = bytearray(content)
    for _ in range(source.randint(1, _MOST_CHANGES)):
        source.choice(_CHANGES)(changed, pool, words, source)
    return bytes(changed[:max_bytes])


def _place(changed: bytearray, source: random.Random) -> int:
    return source.randint(0, len(changed))


def _flip(changed: bytearray, pool: Sequence[bytes], words: Sequence[bytes], source: random.Random) -> None:
    del pool, words
    if changed:
        changed[source.randrange(len(changed))] ^= 1 << source.randrange(8)


def _number(changed: bytearray, pool: Sequence[bytes], words: Sequence[bytes], source: random.Random) -> None:
    """Overwrites with a number, a little above or below a notable one, in either byte order."""
    del pool, words
    count, place = source.choice(_NUMBER_BYTES), _place(changed, source)
    value = source.choice((*_NUMBERS, len(changed), place)) + source.randint(-1, 1)
    order = source.choice(("little", "big"))
    changed[place : place + count] = (value % 256**count).to_bytes(count, order)


def _digits(changed: bytearray, pool: Sequence[bytes], words: Sequence[bytes], source: random.Random) -> None:
    """Overwrites with a number as text."""
    del pool, words
    text = str(source.choice((*_NUMBERS, -1, 10**30))).encode("ascii")
    place = _place(changed, source)
    changed[place : place + source.choice((0, len(text)))] = text


def _remove(changed: bytearray, pool: Sequence[bytes], words: Sequence[bytes], source: random.Random) -> None:
    del pool, words
    place = _place(changed, source)
    del changed[place : place + source.randint(1, _PIECE_BYTES)]


def _cut(changed: bytearray, pool: Sequence[bytes], words: Sequence[bytes], source: random.Random) -> None:
    del pool, words
    del changed[_place(changed, source) :]


def _repeat(changed: bytearray, pool: Sequence[bytes], words: Sequence[bytes], source: random.Random) -> None:
    del pool, words
    place = _place(changed, source)
    piece = changed[place : place + source.randint(1, _PIECE_BYTES)]
    changed[place:place] = piece * source.choice((1, 1, 2, 20))


def _move(changed: bytearray, pool: Sequence[bytes], words: Sequence[bytes], source: random.Random) -> None:
    """Overwrites with a piece of another input."""
    del words
    other, place = source.choice(pool), _place(changed, source)
    start = source.randint(0, len(other))
    piece = other[start : start + source.randint(1, _PIECE_BYTES)]
    changed[place : place + source.choice((0, len(piece)))] = piece


def _word(changed: bytearray, pool: Sequence[bytes], words: Sequence[bytes], source: random.Random) -> None:
    if not words:
        _move(changed, pool, words, source)
        return
    word, place = source.choice(words), _place(changed, source)
    changed[place : place + source.choice((0, len(word)))] = word


_CHANGES = (_flip, _flip, _number, _number, _digits, _remove, _cut, _repeat, _move, _word, _word)


def _mutated_json(content: bytes, source: random.Random) -> bytes | None:
    """The document with one or two values replaced, removed or named otherwise; None: it is no JSON."""
    try:
        document = json.loads(content)
        for _ in range(source.randint(1, 2)):
            document = _with_change(document, source)
        return json.dumps(document).encode("utf-8", "surrogatepass")
    except (ValueError, RecursionError):
        return None


def _with_change(document: Any, source: random.Random) -> Any:
    places = list(_places(document))
    if not places:
        return source.choice(_JSON_VALUES)
    container, key = source.choice(places)
    change = source.randrange(4)
    if change == 0:
        del container[key]
    elif change == 1:
        other, name = source.choice(places)
        # A copy: a document that holds itself has no text.
        container[key] = json.loads(json.dumps(other[name]))
    elif change == 2 and isinstance(container[key], int | float):
        container[key] = container[key] * source.choice((-1, 2, 1000)) + source.choice((-1, 0, 1))
    else:
        container[key] = source.choice(_JSON_VALUES)
    return document


def _places(document: Any):
    """(container, key) of each value below the top."""
    if isinstance(document, dict | list):
        for key in list(document) if isinstance(document, dict) else range(len(document)):
            yield document, key
            yield from _places(document[key])
