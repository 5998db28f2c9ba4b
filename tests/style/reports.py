"""Reports on our C++, one a source: what a tool said about it, and its exit code in the last line."""

import os

from mlgo.run import locate
from tests.clones import clone
from tests.style import own_cxx

#: Below them every source has a report.
_FOLDERS = ("llvm/", "release/", "development/")
#: Compiled in other programs: pieces of generated policies.
_OTHERS = ("release/backends/",)
#: The last line of a report without errors.
GOOD = "exit code 0\n"


def read() -> dict[str, str]:
    """Path of a source in the workspace -> its report. A source in several targets: one with errors if there is any."""
    found: dict[str, str] = {}
    for file in (locate.rlocation(name) for name in os.environ["REPORTS"].split()):
        source = file.name.removesuffix(".txt").replace("+", "/")
        if found.get(source, GOOD) == GOOD:
            found[source] = file.read_text(encoding="utf-8")
    return found


def wanted() -> set[str]:
    """Paths of the sources that have a report."""
    root = clone.root()
    own = {path.relative_to(root).as_posix() for path in own_cxx.files(root) if path.suffix == ".cpp"}
    return {
        path
        for path in own
        if path.startswith(_FOLDERS) and not path.startswith(_OTHERS) and not path.endswith("_test.cpp")
    }
