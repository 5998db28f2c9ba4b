"""Runs thousands of iterations over a compiler that costs nothing, and writes what they use into docs/benchmarks.md.

./bazelw run //tests/load:many_iterations                         10,000 iterations each of eviction and inlining
./bazelw run //tests/load:many_iterations -- --iterations=1000
"""

import argparse
import multiprocessing
import pathlib
import sys
from collections.abc import Sequence

from mlgo.compiler.scratch import scratch_directory
from tests.load import page

_SECTION = "iterations"
_PROBLEMS = ("regalloc_eviction", "inlining_for_size")
#: Usages in the table.
_ROWS = 5
_HEADINGS = ("problem", "iteration", "CPU ms each", "memory, MB", "files", "KB on disk", "descriptors", "threads")


def main(arguments: Sequence[str]) -> int:
    """Runs the command; returns its exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--iterations", type=int, default=10_000, help="of each problem")
    parser.add_argument("--remark", default="", help="a sentence about the machine, put before the table")
    flags = parser.parse_args(arguments)
    rows: list[list[str]] = []
    for problem in _PROBLEMS:
        # A process each, which begins without the other's memory.
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            rows += pool.apply(measure, (problem, flags.iterations))
    page.write_section(_SECTION, f"{flags.remark}\n\n{page.table(_HEADINGS, rows)}")
    return 0


def measure(problem: str, iterations: int) -> list[list[str]]:
    """The rows of one problem."""
    # TensorFlow takes seconds to import, and only this process needs it.
    from mlgo.run import determinism  # pylint: disable=import-outside-toplevel
    from tests.load.iterations import ManyIterations  # pylint: disable=import-outside-toplevel

    determinism.configure_tensorflow()
    rows = []
    with scratch_directory() as scratch:
        for usage in ManyIterations(pathlib.Path(scratch), problem, iterations).run(max(1, iterations // _ROWS)):
            rows.append(
                [
                    problem,
                    f"{usage.iterations:,}",
                    f"{1000 * usage.seconds:.0f}",
                    f"{usage.megabytes:.0f}",
                    f"{usage.files:,}",
                    f"{usage.folder_bytes / 1000:,.0f}",
                    f"{usage.descriptors}",
                    f"{usage.threads}",
                ]
            )
            print(" ".join(rows[-1]), file=sys.stderr, flush=True)
    return rows


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
