"""Whether a build may take newer packages than the pinned ones: after --config=newest_packages or yes at a terminal."""

import contextlib
import hashlib
import os
import pathlib
from typing import Callable, Dict, Mapping, Sequence

#: Read by third_party/debian/extensions.bzl; .bazelrc sets it for the config.
VARIABLE = "MLGO_NEWEST_PACKAGES"
#: Changes with the archives that are gone, so that the extension looks again in a Bazel server that is running.
GONE_VARIABLE = "MLGO_GONE_ARCHIVES"
CONFIG = "--config=newest_packages"
_COMMANDS = ("build", "run", "test", "coverage")


def gone(archives: pathlib.Path) -> Dict[pathlib.Path, str]:
    """Notes of earlier builds on pinned archives that no place had and that are still missing: note -> name, version.

    Args:
        archives: the archive cache, see third_party/debian/places.py.
    """
    found = {}
    with contextlib.suppress(OSError):
        for note in sorted((archives / "gone").iterdir()):
            if not (archives / note.name).exists():
                found[note] = note.read_text(encoding="utf-8").strip()
    return found


def with_gone(environ: Mapping[str, str], archives: pathlib.Path) -> Dict[str, str]:
    """`environ` with the variable that names the archives that earlier builds found nowhere."""
    names = "".join(note.name for note in gone(archives))
    return dict(environ, **({GONE_VARIABLE: hashlib.sha256(names.encode()).hexdigest()[:16]} if names else {}))


def ask(
    arguments: Sequence[str],
    environ: Mapping[str, str],
    archives: pathlib.Path,
    is_terminal: bool,
    read: Callable[[str], str],
) -> bool:
    """Whether the user says at the terminal that newer packages may take the place of those that are gone.

    Each note is asked about once; another build that misses the archive makes a new one.

    Args:
        arguments: the words for Bazel.
        is_terminal: whether a user can be asked.
        read: shows a question and returns the answer.
    """
    words = arguments[: arguments.index("--")] if "--" in arguments else arguments
    if not is_terminal or environ.get(VARIABLE) or CONFIG in words or not any(word in _COMMANDS for word in words):
        return False
    notes = gone(archives)
    if not notes:
        return False
    names = ", ".join(list(notes.values())[:3]) + (", ..." if len(notes) > 3 else "")
    said = read(
        f"bazelw: the last build found {len(notes)} pinned archives nowhere ({names}). Take the newest version of the "
        "same packages and major version instead? The build is then no longer the pinned one. [y/N] "
    )
    for note in notes:
        with contextlib.suppress(OSError):
            os.unlink(note)
    return said.strip().lower() in ("y", "yes")
