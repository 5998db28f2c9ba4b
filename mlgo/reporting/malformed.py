"""Turns what malformed results cause, while they are read or shown, into one sentence."""

import contextlib
from collections.abc import Iterator

from mlgo.run.exit_codes import RunError

#: What Python raises where a value has another type or size than this version writes.
_CAUSED = (AttributeError, KeyError, TypeError, ValueError, IndexError, ArithmeticError, RecursionError)


@contextlib.contextmanager
def readable(subject: str) -> Iterator[None]:
    """Turns errors of malformed content into a RunError about `subject`, such as "training run (out/inlining)"."""
    try:
        yield
    except _CAUSED as error:
        says = f"lacks {error}" if isinstance(error, KeyError) else f"is not one that this version writes: {error}"
        remedy = "Run the command that wrote it again, or use the version that wrote it"
        raise RunError(subject, says, remedy) from error
