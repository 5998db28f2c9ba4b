"""Runs a function and counts the lines it executes: a measure of time that no other program's load changes."""

import signal
import sys
from collections.abc import Callable

#: For what executes no line of Python, such as a regular expression. Normal inputs take milliseconds.
_CPU_SECONDS = 20.0


class TooManySteps(BaseException):
    """The limit was reached. No subclass of Exception, so that no parser handles it."""


class StepCounter:
    """Counts lines in files below certain folders.

    Attributes: seen: the pairs of lines that followed each other in any run so far.
    """

    def __init__(self, folders: tuple[str, ...], limit: int):
        """Args: folders: parts of file names: "/mlgo/"; limit: lines that one run may execute."""
        self._folders = folders
        self._limit = limit
        self._is_traced: dict[object, bool] = {}
        self._steps = 0
        self._previous: tuple[int, int] = (0, 0)
        self._pairs: set[tuple[tuple[int, int], tuple[int, int]]] = set()
        self.seen: set[tuple[tuple[int, int], tuple[int, int]]] = set()
        signal.signal(signal.SIGVTALRM, self._out_of_time)

    def run(self, function: Callable[[bytes], object], content: bytes) -> None:
        """Calls `function` with `content`. Raises: what it raises, and TooManySteps."""
        self._steps, self._previous = 0, (0, 0)
        self._pairs.clear()
        signal.setitimer(signal.ITIMER_VIRTUAL, _CPU_SECONDS)
        sys.settrace(self._call)
        try:
            function(content)
        finally:
            sys.settrace(None)
            signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)

    def found_new(self) -> bool:
        """Whether the last run executed something that no run before it did."""
        new = not self._pairs <= self.seen
        self.seen |= self._pairs
        return new

    def _call(self, frame, event, argument):
        del event, argument
        code = frame.f_code
        if code not in self._is_traced:
            self._is_traced[code] = any(folder in f"/{code.co_filename}" for folder in self._folders)
        return self._line if self._is_traced[code] else None

    def _line(self, frame, event, argument):
        del argument
        if event == "line":
            self._steps += 1
            place = (id(frame.f_code), frame.f_lineno)
            self._pairs.add((self._previous, place))
            self._previous = place
            if self._steps > self._limit:
                raise TooManySteps(f"more than {self._limit} lines of Python were executed")
        return self._line

    def _out_of_time(self, number, frame):
        del number, frame
        raise TooManySteps(f"more than {_CPU_SECONDS} CPU seconds were used")
