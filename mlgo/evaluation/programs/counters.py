"""What a program does while it runs: instructions, loads and stores by Valgrind's Cachegrind, cycles by `perf` where a machine has counters.

Cachegrind's counts are exact: two runs give the same. They depend on the program, its input and, by some hundred instructions while the
C library starts, on the environment that Valgrind gives the program, in which the folder of its tools is named. Perf's vary.

An instruction that reads a place in memory and writes it again, such as `inc`, is one load and no store for Cachegrind (its manual, "Cache
simulation specifics"). So the two alone can move against each other when a counter in memory becomes one in a register, or the other way;
their sum, the data references, and the instructions are what to look at.
"""

import csv
import dataclasses
import math
import pathlib
import tempfile

from mlgo.evaluation.programs import child
from mlgo.evaluation.programs.program import Program
from mlgo.evaluation.programs.running import run_program
from mlgo.run import locate

#: Cachegrind's event -> ours (Valgrind manual, "Cachegrind Output File Format"): instruction fetches, data reads, data writes.
_EVENTS = {"Ir": "instructions", "Dr": "loads", "Dw": "stores"}
_PERF_EVENTS = {"cycles:u": "cycles", "instructions:u": "perf_instructions"}
_PERF_SECONDS = 60


class CounterFailure(Exception):
    """A counter's own output is not what it should be."""


@dataclasses.dataclass(frozen=True)
class Counts:
    """Of one run: how often each happened."""

    instructions: int
    loads: int
    stores: int

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(self.instructions + other.instructions, self.loads + other.loads, self.stores + other.stores)


def parse_cachegrind(text: str) -> Counts:
    """The totals in a Cachegrind output file: the columns of its line "events:" and the numbers of its line "summary:".

    Raises: CounterFailure: they are not there, as when the program was killed.
    """
    lines = {
        key: rest.split() for key, separator, rest in (line.partition(":") for line in text.splitlines()) if separator
    }
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


@dataclasses.dataclass(frozen=True)
class Cachegrind:
    """Counts with Valgrind. Attributes: valgrind: the program; tools: the folder of its tools, None: where it was installed."""

    valgrind: pathlib.Path
    tools: pathlib.Path | None

    def count(self, program: Program, image: pathlib.Path) -> tuple[dict[str, Counts], dict[str, str]]:
        """(counts, digest of what came out), both by run.

        Raises:
          RunFailure: a run fails.
          CounterFailure: Cachegrind did not count.
        """
        counts: dict[str, Counts] = {}
        digests: dict[str, str] = {}
        with tempfile.TemporaryDirectory(prefix="mlgo-cachegrind-") as folder:
            path = pathlib.Path(folder, "counts")
            # The simulated caches are not looked at, but without them loads and stores are not counted.
            prefix = [
                self.valgrind,
                "-q",
                "--tool=cachegrind",
                "--cache-sim=yes",
                f"--cachegrind-out-file={path}",
                "--vgdb=no",
            ]
            environment = {} if self.tools is None else {"VALGRIND_LIB": str(self.tools)}
            for run, _, digest in run_program(program, image, prefix, environment):
                text = path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
                counts[run.name], digests[run.name] = parse_cachegrind(text), digest
                path.unlink()
        return counts, digests


def cachegrind_given(path: str | None) -> Cachegrind:
    """Valgrind at `path`; None: the packaged one, which needs to be told where its tools are.

    Raises: RunError: there is none, or it cannot be run.
    """
    valgrind = locate.program(path, "--valgrind", "MLGO_VALGRIND").absolute()
    return Cachegrind(valgrind, None if path else valgrind.parents[1] / "libexec" / "valgrind")


def parse_perf(text: str) -> dict[str, float]:
    """Event -> count of what `perf stat -x,` wrote; an event that the machine does not have is left out.

    Raises: CounterFailure: there is a line that is none of its.
    """
    found = {}
    for row in csv.reader(line for line in text.splitlines() if line.strip() and not line.startswith("#")):
        if len(row) < 3:
            raise CounterFailure(f"perf wrote {','.join(row)!r}")
        event = next((name for name in _PERF_EVENTS if row[2].startswith(name)), None)
        if event is None or row[0].startswith("<"):
            continue
        try:
            value = float(row[0])
        except ValueError as error:
            raise CounterFailure(f"perf wrote {','.join(row)!r}") from error
        if not math.isfinite(value) or value < 0:
            raise CounterFailure(f"perf wrote {','.join(row)!r}")
        found[_PERF_EVENTS[event]] = value
    return found


def perf_command(perf: pathlib.Path, output: pathlib.Path) -> list[str]:
    """Words before a program's own with which `perf` counts it and writes to `output`."""
    return [str(perf), "stat", "-x", ",", "-e", ",".join(_PERF_EVENTS), "-o", str(output), "--"]


def perf_works(perf: pathlib.Path) -> bool:
    """Whether it gives cycles here: virtual machines often have no counters."""
    with tempfile.TemporaryDirectory(prefix="mlgo-perf-") as folder:
        output = pathlib.Path(folder, "counts")
        try:
            ended = child.run([*perf_command(perf, output), "/bin/true"], pathlib.Path(folder), _PERF_SECONDS)
            return (
                not ended.exit_code and output.exists() and "cycles" in parse_perf(output.read_text(encoding="utf-8"))
            )
        except (child.NotRun, CounterFailure):
            return False
