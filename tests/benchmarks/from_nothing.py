"""Both compilers from nothing but downloads: a fresh clone, no cache of results, every repository unpacked, every unit
compiled.

The archives are downloaded before the clock starts (what they take is the network's speed and not ours): Debian's lie
in the archive cache that all clones share, Python's in pip's. On more than two processors the build keeps to two, which
is what the target is for.
"""

import pathlib
import shutil
import subprocess
import tempfile
import time

from tests.benchmarks import row
from tests.benchmarks.fresh_clone import clone, remove
from tests.benchmarks.workspace import bazel, root

#: Issue 3, "Numbers".
MOST_MINUTES = 12.0
TARGETS = ("//development:clang", "//release:clang")
JOBS = 2


def measure() -> list[row.Row]:
    workspace = root()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="from_nothing."))
    base, here = f"--output_base={folder / 'base'}", folder / "clone"
    try:
        clone(workspace, here)
        # Into the caches of downloads; what was unpacked from them goes again.
        bazel(here, base, "fetch", *TARGETS)
        remove(here, base)
        start = time.monotonic()
        clone(workspace, here)
        bazel(here, base, "build", "--disk_cache=", "--remote_cache=", f"--jobs={JOBS}", *TARGETS)
        minutes = (time.monotonic() - start) / 60
        remove(here, base)
    finally:
        subprocess.run(["chmod", "-R", "u+w", folder], check=False)
        shutil.rmtree(folder)
    return [row.at_most(f"from_nothing: {' and '.join(TARGETS)}", minutes, "min", MOST_MINUTES)]
