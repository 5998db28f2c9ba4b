"""Undoes our patches in one of LLVM's sources, to compile it as its owners do.

    pristine --file=llvm/lib/CodeGen/MLRegAllocEvictAdvisor.cpp --source=PATCHED --output=OUT \\
        --versions=versions.json --major=22 PATCH...

The order of the patches is that of versions.json; those that do not change the file are left out.
"""

import argparse
import json
import pathlib
import re
import sys
from collections.abc import Iterator, Sequence

_HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@")


class NotReversible(Exception):
    """A hunk of ours is not in the source exactly once; names the patch and the file."""


def hunks(patch: str, file: str) -> Iterator[tuple[str, str]]:
    """(old text, new text) of each hunk for `file` in a unified diff in -p1 form without blank lines at the end."""
    inside = False
    old: list[str] = []
    new: list[str] = []
    for line in [*patch.splitlines(keepends=True), "--- end\n"]:
        starts = _HUNK.match(line) is not None
        if starts or line.startswith(("--- ", "diff --git ")):
            if old or new:
                yield "".join(old), "".join(new)
            old, new = [], []
            inside = inside and starts
        elif line.startswith("+++ "):
            inside = line.split()[1] == f"b/{file}"
        elif inside:
            if line[0] in " -":
                old.append(line[1:])
            if line[0] in " +":
                new.append(line[1:])


def without(patches: Sequence[tuple[str, str]], file: str, source: str) -> str:
    """`source` as it was before `patches`, (name, text) in the order in which they were applied.

    Raises: NotReversible: `source` does not have these patches.
    """
    for name, patch in reversed(patches):
        for old, new in reversed(list(hunks(patch, file))):
            if source.count(new) != 1:
                raise NotReversible(f"{name}: its change to {file} is there {source.count(new)} times; it must be once")
            source = source.replace(new, old)
    return source


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--file", required=True, help="path of the source in LLVM's tree")
    parser.add_argument("--source", type=pathlib.Path, required=True, help="the source with our patches")
    parser.add_argument("--output", type=pathlib.Path, required=True, help="the source without them, written")
    parser.add_argument("--versions", type=pathlib.Path, required=True, help="versions.json of third_party/llvm")
    parser.add_argument("--major", required=True, help="major of LLVM")
    parser.add_argument("patches", type=pathlib.Path, nargs="+", help="all patches of this major")
    flags = parser.parse_args(arguments)
    given = {path.name: path.read_text(encoding="utf-8") for path in flags.patches}
    version = json.loads(flags.versions.read_text(encoding="utf-8"))["versions"][flags.major]
    order = [label.rpartition(":")[2] for label in version["patches"]["llvm_source"]]
    source = flags.source.read_text(encoding="utf-8")
    flags.output.write_text(without([(name, given[name]) for name in order], flags.file, source), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
