"""Ray's own command line with the Ray, Python and numpy of this checkout: starts and stops the nodes of a cluster.

./bazelw run //mlgo/cluster:ray -- start --head --port=6379 --num-cpus=8
./bazelw run //mlgo/cluster:ray -- start --address=HEAD:6379
./bazelw run //mlgo/cluster:ray -- status
./bazelw run //mlgo/cluster:ray -- stop
"""

import os
import sys


def main() -> int:
    # Ray would tell its makers about every cluster.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    # Ray runs its workers with nice 15. Compiles have normal priority, as the driver's have: on a busy machine they
    # would otherwise seem to hang.
    os.environ.setdefault("RAY_worker_niceness", "0")
    from ray.scripts import scripts  # pylint: disable=import-outside-toplevel

    sys.argv[0] = "ray"
    return scripts.main() or 0


if __name__ == "__main__":
    raise SystemExit(main())
