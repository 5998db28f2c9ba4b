"""`bazel build //...` when nothing has changed: what every look at a finished build costs."""

import statistics
import time

from tests.benchmarks import row
from tests.benchmarks.workspace import bazel, root

#: Issue 2, "Speed".
MOST_SECONDS = 2.0
REPETITIONS = 5


def measure() -> list[row.Row]:
    workspace = root()
    bazel(workspace, "build", "//...")
    seconds = []
    for _ in range(REPETITIONS):
        start = time.monotonic()
        bazel(workspace, "build", "//...")
        seconds.append(time.monotonic() - start)
    return [row.at_most(f"build_nothing: median of {REPETITIONS}", statistics.median(seconds), "s", MOST_SECONDS)]
