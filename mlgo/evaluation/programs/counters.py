"""Counts instructions, loads and stores, with Valgrind's Cachegrind or with a plugin of a target's emulator.

Cachegrind's counts are the same in every run. They depend on the program, its input and, by some hundred instructions
during the start of the C library, on the path of Valgrind's tools, which is in the environment. An instruction that
reads and writes the same memory, such as `inc`, is one load and no store (manual, "Cache simulation specifics"):
compare instructions and data references, the sum of loads and stores.

`Perf` counts events of hardware counters, where the machine has them, and these vary from run to run. Events that the
user chooses (`--perf_events`) are counted, or the command ends before it measures anything; cycles where they can be.
"""

import csv
import dataclasses
import math
import pathlib
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import ClassVar, Protocol

from mlgo.evaluation.programs.program import Program, ProgramRun
from mlgo.evaluation.programs.running import run_program
from mlgo.evaluation.programs.target import Target
from mlgo.identity.programs import program_identity
from mlgo.run import child, locate
from mlgo.run.exit_codes import RunError
from mlgo.run.manifest import digest_of_json

#: Cachegrind's event -> ours (Valgrind manual, "Cachegrind Output File Format"): instruction fetches, data reads, data
#: writes.
_EVENTS = {"Ir": "instructions", "Dr": "loads", "Dw": "stores"}
#: Event of perf -> our name. Instructions have a name of their own, because Cachegrind counts instructions too.
_ALWAYS = {"cycles:u": "cycles", "instructions:u": "perf_instructions"}
#: Names of measures that the user chose begin with it.
CHOSEN = "perf event "
#: An event as `perf list` names it, with or without modifier. A group in braces is none: perf would report it as one.
_EVENT = re.compile(r"[A-Za-z][\w.-]*(?::[a-zA-Z]+)?")
_USER_MODE = ":u"
_SECONDS = 60


class CounterFailure(Exception):
    """The output of a counter is malformed."""


@dataclasses.dataclass(frozen=True)
class Counts:
    """Events in one run."""

    instructions: int
    loads: int
    stores: int


class Counter(Protocol):
    """What counts a program's runs."""

    name: ClassVar[str]  #: in results and messages.

    def digest(self) -> str: ...

    def count(self, program: Program, image: pathlib.Path) -> tuple[dict[str, Counts], dict[str, str]]:
        """(counts, digest of the output), both by run. Raises: RunFailure: of a run; CounterFailure."""
        ...


def parse_cachegrind(text: str) -> Counts:
    """The totals in a Cachegrind output file. Raises: CounterFailure: they are missing, as after a kill."""
    lines = {key: rest.split() for key, colon, rest in (line.partition(":") for line in text.splitlines()) if colon}
    events, summary = lines.get("events"), lines.get("summary")
    if events is None or summary is None:
        raise CounterFailure("Cachegrind's file has no totals")
    try:
        totals = dict(zip(events, map(int, summary), strict=True))
        counts = Counts(**{ours: totals[event] for event, ours in _EVENTS.items()})
    except (KeyError, ValueError) as error:
        raise CounterFailure(f"Cachegrind's file has no totals of {', '.join(_EVENTS)}: {error}") from error
    if min(dataclasses.astuple(counts)) < 0:
        raise CounterFailure(f"Cachegrind's file has negative totals: {counts}")
    return counts


def _counts_of_runs(
    runs: Iterator[tuple[ProgramRun, child.Ended, str]], path: pathlib.Path, parse: Callable[[str], Counts]
) -> tuple[dict[str, Counts], dict[str, str]]:
    """As Counter.count. Args: path: where each of `runs` writes its counts."""
    counts: dict[str, Counts] = {}
    digests: dict[str, str] = {}
    for run, _, digest in runs:
        text = path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
        counts[run.name], digests[run.name] = parse(text), digest
        path.unlink()
    return counts, digests


