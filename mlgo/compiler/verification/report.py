"""The result of a verification as JSON and as text."""

import json
import pathlib
import subprocess
from collections.abc import Iterator
from typing import Any

from mlgo.compiler.verification.comparison import Reason
from mlgo.compiler.verification.verify import Verification
from mlgo.corpus.corpus import Corpus, CorpusError

_SHOWN, _SHOWN_NAMES = 20, 3


def to_json(corpus: Corpus, clang: pathlib.Path, found: Verification, with_originals: bool) -> dict[str, Any]:
    """The report. It depends neither on the machine nor on the corpus's folder.

    Args: with_originals: whether the original build's objects were compared.
    """
    version = subprocess.run([clang, "--version"], capture_output=True, text=True, errors="replace", check=False)
    return {
        "clang": version.stdout.partition("\n")[0],
        "compared_with": "original objects" if with_originals else "the corpus where it lies",
        "corpus_digest": _digest(corpus),
        "different": {
            name: {"reason": why.reason.value, "detail": why.detail} for name, why in found.different.items()
        },
        "local_names": {name: why.detail for name, why in found.local_names.items()},
        "reasons": _counts(found),
        "same": list(found.same),
    }


def _digest(corpus: Corpus) -> str | None:
    """None: a file of a module cannot be read, as the report says of that module."""
    try:
        return corpus.digest
    except CorpusError:
        return None


def lines(found: Verification, with_originals: bool) -> Iterator[str]:
    """The first differences and a summary."""
    for name, why in list(found.different.items())[:_SHOWN]:
        yield f"{json.dumps(name, ensure_ascii=False)}: {why.reason.value}: {why.detail}"
    if len(found.different) > _SHOWN:
        yield f"and {len(found.different) - _SHOWN} more; --json=FILE has them all"
    for name, why in list(found.local_names.items())[:_SHOWN_NAMES]:
        yield f"{json.dumps(name, ensure_ascii=False)}: {why.detail}"
    total = len(found.same) + len(found.different)
    against = "the original objects" if with_originals else "themselves before the move"
    failed = ", ".join(f"{count} {reason}" for reason, count in _counts(found).items())
    renamed = f" ({len(found.local_names)} but for local names, which no linker reads)" if found.local_names else ""
    same = f"done {len(found.same)} of {total} the same as {against}{renamed}"
    yield same + (f", different: {failed}" if failed else "")


def _counts(found: Verification) -> dict[str, int]:
    return {reason.value: found.count(reason) for reason in Reason if found.count(reason)}
