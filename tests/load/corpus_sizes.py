"""Measures every stage on corpora of several sizes, and writes the table into docs/benchmarks.md.

    ./bazelw run //tests/load:corpus_sizes                                    100, 1,000, 10,000 and 25,000 modules
    ./bazelw run //tests/load:corpus_sizes -- --sizes=100,1000 --scratch=/data --interruptions=0

Corpora are small real modules, repeated under other names and compiled by //development:clang with its compile server.
At the largest size a second training run is killed at random moments, resumed, and compared with the first.

Exit codes: 0 done, 12 the run that was killed differs from the other.
"""

import argparse
import pathlib
import sys
import tempfile
from collections.abc import Sequence

from mlgo.run import locate
from mlgo.run.exit_codes import ExitCode
from tests.load import page
from tests.load.copies import write_copies
from tests.load.program import Cost
from tests.load.stages import Stages

_SECTION = "corpus sizes"


def main(arguments: Sequence[str]) -> int:
    """Runs the command; returns its exit code."""
    flags = _flags(arguments)
    sizes = [int(size) for size in flags.sizes.split(",")]
    columns: list[dict[str, str]] = []
    sentence = ""
    differing: list[str] = []
    for size in sizes:
        with tempfile.TemporaryDirectory(prefix="mlgo-load-", dir=flags.scratch) as scratch:
            stages = Stages(pathlib.Path(scratch), locate.runfile("development/clang"))
            write_copies(locate.runfile("mlgo/corpus/lua"), pathlib.Path(scratch, "corpus"), size)
            column, seconds = {}, 0.0
            for name, cost in stages.costs():
                column[name] = shown(cost)
                if isinstance(cost, Cost) and "train_regalloc" in name:
                    seconds = cost.seconds
                print(f"{size} modules: {name}: {column[name]}", file=sys.stderr, flush=True)
            count, total = stages.files_and_bytes()
            column["files of the training run; bytes per module"] = f"{count:,}; {total / size:,.0f}"
            columns.append(column)
            if size == sizes[-1] and flags.interruptions:
                kills, differing = stages.interrupted(flags.interruptions, seconds)
                sentence = _sentence(size, kills, differing)
                print(sentence, file=sys.stderr)
    rows = [[name, *(column.get(name, "") for column in columns)] for name in columns[-1]]
    table = page.table(["seconds; MB", *(f"{size:,}" for size in sizes)], rows)
    page.write_section(_SECTION, f"{flags.remark}\n\n{table}\n\n{sentence}")
    return ExitCode.OUTPUT_DIFFERS if differing else ExitCode.DONE


def shown(cost: Cost | float) -> str:
    """A cell: seconds, and megabytes if they are known."""
    if isinstance(cost, Cost):
        return f"{cost.seconds:,.1f}; {cost.megabytes:,.0f}"
    return f"{cost:,.1f}"


def _sentence(size: int, kills: int, differing: Sequence[str]) -> str:
    result = "no file differs from the run left alone" if not differing else f"these files differ: {differing}"
    return f"A training run over {size:,} modules, killed {kills} times at random moments and resumed: {result}."


def _flags(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="100,1000,10000,25000", help="modules of each corpus, ascending")
    parser.add_argument("--interruptions", type=int, default=10, help="kills of the second run; 0: no second run")
    parser.add_argument("--scratch", help="folder for corpora and results (default: the system's temporary one)")
    parser.add_argument("--remark", default="", help="a sentence about the machine, put before the table")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
