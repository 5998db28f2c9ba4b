"""Gets one archive from several mirrors: one after the other, and from two at once while the first is slow.

The first complete and verified copy wins. Of two running downloads, the one with more time left is ended soon, so that
an archive is not downloaded twice.
"""

import dataclasses
import pathlib
import queue
import threading
import time
from typing import Dict, List, Optional, Sequence

import lockfile
import meter as meter_lib
import pace
import sources
import transfer

# A mirror that was slow or silent this often during one call of `fetch` is not asked again.
STRIKES = 3
_FINAL = (sources.Kind.ABSENT, sources.Kind.DIFFERENT, sources.Kind.REFUSED)


class Mirrors:
    """The mirrors of one call of `fetch`, which downloads several archives at once.

    A mirror that did not answer is not asked again, because a time-out for each archive takes minutes. A slow one
    comes last.
    """

    def __init__(self, bases: Sequence[str], note: meter_lib.Progress):
        self.bases = tuple(bases)
        self._note = note
        self._given_up: Dict[str, sources.Failed] = {}
        self._strikes: Dict[str, int] = dict.fromkeys(bases, 0)
        self._lock = threading.Lock()

    def in_order(self) -> List[str]:
        """All mirrors, those that were never slow first."""
        return sorted(self.bases, key=lambda base: min(self._strikes[base], 1))

    def give_up(self, base: str, failure: sources.Failed) -> None:
        with self._lock:
            if base in self._given_up:
                return
            self._given_up[base] = failure
        self._note(f"{sources.printable(base)}: {failure.reason}; not asked again")

    def why_given_up(self, base: str) -> Optional[sources.Failed]:
        return self._given_up.get(base)

    def was_slow(self, base: str, failure: sources.Failed) -> None:
        with self._lock:
            self._strikes[base] += 1
            often = self._strikes[base] >= STRIKES
        if often:
            self.give_up(base, failure)


class Stopped(Exception):
    """The caller does not want the archive any more."""


@dataclasses.dataclass
class _Runner:
    """A running download and its pace."""

    transfer: transfer.Transfer
    pace: pace.Pace

    def seconds_left(self) -> float:
        return self.pace.seconds_left(self.transfer.have)


class Race:
    """The downloads of one archive.

    Args:
        entry: the archive.
        path: where it is to lie; the partial files lie beside it.
        mirrors: where to get it.
        limits: when a mirror is given up.
        meter: counts the bytes.
        stopped: set when the caller gives up.
        clock: seconds, increasing.
    """

    def __init__(
        self,
        entry: lockfile.Entry,
        path: pathlib.Path,
        mirrors: Mirrors,
        limits: pace.Limits,
        meter: meter_lib.Meter,
        stopped: threading.Event,
        clock=time.monotonic,
    ):
        self._entry, self._mirrors, self._limits, self._meter = entry, mirrors, limits, meter
        self._stopped, self._clock = stopped, clock
        self._partials = [path.with_suffix(".part"), path.with_suffix(".race")]
        self._running: List[_Runner] = []
        self._ended: "queue.Queue[transfer.Transfer]" = queue.Queue()
        #: The last failure of each mirror.
        self.failures: Dict[str, sources.Failed] = {}

    def run(self) -> Optional[pathlib.Path]:
        """The verified file, which has to be moved to its place; None when no mirror serves it (see `failures`).

        Raises:
            OSError: a partial file cannot be written.
            Stopped: `stopped` was set.
        """
        for attempt in range(self._limits.rounds):
            bases = [base for base in self._mirrors.in_order() if self._may_help(base)]
            if not bases:
                break
            if attempt and self._stopped.wait(self._pause(attempt, bases)):
                raise Stopped
            try:
                done = self._round(bases)
            finally:
                for runner in self._running:
                    runner.transfer.abandon()
                self._running = []
            if done:
                return done
        for base, failure in self.failures.items():
            if failure.kind is sources.Kind.SILENT:
                self._mirrors.give_up(base, failure)
        return None

    def remove_partials(self) -> None:
        """Removes what the losers of the race left."""
        for partial in self._partials:
            partial.unlink(missing_ok=True)

    def _may_help(self, base: str) -> bool:
        given_up = self._mirrors.why_given_up(base)
        if given_up:
            self.failures[base] = given_up
            return False
        return base not in self.failures or self.failures[base].kind not in _FINAL

    def _pause(self, attempt: int, bases: Sequence[str]) -> float:
        """Seconds before another round: those that the most patient mirror asks for."""
        asked = min(failure.wait_seconds for base, failure in self.failures.items() if base in bases)
        return min(max(asked, self._limits.pause_seconds * attempt), self._limits.longest_pause_seconds)

    def _round(self, bases: List[str]) -> Optional[pathlib.Path]:
        """Tries each of these mirrors once; returns the verified file."""
        last = self._clock()
        while bases or self._running:
            if bases and self._wants_another():
                base = bases.pop(0)
                if self._may_help(base):
                    self._start(base)
                continue
            ended = self._next_ended()
            now = self._clock()
            seconds, last = now - last, now
            if self._stopped.is_set():
                raise Stopped
            if ended:
                if self._has_won(ended):
                    return ended.partial
            else:
                self._look(seconds)
        return None

    def _wants_another(self) -> bool:
        if len(self._running) == 1:
            runner = self._running[0]
            return runner.pace.is_slow(runner.transfer.have)
        return not self._running

    def _start(self, base: str) -> None:
        used = [runner.transfer.partial for runner in self._running]
        partial = next(path for path in self._partials if path not in used)
        if partial == self._partials[1]:
            # Only the first partial file goes on where an earlier download stopped.
            partial.unlink(missing_ok=True)
        self._running.append(
            _Runner(
                transfer.Transfer(
                    self._entry, base, partial, self._limits.silence_seconds, self._meter.add, self._ended.put
                ),
                pace.Pace(self._limits, self._entry.size),
            )
        )
        self._running[-1].transfer.start()

    def _next_ended(self) -> Optional[transfer.Transfer]:
        try:
            return self._ended.get(timeout=self._limits.look_seconds)
        except queue.Empty:
            return None

    def _has_won(self, ended: transfer.Transfer) -> bool:
        self._running = [runner for runner in self._running if runner.transfer is not ended]
        if ended.error:
            raise ended.error
        if ended.failure:
            self._note_failure(ended, ended.failure)
            return False
        return True

    def _look(self, seconds: float) -> None:
        """Ends downloads that are too slow, and the slower one of two."""
        for runner in list(self._running):
            running = runner.transfer
            reason = runner.pace.look(seconds, running.received, running.waiting)
            if reason:
                self._end_slow(runner, reason)
        if len(self._running) == 2 and self._running[1].pace.age >= self._limits.race_after_seconds:
            first, second = self._running
            # A tie goes to the older one, which has more bytes.
            self._end_slow(first if second.seconds_left() < first.seconds_left() else second, "slower than another")

    def _end_slow(self, runner: _Runner, reason: str) -> None:
        ended = runner.transfer
        ended.abandon()
        self._running.remove(runner)
        kind = sources.Kind.SILENT if ended.received is None else sources.Kind.TEMPORARY
        self._note_failure(ended, sources.TooSlow(kind, reason))

    def _note_failure(self, ended: transfer.Transfer, failure: sources.Failed) -> None:
        self.failures[ended.base] = failure
        if isinstance(failure, sources.TooSlow):
            if failure.kind is sources.Kind.SILENT:
                self._mirrors.give_up(ended.base, failure)
            else:
                self._mirrors.was_slow(ended.base, failure)
