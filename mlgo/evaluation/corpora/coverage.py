"""Which modules a linked image holds code of. A measure of the image says nothing about the others."""

import dataclasses
import pathlib
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from mlgo.corpus import elf
from mlgo.run.exit_codes import RunError
from mlgo.run.printable import printable

_SHOWN = 20


@dataclasses.dataclass(frozen=True)
class Coverage:
    """The modules of an image."""

    modules: int
    without_code: Sequence[str]  #: names of those whose objects have no code, sorted.
    #: names of those that have code, of which no image holds any, sorted -> bytes of code in the object.
    absent: Mapping[str, int]
    #: symbol that several modules define -> their names, sorted. An image has the first definition.
    defined_twice: Mapping[str, Sequence[str]] = dataclasses.field(default_factory=dict)

    @property
    def with_code(self) -> int:
        return self.modules - len(self.without_code)

    @property
    def in_image(self) -> int:
        """How many modules the image holds code of."""
        return self.with_code - len(self.absent)

    def to_json(self) -> dict[str, Any]:
        return {**dataclasses.asdict(self), "with_code": self.with_code, "in_image": self.in_image}

    def lines(self, what: str) -> list[str]:
        """Sentences that name the modules without code in the image. Args: what: is linked."""
        found = []
        if self.absent:
            found.append(
                f"{what}: the linked image holds code of {self.in_image:,} of {self.with_code:,} modules with code, and"
                f" says nothing about the others, which nothing references or whose symbols another module defines:"
                f" {_named(list(self.absent))}"
            )
        if self.without_code:
            found.append(f"{what}: modules without code: {_named(self.without_code)}")
        if self.defined_twice:
            symbols = [f"{symbol} ({', '.join(names)})" for symbol, names in self.defined_twice.items()]
            found.append(
                f"{what}: {len(symbols):,} symbols are defined by more than one module, and the image has the first"
                f" definition of each alone: {_named(symbols)}"
            )
        return found

    def check(self, what: str) -> None:
        """Raises: RunError: the image holds code of fewer than half of the modules that have code."""
        if 2 * self.in_image >= self.with_code:
            return
        wrong = (
            f"holds code of only {self.in_image:,} of {self.with_code:,} modules with code; not of"
            f" {_named(list(self.absent))}: nothing references them, as with -fvisibility=hidden, or another module"
            " defines the same symbols"
        )
        remedy = (
            "Give a corpus of one program or library, whose modules reference each other or export what they define"
        )
        raise RunError(f"linked image of {what}", wrong, remedy)


def coverage_of(
    code: Mapping[str, int],
    images: Sequence[Mapping[str, int]],
    objects: Mapping[str, pathlib.Path] = MappingProxyType({}),
) -> Coverage:
    """The coverage of images of the same modules.

    Args: images: each module -> bytes of its code in it; objects: module -> its object, in which symbols that others
      define too are looked for.
    """
    outside = {name for name in code if not any(image.get(name) for image in images)}
    without = sorted(name for name in outside if not code[name])
    return Coverage(len(code), without, {name: code[name] for name in sorted(outside) if code[name]}, _twice(objects))


def _twice(objects: Mapping[str, pathlib.Path]) -> dict[str, list[str]]:
    """Symbol -> the modules that define it, of symbols that a linker takes once and several define."""
    definers: dict[str, list[str]] = {}
    for name, path in sorted(objects.items()):
        for symbol in elf.strong_definitions(path.read_bytes()):
            definers.setdefault(symbol, []).append(name)
    return {symbol: names for symbol, names in sorted(definers.items()) if len(names) > 1}


def _named(names: Sequence[str]) -> str:
    shown = [printable(name) for name in names[:_SHOWN]]
    more = f" and {len(names) - _SHOWN:,} more, see result.json" if len(names) > _SHOWN else ""
    return ", ".join(shown) + more
