"""Counts events with `perf` where the machine has hardware counters. The counts vary from run to run.

Without a choice, cycles are counted; most virtual machines have no counters, and then nothing is. Events that the user
chooses by name (`--perf_events`) are counted, or the command ends before it measures anything.
"""

import csv
import dataclasses
import math
import pathlib
import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence

from mlgo.evaluation.programs.counters import CounterFailure
from mlgo.run import child
from mlgo.run.exit_codes import RunError

#: Event -> our name. Instructions have a name of their own, because Cachegrind counts instructions too.
_ALWAYS = {"cycles:u": "cycles", "instructions:u": "perf_instructions"}
#: Names of measures that the user chose begin with it.
CHOSEN = "perf event "
#: An event as `perf list` names it, with or without modifier. A group in braces is none: perf would report it as one.
_EVENT = re.compile(r"[A-Za-z][\w.-]*(?::[a-zA-Z]+)?")
_USER_MODE = ":u"
_SECONDS = 60


@dataclasses.dataclass(frozen=True)
class Perf:
    """The program perf, and `events`: event as perf is asked for it -> measure in results."""

    program: pathlib.Path
    events: Mapping[str, str]

    @property
    def chosen(self) -> dict[str, str]:
        return {event: measure for event, measure in self.events.items() if event not in _ALWAYS}

    def command(self, output: pathlib.Path) -> list[str]:
        """The words before a program's command with which perf counts it and writes to `output`."""
        return [str(self.program), "stat", "-x", ",", "-e", ",".join(self.events), "-o", str(output), "--"]

    def parse(self, text: str) -> dict[str, float]:
        """Measure -> count in what `perf stat -x,` wrote, without absent events. Raises: CounterFailure: a line is
        malformed.
        """
        found = {}
        for row in csv.reader(line for line in text.splitlines() if line.strip() and not line.startswith("#")):
            if len(row) < 3:
                raise CounterFailure(f"perf wrote {','.join(row)!r}")
            measure = self.events.get(row[2])
            if measure is None or row[0].startswith("<"):
                continue
            try:
                value = float(row[0])
            except ValueError as error:
                raise CounterFailure(f"perf wrote {','.join(row)!r}") from error
            if not math.isfinite(value) or value < 0:
                raise CounterFailure(f"perf wrote {','.join(row)!r}")
            found[measure] = value
        return found

    def counted(self) -> set[str]:
        """The measures that perf counts on this machine, of a program that does nothing. Empty: perf does not work."""
        with tempfile.TemporaryDirectory(prefix="mlgo-perf-") as folder:
            output = pathlib.Path(folder, "counts")
            try:
                ended = child.run([*self.command(output), "/bin/true"], pathlib.Path(folder), _SECONDS)
                return set() if ended.exit_code else set(self.parse(output.read_text(encoding="utf-8")))
            except (child.NotRun, CounterFailure, FileNotFoundError):
                return set()


def perf_from_flags(events: Sequence[str], program: str | None = None) -> Perf | None:
    """perf with the events of --perf_events besides cycles; None: none are chosen and cycles cannot be counted.

    Args: events: as `perf list` names them; without modifier they are counted in user mode.
    Raises: RunError: an event has no such name or is given twice, or this machine does not count it.
    """
    flag = f"--perf_events={','.join(events)}"
    chosen: dict[str, str] = {}
    for event in events:
        if not _EVENT.fullmatch(event):
            raise RunError(flag, f"has {event!r}, which is no name of an event", "Give names that `perf list` shows")
        full = event if ":" in event else event + _USER_MODE
        if full in chosen or full in _ALWAYS:
            raise RunError(flag, f"names {event}, which is counted already", "Leave it out")
        chosen[full] = CHOSEN + event
    found = program or shutil.which("perf")
    if found is None:
        if events:
            raise RunError(flag, "needs the program perf, which is not on PATH", "Install it, or leave out the flag")
        return None
    perf = Perf(pathlib.Path(found), {**_ALWAYS, **chosen})
    counted = perf.counted()
    if missing := [event for event in events if CHOSEN + event not in counted]:
        raise RunError(
            flag,
            f"names {', '.join(missing)}, which perf does not count on this machine",
            "Leave it out, or measure where `perf list` shows it; most virtual machines have no hardware counters",
        )
    return perf if "cycles" in counted or events else None
