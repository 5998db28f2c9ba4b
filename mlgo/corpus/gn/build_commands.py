"""What ninja's shell commands compile and link. Pure functions."""

import os
import shlex
from collections.abc import Sequence
from typing import Any

_COMPILERS = ("clang", "clang++")


def compile_entries(lines: Sequence[str], directory: str) -> list[dict[str, Any]]:
    """The compiles among ninja's shell commands as entries of a compilation database, sorted by source."""
    found: dict[str, dict[str, Any]] = {}
    for line in lines:
        words = shlex.split(line)
        if words and os.path.basename(words[0]) in _COMPILERS and "-c" in words[:-1]:
            source = words[words.index("-c") + 1]
            found[source] = {"directory": directory, "file": source, "arguments": words}
    return [found[source] for source in sorted(found)]


def link_words(lines: Sequence[str]) -> list[str]:
    """The words of the last line, which links. A script that starts the driver has the driver's words behind `--`."""
    words = shlex.split(lines[-1]) if lines else []
    return words[words.index("--") + 1 :] if "--" in words else words


def libraries(lines: Sequence[str]) -> list[str]:
    """The library options in the last line, which links."""
    return [word for word in link_words(lines) if word.startswith(("-l", "-L")) or word == "-nostdlib++"]


def explicit_inputs(lines: Sequence[str]) -> dict[str, list[str]]:
    """File -> its explicit inputs, not those behind | and ||, in the order in which `ninja -t query` shows them."""
    return {file: [path for bar, path in found if not bar] for file, found in _inputs(lines).items()}


def all_inputs(lines: Sequence[str]) -> dict[str, list[str]]:
    """File -> all its inputs, as `ninja -t query` shows them: what must be there before it is made."""
    return {file: [path for _, path in found] for file, found in _inputs(lines).items()}


def _inputs(lines: Sequence[str]) -> dict[str, list[tuple[str, str]]]:
    """File -> for each input "", "| " (implicit) or "|| " (order only), and its path."""
    found: dict[str, list[tuple[str, str]]] = {}
    inputs: list[tuple[str, str]] = []
    kind = ""
    for line in lines:
        if not line.startswith(" "):
            inputs = found.setdefault(line.removesuffix(":"), [])
        elif not line.startswith("    "):
            kind = line.strip()
        elif kind.startswith("input:"):
            path = line[4:].removeprefix("|").removeprefix("|").removeprefix(" ")
            inputs.append((line[4:].removesuffix(path), path))
    return found
