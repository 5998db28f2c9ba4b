"""How slow a download may be, and when a second mirror is asked for the same archive."""

import collections
import dataclasses
from typing import Deque, Optional, Tuple

#: Longest step of time that counts between two looks at a download. A machine that was stopped or overloaded for a
#: minute was silent itself; its mirrors were not.
LONGEST_STEP_SECONDS = 1.0


@dataclasses.dataclass(frozen=True)
class Limits:
    """When a mirror is given up.

    Attributes:
        silence_seconds: time without any byte, from the connection to the last byte.
        window_seconds: time over which the rate is measured.
        least_rate: bytes per second. Over 64 kbit/s, the slowest line that counts, each of four downloads gets 2,000.
        race_bytes: an archive of this size is asked for from a second mirror when the first is slow. Two downloads of
            smaller archives take longer to set up than they save.
        race_after_seconds: the age at which a download is judged.
        race_left_seconds: a download with more time left than this is slow.
        rounds: how often all mirrors are tried for an archive.
        pause_seconds: time before the second round; before the third, twice as long.
        longest_pause_seconds: the longest pause that a mirror can ask for (Retry-After).
        look_seconds: time between two looks at running downloads.
    """

    silence_seconds: float = 20
    window_seconds: float = 30
    least_rate: float = 2000
    race_bytes: int = 8_000_000
    race_after_seconds: float = 10
    race_left_seconds: float = 30
    rounds: int = 3
    pause_seconds: float = 1
    longest_pause_seconds: float = 30
    look_seconds: float = 0.2


class Pace:
    """The rate of one download, from what a caller sees of it now and then.

    Args:
        limits: when it is too slow.
        size: bytes of the whole file.
    """

    def __init__(self, limits: Limits, size: int):
        self._limits, self._size = limits, size
        self._now = self._heard = 0.0
        self._received = 0
        # (time, bytes received), the oldest at least window_seconds old once the download is.
        self._samples: Deque[Tuple[float, int]] = collections.deque()

    @property
    def age(self) -> float:
        """Seconds that were seen."""
        return self._now

    def look(self, seconds: float, received: Optional[int], waiting: bool = True) -> Optional[str]:
        """Notes the state of the download; returns why it is to be given up, or None.

        Args:
            seconds: time since the last look.
            received: bytes since it began; None before the mirror's answer.
            waiting: it waits for the mirror, and not for this machine's disk.
        """
        self._now += min(seconds, LONGEST_STEP_SECONDS)
        if not waiting or (received is not None and (received != self._received or not self._samples)):
            self._heard = self._now
        if received is not None:
            self._received = received
            self._samples.append((self._now, received))
            while len(self._samples) > 1 and self._samples[1][0] <= self._now - self._limits.window_seconds:
                self._samples.popleft()
        if self._now - self._heard >= self._limits.silence_seconds:
            return f"silent for {self._limits.silence_seconds:g} s"
        if not waiting or not self._samples or self._span() < self._limits.window_seconds:
            return None
        if self.rate() < self._limits.least_rate:
            return f"slower than {self._limits.least_rate / 1000:g} kB/s"
        return None

    def rate(self) -> float:
        """Bytes per second over the last window; 0 before the answer."""
        return (self._received - self._samples[0][1]) / self._span() if self._samples and self._span() else 0.0

    def seconds_left(self, received: int) -> float:
        """Time to the end of the file at this rate.

        Args:
            received: bytes that are there, those of earlier downloads included.
        """
        return (self._size - received) / self.rate() if self.rate() else float("inf")

    def is_slow(self, received: int) -> bool:
        """Whether a second mirror is worth asking."""
        return (
            self._size >= self._limits.race_bytes
            and self._now >= self._limits.race_after_seconds
            and self.seconds_left(received) > self._limits.race_left_seconds
        )

    def _span(self) -> float:
        return self._now - self._samples[0][0]