@dataclasses.dataclass(frozen=True)
class Cachegrind:
    name: ClassVar[str] = "cachegrind"
    valgrind: pathlib.Path
    tools: pathlib.Path | None  #: folder of its tools; None: where it was installed.

    def digest(self) -> str:
        installed = self.valgrind.resolve().parents[1].glob("lib*/valgrind")
        folders = installed if self.tools is None else [self.tools]
        tools = [path for folder in folders for path in sorted(folder.glob("cachegrind-*"))]
        return digest_of_json(list(map(program_identity, [self.valgrind, *tools])))

    def count(self, program: Program, image: pathlib.Path) -> tuple[dict[str, Counts], dict[str, str]]:
        with tempfile.TemporaryDirectory(prefix="mlgo-cachegrind-") as folder:
            path = pathlib.Path(folder, "counts")
            # Loads and stores are counted only with simulated caches.
            options = ("-q", "--tool=cachegrind", "--cache-sim=yes", f"--cachegrind-out-file={path}", "--vgdb=no")
            environment = {} if self.tools is None else {"VALGRIND_LIB": str(self.tools)}
            runs = run_program(program, image, [str(self.valgrind), *options], environment)
            return _counts_of_runs(runs, path, parse_cachegrind)


def cachegrind_from_flags(path: str | None) -> Cachegrind:
    """Valgrind at `path`; None: the packaged one, which needs to be told where its tools are.

    Raises: RunError: there is none, or it cannot be run.
    """
    valgrind = locate.program(path, "--valgrind", "MLGO_VALGRIND").absolute()
    return Cachegrind(valgrind, None if path else valgrind.parents[1] / "libexec" / "valgrind")


def parse_plugin(text: str) -> Counts:
    """The counts in a file of the plugin (mlgo/evaluation/programs/plugin).

    Raises: CounterFailure: it is incomplete, as after a kill, or more than one thread makes it inexact.
    """
    rows = [line.split(" ") for line in text.splitlines()]
    try:
        values = {name: int(value) for name, value in rows}
        threads = values.pop("threads")
        counts = Counts(**values)
    except (KeyError, TypeError, ValueError) as error:
        raise CounterFailure(f"the plugin's file has no counts: {error}") from error
    if min(dataclasses.astuple(counts)) < 0:
        raise CounterFailure(f"the plugin's file has negative counts: {counts}")
    if threads != 1:
        raise CounterFailure(f"the program had {threads} threads, and only those of one thread are counted exactly")
    return counts


@dataclasses.dataclass(frozen=True)
class Emulator:
    name: ClassVar[str] = "qemu"
    target: Target  #: with an emulator and its plugin.

    def digest(self) -> str:
        return self.target.digest()

    def count(self, program: Program, image: pathlib.Path) -> tuple[dict[str, Counts], dict[str, str]]:
        with tempfile.TemporaryDirectory(prefix="mlgo-qemu-") as folder:
            path = pathlib.Path(folder, "counts")
            prefix = [*self.target.emulator, "-plugin", f"{self.target.plugin},out={path}"]
            return _counts_of_runs(run_program(program, image, prefix), path, parse_plugin)


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
        """Measure -> count in the output of `perf stat -x,`. Raises: CounterFailure: a line is malformed."""
        found = {}
        for row in csv.reader(line for line in text.splitlines() if line.strip() and not line.startswith("#")):
            if len(row) > 2 and (row[2] not in self.events or row[0].startswith("<")):
                continue
            try:
                value = float(row[0])
            except ValueError:
                value = math.nan
            if len(row) < 3 or not 0.0 <= value < math.inf:
                raise CounterFailure(f"perf wrote {','.join(row)!r}")
            found[self.events[row[2]]] = value
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
    if found is None and events:
        raise RunError(flag, "needs the program perf, which is not on PATH", "Install it, or leave out the flag")
    if found is None:
        return None
    perf = Perf(pathlib.Path(found), {**_ALWAYS, **chosen})
    counted = perf.counted()
    if missing := [event for event in events if CHOSEN + event not in counted]:
        wrong = f"names {', '.join(missing)}, which perf does not count on this machine"
        remedy = "Leave it out, or measure where `perf list` shows it; most virtual machines have no hardware counters"
        raise RunError(flag, wrong, remedy)
    return perf if "cycles" in counted or events else None
