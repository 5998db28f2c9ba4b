"""Progress of a stage on stderr: a bar on a terminal, otherwise a line every ten seconds to every minute."""

import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterable
from typing import Protocol, TextIO

from mlgo.run.printable import printable, printable_message

#: Minimum time between two lines.
PLAIN_INTERVAL_SECONDS = 10.0
#: After as long without a line, one says that the stage goes on.
SILENT_SECONDS = 60.0


class Progress(Protocol):
    """Reports the progress of a stage."""

    def advance(self, count: int = 1, note: str = "") -> None:
        """Reports `count` more finished units; `note` is a short remark such as the current loss."""

    def close(self) -> None:
        """Ends the report."""


class Silent:
    """Progress that is not shown, for tests."""

    def advance(self, count: int = 1, note: str = "") -> None:
        del count, note

    def close(self) -> None:
        pass


class PlainLines:
    """Progress as lines such as `trace: 40 of 120 modules, 8.1 modules/s, 0:10 left`."""

    def __init__(
        self,
        stage: str,
        total: int,
        unit: str,
        stream: TextIO,
        done: int = 0,
        clock: Callable[[], float] = time.monotonic,
        is_inner: bool = False,
    ):
        """Args: is_inner: of a part of a stage: nothing is printed about a part that ends within ten seconds."""
        self._stage, self._total, self._unit = stage, total, unit
        self._stream, self._clock = stream, clock
        self._first, self._done, self._note = done, done, ""
        self._start = clock()
        self._shown = self._start
        self._lock, self._closed = threading.Lock(), threading.Event()
        self._is_silent = is_inner
        if not is_inner:
            self._print(f"{stage}: {total} {unit}" + (f", resuming after {done}" if done else ""))

    def advance(self, count: int = 1, note: str = "") -> None:
        with self._lock:
            self._done, self._note = self._done + count, note or self._note
            now = self._clock()
            if count and now - self._shown >= PLAIN_INTERVAL_SECONDS and self._done < self._total:
                self._shown, self._is_silent = now, False
                rate = (self._done - self._first) / max(now - self._start, 1e-9)
                left = (self._total - self._done) / rate if rate > 0 else 0.0
                self._print_done(f", {rate:.3g} {self._unit}/s, {format_duration(left)} left")

    def say_alive(self) -> None:
        """Prints a line when there was none for a minute."""
        with self._lock:
            now = self._clock()
            if now - self._shown >= SILENT_SECONDS and not self._closed.is_set():
                self._shown, self._is_silent = now, False
                self._print_done(f" after {format_duration(now - self._start)}")

    def watched(self) -> "PlainLines":
        """Itself, whose `say_alive` a thread calls until it is closed or no longer used."""
        threading.Thread(target=_keep_alive, args=(weakref.ref(self), self._closed), daemon=True).start()
        return self

    def close(self) -> None:
        self._closed.set()
        if not self._is_silent:
            self._print_done(f" in {format_duration(self._clock() - self._start)}")

    def _print_done(self, ending: str) -> None:
        remark = f" ({self._note})" if self._note else ""
        self._print(f"{self._stage}: {self._done} of {self._total} {self._unit}{ending}{remark}")

    def _print(self, line: str) -> None:
        print(printable(line), file=self._stream, flush=True)


def _keep_alive(lines: Callable[[], PlainLines | None], closed: threading.Event) -> None:
    while not closed.wait(SILENT_SECONDS) and (found := lines()) is not None:
        found.say_alive()
        del found


class Bar:
    """Progress as one rich bar."""

    def __init__(self, stage: str, total: int, unit: str, stream: TextIO, done: int = 0):
        # Imported here because rich takes 0.1 s.
        import rich.console
        import rich.progress

        class Rate(rich.progress.ProgressColumn):
            """Units per second."""

            def render(self, task):
                return f"{task.speed or 0:.3g} {unit}/s"

        self._bar = rich.progress.Progress(
            rich.progress.TextColumn("{task.description:>18}"),
            rich.progress.BarColumn(),
            rich.progress.MofNCompleteColumn(),
            Rate(),
            rich.progress.TimeElapsedColumn(),
            rich.progress.TimeRemainingColumn(),
            # Without markup: a note may hold a module's name.
            rich.progress.TextColumn("{task.fields[note]}", markup=False),
            console=rich.console.Console(file=stream),
        )
        self._task = self._bar.add_task(stage, total=total, completed=done, note="")
        self._bar.start()

    def advance(self, count: int = 1, note: str = "") -> None:
        self._bar.update(self._task, advance=count, **({"note": printable(note)} if note else {}))

    def close(self) -> None:
        self._bar.stop()


def start(stage: str, total: int, unit: str, done: int = 0, stream: TextIO | None = None) -> Progress:
    """Progress for `total` units, of which an interrupted run has finished `done`."""
    stream = sys.stderr if stream is None else stream
    if stream.isatty():
        return Bar(stage, total, unit, stream, done)
    return PlainLines(stage, total, unit, stream, done).watched()


def start_inner(stage: str, total: int, unit: str) -> Progress:
    """Progress of a part of a stage, as lines: the stage may have the terminal's bar. A short part prints nothing."""
    return PlainLines(stage, total, unit, sys.stderr, is_inner=True).watched()


def format_duration(seconds: float) -> str:
    """`m:ss` below an hour, else `h:mm:ss`."""
    whole = int(round(seconds))
    hours, minutes, rest = whole // 3600, whole // 60 % 60, whole % 60
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def tell(message: str) -> None:
    """Shows a message to the user, on stderr."""
    print(printable_message(message), file=sys.stderr, flush=True)


def show(lines: Iterable[str]) -> None:
    """Shows lines of a result to the user, on stdout."""
    print("\n".join(map(printable, lines)), flush=True)
