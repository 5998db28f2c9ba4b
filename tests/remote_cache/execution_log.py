"""Reads what --execution_log_json_file writes: one JSON object for each action that ran something or took it from a
cache.
"""

import dataclasses
import json
import pathlib
from collections.abc import Iterable, Iterator


@dataclasses.dataclass(frozen=True)
class Spawn:
    """Attributes:
    mnemonic: kind of action, such as CppCompile.
    label: the target it belongs to.
    output: the first file it makes.
    runner: who did it, such as "linux-sandbox" or "remote cache hit".
    cached: whether the result came from a cache.
    """

    mnemonic: str
    label: str
    output: str
    runner: str
    cached: bool

    def __str__(self):
        return f"{self.mnemonic} {self.label} -> {self.output} ({self.runner})"


def read(path: pathlib.Path) -> list[Spawn]:
    """Every spawn of a log.

    Raises: ValueError: the file is no such log.
    """
    with open(path, encoding="utf-8") as lines:
        return [_spawn(json.loads(text)) for text in _objects(lines)]


def _objects(lines: Iterable[str]) -> Iterator[str]:
    """The text of each object: they follow each other without a separator, each opened and closed at the start of a
    line.
    """
    text: list[str] = []
    for line in lines:
        if line.startswith("}"):
            yield "".join(text) + "}"
            text = [line[1:]]
        else:
            text.append(line)
    if "".join(text).strip():
        raise ValueError(f"execution log: ends within an object: {''.join(text)[:100]!r}")


def _spawn(fields: dict) -> Spawn:
    outputs = fields.get("listedOutputs") or ["nothing"]
    return Spawn(
        fields.get("mnemonic", ""),
        fields.get("targetLabel", ""),
        outputs[0],
        fields["runner"],
        fields.get("cacheHit", False),
    )
