"""Random C on all targets of `pressure.py`, checked by `eviction_agreement.py`, for a time: --minutes=10, --seed=0.

Prints each failure with its target and the seed that repeats it, and a line at the end. Exit code 1 after a failure.
"""

import argparse
import pathlib
import random
import sys
import tempfile
import time

from mlgo.evaluation.sides import CalleeSavedCost
from tests.compilers import pressure
from tests.compilers.eviction_agreement import check_agreement

_CAPS = (None, 0, 1, 2, 3, 10)
_COSTS = ((), CalleeSavedCost(32768, everywhere=True).flags())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10, help="how long it searches (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="the first seed (default: %(default)s)")
    flags = parser.parse_args()
    end = time.monotonic() + 60 * flags.minutes
    seed, failed = flags.seed, 0
    targets = (*pressure.SMALL, *pressure.LARGE)
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "pressure.c"
        while time.monotonic() < end:
            chance = random.Random(seed)
            target = chance.choice(targets)
            source.write_text(pressure.random_source(target, seed), encoding="utf-8")
            try:
                cap = chance.choice(_CAPS)
                check_agreement(source, [*target.flags, *chance.choice(_COSTS)], [cap])
            except AssertionError as error:
                failed += 1
                print(f"{target.name}, --seed={seed}: {error}", file=sys.stderr)
            seed += 1
    print(f"done {seed - flags.seed} sources, {failed} failed", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
