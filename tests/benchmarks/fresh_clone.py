"""A fresh clone with a warm disk cache: from `git clone` to //development:clang, downloads already on this machine.

The clone gets an output base of its own, so every repository is unpacked again and every action looked up in the cache.
"""

import pathlib
import shutil
import subprocess
import tempfile
import time

from tests.benchmarks import row
from tests.benchmarks.workspace import bazel, root

#: Issue 2, "Speed".
MOST_SECONDS = 60.0
TARGET = "//development:clang"


def measure() -> list[row.Row]:
    workspace = root()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="fresh_clone."))
    base, here = f"--output_base={folder / 'base'}", folder / "clone"
    cache = f"--disk_cache={folder / 'cache'}"
    try:
        # Another output base would not do: the cache must be filled with what this commit's clone asks for.
        clone(workspace, here)
        bazel(here, base, "build", cache, TARGET)
        remove(here, base)
        start = time.monotonic()
        clone(workspace, here)
        bazel(here, base, "build", cache, TARGET)
        seconds = time.monotonic() - start
        remove(here, base)
    finally:
        subprocess.run(["chmod", "-R", "u+w", folder], check=False)
        shutil.rmtree(folder)
    return [row.at_most(f"fresh_clone: {TARGET} from a warm cache", seconds, "s", MOST_SECONDS)]


def clone(workspace: pathlib.Path, target: pathlib.Path) -> None:
    subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", workspace, target], check=True)


def remove(clone: pathlib.Path, base: str) -> None:
    """Ends the clone's server and removes clone and output base."""
    bazel(clone, base, "clean", "--expunge")
    shutil.rmtree(clone)
