"""The commands of a page of docs/: its indented blocks, in order, as a reader would run them.

A block directly below a line of one word and a colon, such as `CMake:`, is for readers to whom the word applies. All
other blocks are for all readers.
"""

import dataclasses
import re

_BLOCK = re.compile(r"^(?P<before>[^\n]*)\n\n(?P<lines>(?:(?:    [^\n]*)?\n)+)", re.MULTILINE)
_LABEL = re.compile(r"(?P<label>\w+):")
_HEREDOC = re.compile(r"<<'?(?P<end>\w+)'?")


@dataclasses.dataclass(frozen=True)
class Block:
    """One indented block.

    Attributes:
      label: to whom it applies; None: to all readers.
      commands: its commands for a shell, each with its continuation lines and its here-document.
    """

    label: str | None
    commands: tuple[str, ...]


def blocks(text: str) -> list[Block]:
    """The blocks of a page in Markdown.

    Raises: ValueError: a here-document or a continued line has no end.
    """
    found = []
    for block in _BLOCK.finditer(text + "\n"):
        lines = [line[4:] for line in block["lines"].rstrip().split("\n")]
        label = _LABEL.fullmatch(block["before"])
        found.append(Block(label and label["label"], tuple(_commands(lines))))
    return found


def _commands(lines: list[str]) -> list[str]:
    found: list[str] = []
    rest = list(lines)
    while rest:
        command = rest.pop(0)
        if not command.strip():
            continue
        while command.endswith("\\"):
            command += "\n" + _next(rest, command)
        if heredoc := _HEREDOC.search(command):
            while command.rpartition("\n")[2] != heredoc["end"]:
                command += "\n" + _next(rest, command)
        found.append(command)
    return found


def _next(rest: list[str], command: str) -> str:
    if not rest:
        raise ValueError(f"the block ends within the command {command.partition(chr(10))[0]!r}")
    return rest.pop(0)
