"""Measures what the project promises about speed and prints a table: name, value, unit, target, held.

    ./bazelw run //tests/benchmarks                        all of them
    ./bazelw run //tests/benchmarks -- --only log_reader   one of them; may be given several times
    ./bazelw run //tests/benchmarks -- --json rows.json    also as a list of objects

Exit code 0: every target held; 12: a measured value missed its target; 1: a benchmark did not run to its end.
"""

import argparse
import dataclasses
import importlib
import json
import sys
import traceback

from mlgo.run import files, locate
from mlgo.run.exit_codes import ExitCode

#: Name for --only -> module, imported only when it runs: some need TensorFlow.
BENCHMARKS = {
    "log_reader": "tests.benchmarks.log_reader",
    "default_trace": "tests.benchmarks.default_trace",
    "collection": "tests.benchmarks.collection",
    "confinement": "tests.benchmarks.confinement",
    "vocabulary": "tests.benchmarks.vocabulary",
    "corpus_open": "tests.benchmarks.corpus_open",
    "training_iteration": "tests.benchmarks.training_iteration",
    "ppo_update": "tests.benchmarks.ppo_update",
    "extraction": "tests.benchmarks.extraction",
    "decision": "tests.benchmarks.decision",
    "embeddings": "tests.benchmarks.embeddings",
    "compile_cost": "tests.benchmarks.compile_cost",
    "huge_functions": "tests.benchmarks.huge_functions",
    "linker_cost": "tests.benchmarks.linker_cost",
    "decision_file": "tests.benchmarks.decision_file",
    "search": "tests.benchmarks.search",
    "release_clang": "tests.benchmarks.release_clang",
    "interactive": "tests.benchmarks.interactive",
    "build_nothing": "tests.benchmarks.build_nothing",
    "fresh_clone": "tests.benchmarks.fresh_clone",
    "from_nothing": "tests.benchmarks.from_nothing",
}

_HEADINGS = ("name", "value", "unit", "target", "held")


def table(rows) -> str:
    """The rows as aligned text, headings first."""
    lines = [_HEADINGS]
    for row in rows:
        target = "" if row.target is None else f"{row.target:,g}"
        held = "" if row.held is None else ("yes" if row.held else "NO")
        lines.append((row.name, _number(row.value), row.unit, target, held))
    widths = [max(len(line[column]) for line in lines) for column in range(len(_HEADINGS))]
    right = (False, True, False, True, False)
    return "\n".join(
        "  ".join(
            cell.rjust(width) if to_right else cell.ljust(width) for cell, width, to_right in zip(line, widths, right)
        ).rstrip()
        for line in lines
    )


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--only", action="append", choices=list(BENCHMARKS), help="run this one (repeatable; default: all)"
    )
    parser.add_argument("--json", metavar="F", help="also write the rows to this file")
    flags = parser.parse_args(arguments)
    rows, broken = [], []
    for name in flags.only or BENCHMARKS:
        print(f"measuring {name} ...", file=sys.stderr, flush=True)
        try:
            rows += importlib.import_module(BENCHMARKS[name]).measure()
        except Exception:  # pylint: disable=broad-exception-caught
            traceback.print_exc()
            broken.append(name)
    print(table(rows))
    if flags.json:
        content = json.dumps([dataclasses.asdict(row) for row in rows], indent=2) + "\n"
        files.write_atomically(locate.user_path(flags.json), content.encode())
    missed = [row.name for row in rows if row.held is False]
    print(
        f"{sum(row.held is True for row in rows)} targets held,"
        f" {len(missed)} missed{': ' * bool(missed)}{', '.join(missed)}"
        f"{f'; did not run: {chr(44).join(broken)}' if broken else ''}",
        file=sys.stderr,
    )
    if broken:
        return ExitCode.INTERNAL_ERROR
    return ExitCode.OUTPUT_DIFFERS if missed else ExitCode.DONE


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
