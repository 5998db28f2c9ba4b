"""CPU time that a command may spend on compiles and links."""

from __future__ import annotations

import threading
from typing import NamedTuple

#: For a program whose compiles were not measured.
_FEWEST_SECONDS = 1.0


class Allowance(NamedTuple):
    """What a command may spend: so many times the CPU time of a build, and at least so many seconds."""

    times: float
    seconds: float = 0.0

    def of(self, build_seconds: float) -> float:
        """CPU seconds."""
        return max(self.times * max(build_seconds, _FEWEST_SECONDS), self.seconds)


class Budget:
    """Safe for several threads.

    Args: seconds: CPU seconds in all.
    """

    def __init__(self, seconds: float):
        self.seconds = seconds
        self.spent = 0.0
        self._reserved = 0.0
        self._lock = threading.Lock()

    @property
    def left(self) -> float:
        return max(0.0, self.seconds - self.spent - self._reserved)

    def reserve(self, seconds: float) -> bool:
        """Keeps so many seconds for work that begins now; False: they are not left."""
        with self._lock:
            if self.spent + self._reserved + seconds > self.seconds:
                return False
            self._reserved += seconds
            return True

    def settle(self, reserved: float, seconds: float) -> None:
        """The work for which `reserved` seconds were kept has taken `seconds`."""
        with self._lock:
            self._reserved -= reserved
            self.spent += seconds
