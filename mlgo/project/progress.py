"""How far a long step is, in a line at most every ten seconds."""

from __future__ import annotations

import time
from collections.abc import Callable

_INTERVAL_SECONDS = 10.0


class Progress:
    """Says nothing of a step that ends within ten seconds.

    Args:
      say: prints a sentence.
      clock: seconds.
    """

    def __init__(self, say: Callable[[str], None], clock: Callable[[], float] = time.monotonic):
        self._say, self._clock = say, clock
        self._last = clock()

    def at(self, text: str) -> None:
        """Says `text`, unless ten seconds have not passed since the last one."""
        now = self._clock()
        if now - self._last >= _INTERVAL_SECONDS:
            self._last = now
            self._say(text)
