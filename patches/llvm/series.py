"""Writes our patches of one major of LLVM as files for `git am`.

    series --versions=third_party/llvm/versions.json --major=22 --output=DIR PATCH...

DIR gets 0001-<name>.patch and so on, in the order of versions.json. The commit's message is the reason that the patch
opens with. Left out are patches that include headers of this repository: LLVM does not compile with them alone. Equal
patches give equal bytes.
"""

import argparse
import json
import pathlib
import re
import sys
from collections.abc import Sequence

#: Headers of llvm/ that patches include.
HEADERS_OF_OURS = ("CalleeSavedCost.h", "Embeddings.h", "InliningDecisions.h", "InliningFeatures.h")

_MAIL = """\
From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001
From: mlgo <mlgo@example.com>
Date: Thu, 1 Jan 2026 00:00:00 +0000
Subject: [PATCH {number}/{count}] {subject}

{body}
---
{diff}"""
_FILE = re.compile(r"^(?:diff --git .*\n)?(?=--- a/(\S+)\n)", re.MULTILINE)


class UnusablePatch(Exception):
    """A patch has no reason or no change, or versions.json names another set of patches."""


def needs_ours(patch: str) -> bool:
    """Whether the patch includes a header of this repository."""
    return any(f'\n+#include "{header}"' in patch for header in HEADERS_OF_OURS)


def mail(subject: str, body: str, diff: str, number: int, count: int) -> str:
    """One commit as `git am` reads it."""
    return _MAIL.format(number=number, count=count, subject=subject, body=body, diff=diff)


def split(name: str, patch: str) -> tuple[str, str]:
    """The reason that the patch opens with, and its change with git's lines. Raises: UnusablePatch: it lacks one."""
    start = _FILE.search(patch)
    reason = patch[: start.start()].strip() if start else ""
    if start is None or not reason:
        raise UnusablePatch(f"{name}: does not open with its purpose and go on with a change; see patches/README.md")
    return reason, _FILE.sub(r"diff --git a/\1 b/\1\n", patch[start.start() :])


def series(order: Sequence[str], patches: dict[str, str]) -> dict[str, str]:
    """File name -> content. Args: order: names of the patches; patches: name -> text.

    Raises: UnusablePatch: a name is missing, or see `mail`.
    """
    if missing := [name for name in order if name not in patches]:
        names = ", ".join(missing)
        raise UnusablePatch(f"versions.json names {names}, which patches/llvm does not have; correct one of them")
    chosen = [name for name in order if not needs_ours(patches[name])]
    commits = {}
    for number, name in enumerate(chosen, start=1):
        subject = "[MLGO] " + name.removesuffix(".patch").replace("_", " ")
        commits[file_name(number, name)] = mail(subject, *split(name, patches[name]), number, len(chosen))
    return commits


def file_name(number: int, name: str) -> str:
    """`0001-a-reason.patch` of the patch `a_reason.patch`."""
    return f"{number:04}-{name.replace('_', '-')}"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--versions", type=pathlib.Path, required=True, help="versions.json of third_party/llvm")
    parser.add_argument("--major", required=True, help="major of LLVM")
    parser.add_argument("--output", type=pathlib.Path, required=True, help="folder to write")
    parser.add_argument("patches", type=pathlib.Path, nargs="+", help="all patches of this major")
    flags = parser.parse_args(arguments)
    version = json.loads(flags.versions.read_text(encoding="utf-8"))["versions"][flags.major]
    order = [label.rpartition(":")[2] for label in version["patches"]["llvm_source"]]
    write(flags.output, series(order, {path.name: path.read_text(encoding="utf-8") for path in flags.patches}))
    return 0


def write(folder: pathlib.Path, commits: dict[str, str]) -> None:
    """Writes file name -> content into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in commits.items():
        (folder / name).write_text(content, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
