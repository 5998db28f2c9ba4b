"""Writes what we propose to LLVM as files for `git am`: each fix with a test and a message in LLVM's manner.

    commits --order=order.json --output=DIR FILE...

FILEs are the patches, the messages and the tests that order.json names. Equal files give equal bytes.
"""

import argparse
import json
import pathlib
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from patches.llvm.series import UnusablePatch, file_name, mail, split, write

#: Where messages and tests stand.
FOLDER = "patches/llvm/proposed/"


def new_file(name: str, content: str) -> str:
    """The change that adds the file `name`."""
    lines = content.splitlines(keepends=True)
    added = "".join(f"+{line}" for line in lines)
    header = f"diff --git a/{name} b/{name}\nnew file mode 100644\n--- /dev/null\n+++ b/{name}\n"
    return f"{header}@@ -0,0 +1,{len(lines)} @@\n{added}"


def commits(order: Sequence[Mapping[str, Any]], files: Mapping[str, str]) -> dict[str, str]:
    """File name -> content, one per commit.

    Args:
        order: `commits` of order.json: `patch`, a name, and `tests`, paths in LLVM's sources.
        files: path in this repository -> content.
    Raises: UnusablePatch: a file is missing, or a patch has no change.
    """
    found = {}
    for number, commit in enumerate(order, start=1):
        patch = commit["patch"] + ".patch"
        changes = [split(patch, _text(files, patch))[1]]
        changes += [new_file(test, _text(files, FOLDER + test)) for test in commit["tests"]]
        subject, _, body = _text(files, f"{FOLDER}messages/{commit['patch']}.txt").strip().partition("\n\n")
        found[file_name(number, patch)] = mail(subject, body, "".join(changes), number, len(order))
    return found


def _text(files: Mapping[str, str], name: str) -> str:
    for path, content in files.items():
        if path.endswith(name):
            return content
    raise UnusablePatch(f"order.json names {name}, which is not there; add the file, or correct order.json")


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--order", type=pathlib.Path, required=True, help="order.json")
    parser.add_argument("--output", type=pathlib.Path, required=True, help="folder to write")
    parser.add_argument("files", type=pathlib.Path, nargs="+", help="patches, messages and tests")
    flags = parser.parse_args(arguments)
    order = json.loads(flags.order.read_text(encoding="utf-8"))["commits"]
    write(flags.output, commits(order, {str(path): path.read_text(encoding="utf-8") for path in flags.files}))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
