"""LLVM's own test inputs of all code generators, checked by `eviction_agreement.py`.

    ./bazelw run //tests/compilers:codegen_inputs -- --sample=2000
    ./bazelw run --config=checked_advisors //tests/compilers:codegen_inputs     # with assertions in the advisors

Each input is compiled for the target that its first RUN line names. Those that llc does not compile by itself, or
without register allocation, are counted and left out. Prints each failure with the name of its input, and a line at the
end. Exit code 1 after a failure.
"""

import argparse
import concurrent.futures
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

from mlgo.compiler.training_log import TrainingLogError
from mlgo.run.locate import rlocation
from tests.compilers.eviction_agreement import LLC, check_agreement, compiled

_RUN = re.compile(r"^; *RUN: *(?:%\S+ +)*llc\b(.*)$", re.MULTILINE)
_TARGET = re.compile(r"(?<!\S)--?(?:mtriple|march|mcpu|mattr)(?:=|\s+)[^\s'\"|<>%]+")
_LEFT_OUT = "left out"


def target_flags(text: str) -> list[str] | None:
    """llc's flags for the target that the first RUN line of a test names; None: it runs no llc."""
    found = _RUN.search(text)
    return None if found is None else ["=".join(flag.split(None, 1)) for flag in _TARGET.findall(found.group(1))]


def check(test: pathlib.Path) -> int | str:
    """How many decisions the default takes in an input, _LEFT_OUT, or what was wrong."""
    text = test.read_text(encoding="utf-8", errors="replace")
    flags = target_flags(text)
    if flags is None:
        return _LEFT_OUT
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "input.ll"
        source.write_text(text, encoding="utf-8")
        try:
            wanted = compiled(LLC.development, source, flags, LLC)
        except (AssertionError, subprocess.TimeoutExpired):
            return _LEFT_OUT
        try:
            return check_agreement(source, flags, [None], LLC, wanted)
        except TrainingLogError:
            # No function has registers to allocate: WebAssembly, NVPTX.
            return _LEFT_OUT
        except (AssertionError, subprocess.TimeoutExpired) as error:
            return f"{' '.join(flags)}: {error}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, default=2000, help="how many inputs (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of their choice (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="compiles at once (default: %(default)s)")
    parser.add_argument("--tests", type=rlocation, required=True, help=argparse.SUPPRESS)
    flags = parser.parse_args()
    folder = flags.tests.resolve().parent / "llvm/test/CodeGen"
    tests = sorted(folder.rglob("*.ll"))
    chosen = sorted(random.Random(flags.seed).sample(tests, min(flags.sample, len(tests))))
    decided, left_out, asked, failed = 0, 0, 0, 0
    with concurrent.futures.ThreadPoolExecutor(flags.jobs) as threads:
        for number, (test, found) in enumerate(zip(chosen, threads.map(check, chosen)), 1):
            if isinstance(found, int):
                decided += found
                asked += found > 0
            elif found == _LEFT_OUT:
                left_out += 1
            else:
                failed += 1
                print(f"{test.relative_to(folder)}: {found}", file=sys.stderr)
            if number % 100 == 0:
                print(f"{number} of {len(chosen)} inputs, {failed} failed", file=sys.stderr)
    targets = len({test.relative_to(folder).parts[0] for test in chosen})
    print(
        f"done {len(chosen)} of {len(tests)} inputs in {targets} folders: {asked} with {decided} decisions, "
        f"{left_out} left out, {failed} failed"
    )
    return 1 if failed or not asked else 0


if __name__ == "__main__":
    sys.exit(main())
